// The format of a journal on one screen; grammar and an example in docs/formats/journal.md.
//
// A journal is one endless stream of bytes; an Lsn is a position in it. The stream is cut into
// segments, files named after the position they begin with, so that a position leads to its place
// by subtraction. A segment is a row of batches without gaps; a batch is what was handed to the
// disk at once, a header and records:
//
//   checksum u64   XXH3 of all that follows, with the batch's own position as the seed
//   magic    u32   "RVB1"
//   size     u32   of the whole batch, a multiple of 8
//   lsn      u64   its own position
//   synced   u64   everything before this position was synced when the batch was written
//   epoch    u32   counts the starts of the journal; never falls within a stream
//   secret   u32   drawn by the journal when it began; 0 where an earlier version wrote the batch
//   records  { size u32, bytes }, then zeros
//
// Numbers are big-endian. A batch is whole or it is not there: the last one may be torn by a crash
// and is cut off then. A batch that is broken though a later one says that it was synced is damage.
//
// The body of a message can hold whatever a client likes, a batch with a right checksum for its own
// position included. What tells it from a batch of the journal is the secret, which no client
// knows.
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
constexpr std::uint32_t batch_magic = 0x52564231;  // "RVB1", the digit is the version
constexpr unsigned batch_version_known = 1;
constexpr std::size_t record_header_bytes = 4;
constexpr std::size_t batch_bytes_max = std::size_t{1} << 31;

// Of a journal; 0 means that none is known.
using Secret = std::uint32_t;

struct BatchHeader {
    std::uint64_t checksum = 0;
    std::uint32_t size = 0;
    Lsn lsn;
    Lsn synced;
    std::uint32_t epoch = 0;
    Secret secret = 0;
};

// `batch` begins with room for the header and ends with its last record.
void finish_batch(std::string& batch, Lsn lsn, Lsn synced, std::uint32_t epoch, Secret secret);

// What stands at the beginning of these bytes, if it looks like the batch of this position. Says
// nothing about the checksum.
std::optional<BatchHeader> read_batch_header(std::string_view bytes, Lsn lsn);
// The version of the format it says it is in, if it looks like the batch of this position in any
// version: magic, position and secret keep their places forever.
struct BatchVersion {
    unsigned number = 0;
    Secret secret = 0;
};
std::optional<BatchVersion> batch_version(std::string_view bytes, Lsn lsn);
// `batch` is as long as its header says.
bool is_batch_intact(std::string_view batch, const BatchHeader& header);
// The same if its header said that it is as long as these bytes.
bool would_be_whole(std::string_view batch, const BatchHeader& header);

}  // namespace revenant::journal
