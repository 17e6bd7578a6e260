// Journal files: arbitrary bytes as a segment or a snapshot are opened or refused. Recovered
// records are recovered again, together with those appended after them.
//
// The first byte selects the interpretation of the rest: unchanged, or with the checksums of
// batches and snapshot corrected where their headers are plausible.
#include "base/byte_reader.h"
#include "base/check.h"
#include "journal/batch_format.h"
#include "journal/journal.h"
#include "journal/snapshot_file.h"
#include "tests/sim/sim_disk.h"
#include "tests/sim/sim_worker.h"

#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace revenant;
using namespace revenant::journal;

namespace {

const std::string directory = "/journal";

void put_u64(std::string& bytes, std::size_t at, std::uint64_t value) {
    for (std::size_t i = 0; i < 8; ++i) bytes[at + i] = static_cast<char>(value >> (56 - 8 * i));
}

// Corrects batch after batch as long as the magic number is in its place.
std::string repaired_segment(std::string bytes, std::uint64_t start) {
    std::size_t at = 0;
    while (bytes.size() - at >= batch_header_bytes) {
        ByteReader in(std::string_view(bytes).substr(at + 8));
        if (in.u32() != batch_magic) break;
        const std::size_t size = in.u32();
        if (size < batch_header_bytes || size % batch_alignment != 0 || size > bytes.size() - at) {
            break;
        }
        put_u64(bytes, at + 16, start + at);
        put_u64(bytes, at, XXH3_64bits_withSeed(bytes.data() + at + 8, size - 8, start + at));
        at += size;
    }
    return bytes;
}

std::string repaired_snapshot(std::string bytes, std::uint64_t at) {
    if (bytes.size() < 32) return bytes;
    put_u64(bytes, 8, at);
    put_u64(bytes, 16, bytes.size() - 32);
    put_u64(
        bytes, 24,
        XXH3_64bits_withSeed(bytes.data() + 32, bytes.size() - 32, XXH3_64bits(bytes.data(), 24)));
    return bytes;
}

void write(sim::SimDisk& disk, const std::string& name, std::string_view bytes) {
    const auto file = disk.create(directory + "/" + name).value();
    CHECK(file->write(0, bytes).has_value());
    CHECK(file->sync().has_value());
}

struct Life {
    explicit Life(sim::SimDisk& disk) {
        JournalSettings settings;
        settings.segments.fill_bytes = 512;
        auto opened = Journal::open(disk, worker, directory, settings);
        if (!opened) {
            error = opened.error().text;
            CHECK(!error.empty());
            return;
        }
        journal = std::move(opened).value();
        snapshot = journal->snapshot();
        const auto replayed = journal->replay([&](const Journal::Record& record) {
            CHECK(!record.bytes.empty() && record.at >= record.batch);
            records.emplace_back(record.bytes);
            return Result<void, IoError>{};
        });
        if (!replayed) journal.reset();
    }
    void append(std::string_view bytes) {
        journal->begin_record() += bytes;
        journal->end_record();
        journal->flush(Journal::SyncMode::immediate);
        worker.run_all();
    }
    sim::SimWorker worker;
    std::string error;
    std::unique_ptr<Journal> journal;
    std::string snapshot;
    std::vector<std::string> records;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const std::uint8_t how = data[0];
    const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    sim::SimDisk disk(1);
    CHECK(disk.make_directory(directory).has_value());
    const std::uint64_t start = (how & 2) != 0 ? 4096 : 0;
    if ((how & 4) != 0) {
        write(disk, snapshot_name({start}),
              (how & 1) != 0 ? repaired_snapshot(bytes, start) : bytes);
    } else {
        if (start != 0) {
            CHECK(write_snapshot_file(disk, directory, {start}, 1, "a snapshot").has_value());
        }
        write(disk, segment_name({start}), (how & 1) != 0 ? repaired_segment(bytes, start) : bytes);
    }

    Life first(disk);
    if (!first.journal) return 0;
    first.append("one more");
    first.records.emplace_back("one more");
    Life second(disk);
    // The start counter is at its maximum.
    if (second.error.find("start counter out of range") != std::string::npos) return 0;
    CHECK(second.journal != nullptr);
    CHECK(second.snapshot == first.snapshot);
    CHECK(second.records == first.records);
    return 0;
}
