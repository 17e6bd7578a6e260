#include "node/ballast.h"

namespace revenant::node {
namespace {

constexpr std::uint64_t plenty_bytes = 4 * Ballast::bytes;

}  // namespace

bool Ballast::is_there() const {
    const auto file = disk_.open(path_);
    if (!file) return false;
    const auto size = (*file)->size();
    return size && *size >= bytes;
}

bool Ballast::hold(std::uint64_t free_bytes) {
    const std::lock_guard lock(mutex_);
    held_ = held_ || is_there();
    if (held_) return true;
    if (free_bytes < plenty_bytes) return false;
    const auto file = disk_.create(path_);
    held_ = file && (*file)->allocate(bytes);
    return true;
}

void Ballast::release() {
    const std::lock_guard lock(mutex_);
    held_ = false;
    static_cast<void>(disk_.remove(path_).has_value());
}

}  // namespace revenant::node
