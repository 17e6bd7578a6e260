// A snapshot file: written under a temporary name, synced and renamed, so a file with the final
// name is complete.
//
//   magic u32 "RVS1", epoch u32, lsn u64, size u64,
//   checksum u64 (XXH3 of the bytes, with the XXH3 of the header before it as the seed), bytes
#pragma once

#include "base/ids.h"
#include "base/result.h"
#include "journal/disk.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace revenant::journal {

struct SnapshotFile {
    std::string bytes;
    std::uint32_t epoch = 0;
};

std::string snapshot_name(Lsn at);
std::optional<Lsn> parse_snapshot_name(std::string_view name);

Result<void, IoError> write_snapshot_file(Disk& disk, const std::string& directory, Lsn at,
                                          std::uint32_t epoch, std::string_view bytes);
Result<SnapshotFile, IoError> read_snapshot_file(Disk& disk, const std::string& directory, Lsn at);

}  // namespace revenant::journal
