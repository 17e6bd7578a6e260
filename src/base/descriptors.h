// Descriptors: how many the system gives us, and what is kept of them for files. Connections must
// not take the last ones: a journal that cannot open its next segment ends the node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <sys/resource.h>

namespace revenant {

inline std::uint64_t descriptor_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
    return limit.rlim_cur;
}

// They are given out from the lowest on, so the number itself tells how many are left.
inline bool is_kept_for_files(int descriptor) {
    const std::uint64_t limit = descriptor_limit();
    const std::uint64_t kept = std::clamp<std::uint64_t>(limit / 4, 12, 64);
    return static_cast<std::uint64_t>(descriptor) + kept >= limit;
}

}  // namespace revenant
