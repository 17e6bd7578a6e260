#include "journal/scratch.h"

#include "base/check.h"

namespace revenant::journal {

// A handle combines the number of a file and an offset in it.
namespace {

constexpr unsigned offset_bits = 40;

std::uint32_t file_of(std::uint64_t at) { return static_cast<std::uint32_t>(at >> offset_bits); }
std::uint64_t offset_of(std::uint64_t at) { return at & ((std::uint64_t{1} << offset_bits) - 1); }

}  // namespace

Result<std::unique_ptr<Scratch>, IoError> Scratch::open(Disk& disk, std::string directory,
                                                        std::uint64_t file_bytes) {
    REVENANT_TRY_VOID(disk.remove_directory(directory, ""));
    REVENANT_TRY_VOID(disk.make_directory(directory));
    return std::unique_ptr<Scratch>(new Scratch(disk, std::move(directory), file_bytes));
}

std::string Scratch::path_of(std::uint32_t number) const {
    return directory_ + "/" + std::to_string(number) + ".pages";
}

Result<std::uint64_t, IoError> Scratch::keep(std::string_view bytes) {
    auto at = files_.find(current_);
    if (at == files_.end() || at->second.used >= file_bytes_) {
        REVENANT_TRY(writing_, disk_.create(path_of(current_ + 1)));
        current_ += 1;
        at = files_.emplace(current_, PageFile{disk_.open_when_read(path_of(current_))}).first;
    }
    PageFile& target = at->second;
    REVENANT_TRY_VOID(writing_->write(target.used, bytes));
    const std::uint64_t place = (std::uint64_t{current_} << offset_bits) | target.used;
    target.used += bytes.size();
    target.pages += 1;
    return place;
}

Result<std::string, IoError> Scratch::fetch(std::uint64_t at, std::uint32_t size) const {
    const auto found = files_.find(file_of(at));
    CHECK(found != files_.end());
    std::string bytes(size, '\0');
    REVENANT_TRY(const std::size_t got, found->second.file->read(offset_of(at), bytes));
    if (got != size) {
        return Unexpected{IoError{"file " + path_of(file_of(at)) + " is shorter than expected"}};
    }
    return bytes;
}

void Scratch::expect(std::uint64_t at, std::uint32_t size) const {
    const auto found = files_.find(file_of(at));
    if (found != files_.end()) found->second.file->will_need(offset_of(at), size);
}

void Scratch::drop(std::uint64_t at) {
    const auto found = files_.find(file_of(at));
    CHECK(found != files_.end() && found->second.pages > 0);
    PageFile& holder = found->second;
    holder.pages -= 1;
    if (holder.pages > 0) return;
    if (found->first == current_) {
        holder.used = 0;  // reuse from the beginning
        return;
    }
    // If it cannot be removed, the next startup removes it.
    static_cast<void>(disk_.remove(path_of(found->first)).has_value());
    files_.erase(found);
}

}  // namespace revenant::journal
