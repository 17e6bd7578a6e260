#include "journal/snapshot_file.h"

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "journal/position_name.h"

#include <xxhash.h>

namespace revenant::journal {
namespace {

constexpr std::uint32_t snapshot_magic = 0x52565331;  // "RVS1"
constexpr std::size_t snapshot_header_bytes = 32;
constexpr std::string_view snapshot_suffix = ".snapshot";

Unexpected<IoError> damaged_snapshot(const std::string& path, std::string_view how) {
    return Unexpected{IoError{"snapshot damaged: file " + path + ": " + std::string(how) +
                              "; see docs/formats/journal.md for recovery"}};
}

// The hash of the header before the checksum seeds the hash of the bytes.
std::uint64_t snapshot_checksum(std::string_view header, std::string_view bytes) {
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(),
                                XXH3_64bits(header.data(), header.size()));
}

Result<void, IoError> write_safely(Disk& disk, const std::string& path, std::string_view header,
                                   std::string_view bytes) {
    REVENANT_TRY(const auto file, disk.create(path));
    REVENANT_TRY_VOID(file->write(0, header));
    REVENANT_TRY_VOID(file->write(header.size(), bytes));
    return file->sync();
}

}  // namespace

std::string snapshot_name(Lsn at) { return position_name(at, snapshot_suffix); }

std::optional<Lsn> parse_snapshot_name(std::string_view name) {
    return parse_position_name(name, snapshot_suffix);
}

Result<void, IoError> write_snapshot_file(Disk& disk, const std::string& directory, Lsn at,
                                          std::uint32_t epoch, std::string_view bytes) {
    std::string header;
    ByteWriter out(header);
    out.u32(snapshot_magic);
    out.u32(epoch);
    out.u64(at.value);
    out.u64(bytes.size());
    out.u64(snapshot_checksum(header, bytes));
    const std::string path = directory + "/" + snapshot_name(at);
    const std::string aside = path + ".new";
    if (auto written = write_safely(disk, aside, header, bytes); !written) {
        (void)disk.remove(aside).has_value();  // frees the space that may be missing
        return written;
    }
    REVENANT_TRY_VOID(disk.rename(aside, path));
    return disk.sync_directory(directory);
}

Result<SnapshotFile, IoError> read_snapshot_file(Disk& disk, const std::string& directory, Lsn at) {
    const std::string path = directory + "/" + snapshot_name(at);
    REVENANT_TRY(const auto file, disk.open(path));
    REVENANT_TRY(const std::uint64_t file_bytes, file->size());
    if (file_bytes < snapshot_header_bytes) return damaged_snapshot(path, "file too short");
    std::string contents(file_bytes, '\0');
    REVENANT_TRY(const std::size_t got, file->read(0, contents));
    if (got != file_bytes) return damaged_snapshot(path, "file too short");
    ByteReader in(contents);
    const std::uint32_t magic = in.u32();
    if (const unsigned digit = magic & 0xff; magic != snapshot_magic &&
                                             magic >> 8 == snapshot_magic >> 8 && digit >= '0' &&
                                             digit <= '9') {
        return Unexpected{IoError{"file " + path + " has snapshot format version " +
                                  std::to_string(digit - '0') +
                                  ", this broker supports version 1; see docs/formats/journal.md"}};
    }
    if (magic != snapshot_magic) return damaged_snapshot(path, "not a snapshot");
    SnapshotFile snapshot;
    snapshot.epoch = in.u32();
    const std::uint64_t lsn = in.u64();
    const std::uint64_t size = in.u64();
    const std::uint64_t checksum = in.u64();
    if (lsn != at.value || size != in.remaining()) return damaged_snapshot(path, "invalid header");
    const std::string_view covered =
        std::string_view(contents).substr(0, snapshot_header_bytes - sizeof checksum);
    if (snapshot_checksum(covered, in.rest()) != checksum) {
        return damaged_snapshot(path, "checksum mismatch");
    }
    snapshot.bytes = in.rest();
    return snapshot;
}

}  // namespace revenant::journal
