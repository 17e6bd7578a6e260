#include "journal/compacted_file.h"

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "journal/position_name.h"

#include <xxhash.h>

#include <algorithm>
#include <utility>

namespace revenant::journal {
namespace {

constexpr std::uint32_t compacted_magic = 0x52564331;  // "RVC1"
constexpr std::size_t header_bytes = 40;
constexpr std::size_t index_entry_bytes = 16;
constexpr std::string_view suffix = ".compacted";
// An extent is copied in pieces of this size.
constexpr std::uint64_t piece_bytes = 1024 * 1024;

Unexpected<IoError> damaged(const std::string& path, std::string_view how) {
    return Unexpected{IoError{"journal damaged: file " + path + ": " + std::string(how) +
                              "; see docs/formats/journal.md for recovery"}};
}

std::string encode_index(const std::vector<Extent>& extents) {
    std::string index;
    ByteWriter out(index);
    for (const Extent& extent : extents) {
        out.u64(extent.at.value);
        out.u64(extent.size);
    }
    return index;
}

constexpr std::size_t checksum_bytes = 8;

// Covers the header before the checksum, and the index.
std::uint64_t checksum_of(std::string_view header, std::string_view index) {
    const std::string_view before = header.substr(0, header_bytes - checksum_bytes);
    const std::uint64_t seed = XXH3_64bits(before.data(), before.size());
    return XXH3_64bits_withSeed(index.data(), index.size(), seed);
}

std::string encode_header(Lsn start, Lsn end, std::uint64_t count, std::string_view index) {
    std::string header;
    ByteWriter out(header);
    out.u32(compacted_magic);
    out.u32(0);
    out.u64(start.value);
    out.u64(end.value);
    out.u64(count);
    out.u64(checksum_of(header, index));
    return header;
}

Result<std::uint64_t, IoError> copy_extent(File& file, std::uint64_t offset, const Extent& extent,
                                           const ReadExtent& read) {
    std::string bytes;
    for (std::uint64_t done = 0; done < extent.size; done += bytes.size()) {
        bytes.resize(std::min(piece_bytes, extent.size - done));
        REVENANT_TRY_VOID(read({{extent.at.value + done}, bytes.size()}, bytes));
        REVENANT_TRY_VOID(file.write(offset + done, bytes));
    }
    return offset + extent.size;
}

}  // namespace

std::vector<Extent> joined(std::vector<Extent> extents) {
    std::sort(extents.begin(), extents.end(),
              [](const Extent& a, const Extent& b) { return a.at < b.at; });
    std::vector<Extent> result;
    for (const Extent& extent : extents) {
        if (!result.empty() && extent.at <= result.back().end()) {
            const Lsn end = std::max(result.back().end(), extent.end());
            result.back().size = end.value - result.back().at.value;
        } else {
            result.push_back(extent);
        }
    }
    return result;
}

ExtentIndex::ExtentIndex(std::vector<Extent> extents, std::uint64_t first_offset)
    : extents_(std::move(extents)) {
    offsets_.reserve(extents_.size());
    std::uint64_t offset = first_offset;
    for (const Extent& extent : extents_) {
        offsets_.push_back(offset);
        offset += extent.size;
    }
}

std::optional<ExtentIndex::FileRange> ExtentIndex::find(Lsn at) const {
    const auto after = std::upper_bound(extents_.begin(), extents_.end(), at,
                                        [](Lsn lsn, const Extent& one) { return lsn < one.at; });
    if (after == extents_.begin()) return std::nullopt;
    const auto holder = std::prev(after);
    if (at >= holder->end()) return std::nullopt;
    const auto number = static_cast<std::size_t>(holder - extents_.begin());
    return FileRange{offsets_[number] + (at.value - holder->at.value), holder->end()};
}

std::string compacted_name(Lsn start) { return position_name(start, suffix); }

std::optional<Lsn> parse_compacted_name(std::string_view name) {
    return parse_position_name(name, suffix);
}

namespace {

// Returns the offset of the first extent.
Result<std::uint64_t, IoError> write_stretches(Disk& disk, const std::string& path, Lsn start,
                                               Lsn end, const std::vector<Extent>& extents,
                                               const ReadExtent& read) {
    const std::string index = encode_index(extents);
    REVENANT_TRY(const auto file, disk.create(path));
    REVENANT_TRY_VOID(file->write(0, encode_header(start, end, extents.size(), index)));
    REVENANT_TRY_VOID(file->write(header_bytes, index));
    const std::uint64_t first_offset = header_bytes + index.size();
    std::uint64_t offset = first_offset;
    for (const Extent& extent : extents) {
        REVENANT_TRY(offset, copy_extent(*file, offset, extent, read));
    }
    REVENANT_TRY_VOID(file->sync());
    return first_offset;
}

}  // namespace

Result<CompactedFile, IoError> write_compacted_file(Disk& disk, const std::string& directory,
                                                    Lsn start, Lsn end, std::vector<Extent> extents,
                                                    const ReadExtent& read) {
    const std::string path = directory + "/" + compacted_name(start);
    const std::string aside = path + ".new";
    const auto first_offset = write_stretches(disk, aside, start, end, extents, read);
    if (!first_offset) {
        (void)disk.remove(aside).has_value();  // frees the space that may be missing
        return Unexpected{first_offset.error()};
    }
    REVENANT_TRY_VOID(disk.rename(aside, path));
    REVENANT_TRY_VOID(disk.sync_directory(directory));
    return CompactedFile{start, end, path, disk.open_when_read(path),
                         std::make_shared<const ExtentIndex>(std::move(extents), *first_offset)};
}

Result<CompactedFile, IoError> open_compacted_file(Disk& disk, const std::string& directory,
                                                   Lsn start) {
    const std::string path = directory + "/" + compacted_name(start);
    auto file = disk.open_when_read(path);
    REVENANT_TRY(const std::uint64_t file_bytes, file->size());
    std::string header(header_bytes, '\0');
    REVENANT_TRY(const std::size_t got, file->read(0, header));
    ByteReader in(header);
    const std::uint32_t magic = in.u32();
    in.u32();
    const Lsn said_start{in.u64()};
    const Lsn end{in.u64()};
    const std::uint64_t count = in.u64();
    const std::uint64_t checksum = in.u64();
    if (got != header_bytes || magic != compacted_magic || said_start != start || end < start ||
        count > (file_bytes - header_bytes) / index_entry_bytes) {
        return damaged(path, "invalid header");
    }
    std::string index(count * index_entry_bytes, '\0');
    REVENANT_TRY(const std::size_t index_got, file->read(header_bytes, index));
    if (index_got != index.size() || checksum_of(header, index) != checksum) {
        return damaged(path, "invalid header or index");
    }
    std::vector<Extent> extents;
    ByteReader entries(index);
    std::uint64_t needed = header_bytes + index.size();
    for (std::uint64_t i = 0; i < count; ++i) {
        Extent& extent = extents.emplace_back();
        extent.at = {entries.u64()};
        extent.size = entries.u64();
        needed += extent.size;
    }
    if (needed > file_bytes) return damaged(path, "file too short");
    auto shared =
        std::make_shared<const ExtentIndex>(std::move(extents), header_bytes + index.size());
    return CompactedFile{start, end, path, std::move(file), std::move(shared)};
}

}  // namespace revenant::journal
