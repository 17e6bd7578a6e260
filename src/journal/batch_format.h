// The journal format. docs/formats/journal.md has the grammar and an example.
//
// A journal is one continuous stream of bytes; an Lsn is a position in it. The stream is divided
// into segments, which are files named after their first position, so the offset of a position in
// its file is a subtraction. A segment is a sequence of batches without gaps. A batch is one write,
// a header and records:
//
//   checksum u64   XXH3 of everything that follows, with the batch's position as the seed
//   magic    u32   "RVB1"
//   size     u32   of the whole batch, a multiple of 8
//   lsn      u64   position of the batch
//   synced   u64   everything before this position was synced when the batch was written
//   epoch    u32   number of starts of the journal; never decreases within a stream
//   secret   u32   random number of the journal; 0 if an earlier version wrote the batch
//   records  { size u32, bytes }, then zeros
//
// Numbers are big-endian. A batch is complete or does not exist: a crash may tear the last one,
// which is then cut off. A broken batch is damage if a later batch records that it was synced.
//
// A message body can contain arbitrary bytes, including a batch with a valid checksum for its
// position. The secret distinguishes it from a batch of the journal, because clients do not know
// it.
#pragma once

#include "base/ids.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace revenant::journal {

constexpr std::size_t batch_header_bytes = 40;
constexpr std::size_t batch_alignment = 8;
constexpr std::uint32_t batch_magic = 0x52564231;  // "RVB1"; the digit is the version
constexpr unsigned batch_version_known = 1;
constexpr std::size_t record_header_bytes = 4;
constexpr std::size_t batch_bytes_max = std::size_t{1} << 31;

// The secret of a journal; 0 if unknown.
using Secret = std::uint32_t;

struct BatchHeader {
    std::uint64_t checksum = 0;
    std::uint32_t size = 0;
    Lsn lsn;
    Lsn synced;
    std::uint32_t epoch = 0;
    Secret secret = 0;
};

// `batch` begins with space for the header and ends with its last record.
void finish_batch(std::string& batch, Lsn lsn, Lsn synced, std::uint32_t epoch, Secret secret);

// Reads the header if these bytes look like the batch at this position. Does not check the
// checksum.
std::optional<BatchHeader> read_batch_header(std::string_view bytes, Lsn lsn);
// The format version in a header of any version. Magic, position and secret never move.
struct BatchVersion {
    unsigned number = 0;
    Secret secret = 0;
};
std::optional<BatchVersion> batch_version(std::string_view bytes, Lsn lsn);
// `batch` has the size in its header.
bool is_batch_intact(std::string_view batch, const BatchHeader& header);
// Whether the batch would be intact if its header had the size of these bytes.
bool would_be_whole(std::string_view batch, const BatchHeader& header);

}  // namespace revenant::journal
