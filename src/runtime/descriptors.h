// File descriptors: the system's limit and the number reserved for files. Connections must not use
// the last ones, because a journal that cannot open its next segment ends the node.
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

// Limit for files that are open for reading only. The rest of the reserve is for files being
// written.
inline std::size_t read_files_open_max() { return descriptors_kept_for_files() / 2; }

// The kernel assigns the lowest free number, so the number shows how many descriptors are left.
inline bool is_reserved_for_files(int descriptor) {
    return static_cast<std::uint64_t>(descriptor) + descriptors_kept_for_files() >=
           descriptor_limit();
}

// The number that the next descriptor would get, or the limit if none is left.
inline std::uint64_t next_descriptor() {
    const int next = ::eventfd(0, EFD_CLOEXEC);
    if (next < 0) return descriptor_limit();
    ::close(next);
    return static_cast<std::uint64_t>(next);
}

}  // namespace revenant::runtime
