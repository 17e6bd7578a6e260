#include "protocol/output.h"

#include "base/check.h"

#include <algorithm>

namespace revenant::protocol {
namespace {

// A buffer that grew beyond this size in a burst is freed after the burst. The rest is freed when
// the connection is idle.
constexpr std::size_t kept_buffer_bytes = 256 * 1024;
constexpr std::size_t idle_buffer_bytes = 256;
constexpr std::size_t kept_parts = 256;

}  // namespace

std::size_t Output::gather(std::span<std::string_view> parts) const {
    std::size_t filled = 0;
    std::size_t skip = sent_;
    const auto add = [&](std::string_view part) {
        if (filled == parts.size()) return;
        const std::size_t skipped = std::min(skip, part.size());
        skip -= skipped;
        part.remove_prefix(skipped);
        if (!part.empty()) parts[filled++] = part;
    };
    std::size_t at = 0;
    for (const Shared& shared : shared_) {
        if (filled == parts.size()) return filled;
        add(std::string_view(buffer_).substr(at, shared.at - at));
        add(shared.part);
        at = shared.at;
    }
    add(std::string_view(buffer_).substr(at));
    return filled;
}

void Output::consume(std::size_t count) {
    CHECK(count <= unsent_bytes());
    sent_ += count;
    if (unsent_bytes() == 0) {
        buffer_.clear();
        shared_.clear();
        shared_bytes_ = 0;
        sent_ = 0;
        return;
    }
    // Releases bodies that are completely sent, so that a slow reader does not keep them in memory.
    std::size_t passed = 0;      // logical bytes before the current shared part
    std::size_t buffer_cut = 0;  // bytes of the buffer before the first kept part
    std::size_t done = 0;
    std::size_t done_bytes = 0;
    for (const Shared& shared : shared_) {
        const std::size_t end = shared.at + passed + shared.part.size();
        if (end > sent_) break;
        passed += shared.part.size();
        buffer_cut = shared.at;
        done_bytes += shared.part.size();
        ++done;
    }
    // Also removes the sent part of the buffer if it is large enough to justify moving the rest.
    if (done == shared_.size()) buffer_cut = sent_ - done_bytes;
    const bool much = buffer_cut > 0 && buffer_cut >= buffer_.size() / 2;
    const bool many = done > 0 && done >= shared_.size() / 2;
    if (!much && !many) return;
    shared_.erase(shared_.begin(), shared_.begin() + static_cast<std::ptrdiff_t>(done));
    for (Shared& shared : shared_) shared.at -= buffer_cut;
    buffer_.erase(0, buffer_cut);
    shared_bytes_ -= done_bytes;
    sent_ -= done_bytes + buffer_cut;
}

void Output::shrink() {
    if (!empty()) return;
    if (buffer_.capacity() > kept_buffer_bytes) std::string().swap(buffer_);
    if (shared_.capacity() > kept_parts) std::vector<Shared>().swap(shared_);
}

void Output::shrink_to_idle() {
    if (!empty()) return;
    if (buffer_.capacity() > idle_buffer_bytes) std::string().swap(buffer_);
    if (shared_.capacity() > 0) std::vector<Shared>().swap(shared_);
}

}  // namespace revenant::protocol
