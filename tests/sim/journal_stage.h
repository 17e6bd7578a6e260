// JournalStage: a journal on the simulated disk, with the calls to its listener.
#pragma once

#include "journal/journal.h"
#include "tests/sim/sim_disk.h"
#include "tests/sim/sim_worker.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace revenant::sim {

// A segment of the stage has room for one such record.
inline std::string long_record(char letter) { return std::string(600, letter); }

class JournalStage {
  public:
    using SyncMode = journal::Journal::SyncMode;

    explicit JournalStage(std::uint64_t seed = 1) : disk(seed) {
        settings.segments = {
            .segment_bytes = 1024, .fill_bytes = 512, .small_batch_bytes = 256, .spares_max = 2};
    }

    // Returns the records after the snapshot, or an error instead if the journal does not open.
    std::vector<std::string> open() {
        journal.reset();
        auto opened = journal::Journal::open(disk, worker, directory, settings);
        if (!opened) return {opened.error().text};
        journal = std::move(opened).value();
        snapshot = journal->snapshot();
        std::vector<std::string> records;
        const auto replayed = journal->replay([&](const journal::Journal::Record& record) {
            records.emplace_back(record.bytes);
            return Result<void, IoError>{};
        });
        if (!replayed) return {replayed.error().text};
        journal->listen({[this](Lsn at) { durable.push_back(at); },
                         [this](const std::string& text) { failed.push_back(text); },
                         [this](bool is_full) { full.push_back(is_full); }});
        return records;
    }
    std::vector<std::string> open_after(SimDisk::Loss loss) {
        journal.reset();
        worker.forget_all();
        disk.restart(loss);
        return open();
    }

    // Returns the position of the bytes.
    Lsn append(std::string_view bytes) {
        std::string& out = journal->begin_record();
        const Lsn at = journal->position();
        out += bytes;
        end = journal->end_record();
        return at;
    }
    Lsn append_safely(std::string_view bytes) {
        const Lsn at = append(bytes);
        flush_and_wait(SyncMode::immediate);
        return at;
    }
    void flush_and_wait(SyncMode mode) {
        journal->flush(mode);
        worker.run_all();
    }
    void snapshot_and_wait(std::string bytes, std::set<Lsn> in_use = {}) {
        journal->write_snapshot(std::move(bytes), std::move(in_use));
        worker.run_all();
    }

    std::string read(Lsn at, std::size_t size) const {
        std::string bytes(size, '\0');
        const auto outcome = journal->read(at, bytes);
        return outcome ? bytes : outcome.error().text;
    }
    std::vector<std::string> files(std::string_view ending) {
        std::vector<std::string> found = disk.list(directory).value();
        std::erase_if(found, [&](const std::string& name) { return !name.ends_with(ending); });
        return found;
    }
    std::string path(const std::string& name) const { return directory + "/" + name; }

    const std::string directory = "/data/journal";
    SimDisk disk;
    SimWorker worker;
    journal::JournalSettings settings;
    std::unique_ptr<journal::Journal> journal;
    std::string snapshot;
    Lsn end;  // of the last record
    std::vector<Lsn> durable;
    std::vector<std::string> failed;
    std::vector<bool> full;
};

}  // namespace revenant::sim
