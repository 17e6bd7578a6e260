#include "journal/batch_format.h"

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/check.h"

#include <xxhash.h>

#include <cstring>

namespace revenant::journal {
namespace {

constexpr std::size_t batch_size_offset = 12;

std::uint64_t checksum_of(std::string_view batch, Lsn lsn) {
    const std::string_view covered = batch.substr(sizeof(std::uint64_t));
    return XXH3_64bits_withSeed(covered.data(), covered.size(), lsn.value);
}

}  // namespace

void finish_batch(std::string& batch, Lsn lsn, Lsn synced, std::uint32_t epoch, Secret secret) {
    CHECK(batch.size() >= batch_header_bytes && batch.size() < batch_bytes_max);
    batch.resize((batch.size() + batch_alignment - 1) / batch_alignment * batch_alignment, '\0');
    std::string header;
    ByteWriter out(header);
    out.u64(0);
    out.u32(batch_magic);
    out.u32(static_cast<std::uint32_t>(batch.size()));
    out.u64(lsn.value);
    out.u64(synced.value);
    out.u32(epoch);
    out.u32(secret);
    CHECK(header.size() == batch_header_bytes);
    std::memcpy(batch.data(), header.data(), header.size());
    const std::uint64_t checksum = __builtin_bswap64(checksum_of(batch, lsn));
    std::memcpy(batch.data(), &checksum, sizeof checksum);
}

std::optional<BatchHeader> read_batch_header(std::string_view bytes, Lsn lsn) {
    ByteReader in(bytes);
    BatchHeader header;
    header.checksum = in.u64();
    const std::uint32_t magic = in.u32();
    header.size = in.u32();
    header.lsn = {in.u64()};
    header.synced = {in.u64()};
    header.epoch = in.u32();
    header.secret = in.u32();
    if (in.failed() || magic != batch_magic || header.lsn != lsn) return std::nullopt;
    if (header.size < batch_header_bytes || header.size % batch_alignment != 0 ||
        header.size >= batch_bytes_max) {
        return std::nullopt;
    }
    return header;
}

std::optional<BatchVersion> batch_version(std::string_view bytes, Lsn lsn) {
    ByteReader in(bytes);
    in.u64();
    const std::uint32_t magic = in.u32();
    in.u32();
    const Lsn at{in.u64()};
    in.u64();
    in.u32();
    const Secret secret = in.u32();
    const std::uint32_t digit = magic & 0xff;
    const bool is_batch = magic >> 8 == batch_magic >> 8 && digit >= '0' && digit <= '9';
    if (in.failed() || at != lsn || !is_batch) return std::nullopt;
    return BatchVersion{digit - '0', secret};
}

bool would_be_whole(std::string_view batch, const BatchHeader& header) {
    std::string repaired(batch);
    ByteWriter(repaired).patch_u32(batch_size_offset, static_cast<std::uint32_t>(batch.size()));
    return checksum_of(repaired, header.lsn) == header.checksum;
}

bool is_batch_intact(std::string_view batch, const BatchHeader& header) {
    return batch.size() == header.size && checksum_of(batch, header.lsn) == header.checksum;
}

}  // namespace revenant::journal
