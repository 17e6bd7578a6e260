// Descriptors: how many the system gives us, and what is kept of them for files. Connections must
// not take the last ones: a journal that cannot open its next segment ends the node.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sys/eventfd.h>
#include <sys/resource.h>

namespace revenant::runtime {

inline std::uint64_t descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
    return limit.rlim_cur;
}

inline std::uint64_t descriptors_kept_for_files() {
    return std::clamp<std::uint64_t>(descriptor_limit() / 4, 12, 64);
}

// Files that are only read are open as long as they are not too many; the rest of what is kept is
// for those that are written.
inline std::size_t read_files_open_max() { return descriptors_kept_for_files() / 2; }

// They are given out from the lowest on, so the number itself tells how many are left.
inline bool is_reserved_for_files(int descriptor) {
    return static_cast<std::uint64_t>(descriptor) + descriptors_kept_for_files() >=
           descriptor_limit();
}

// The one that would be given out next; none left is the limit itself.
inline std::uint64_t next_descriptor() {
    const int next = ::eventfd(0, EFD_CLOEXEC);
    if (next < 0) return descriptor_limit();
    ::close(next);
    return static_cast<std::uint64_t>(next);
}

}  // namespace revenant::runtime
