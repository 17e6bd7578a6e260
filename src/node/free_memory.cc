#include "node/free_memory.h"

#ifdef REVENANT_JEMALLOC
#include <jemalloc/jemalloc.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#endif

namespace revenant::node {

#ifdef REVENANT_JEMALLOC

namespace {

std::string of_all_arenas(const std::string& prefix, const std::string& name) {
    return prefix + std::to_string(MALLCTL_ARENAS_ALL) + "." + name;
}

}  // namespace

std::uint64_t free_memory_bytes() {
    // Statistics are those of the time when the epoch was last advanced.
    std::uint64_t epoch = 1;
    std::size_t pages = 0;
    std::size_t size = sizeof pages;
    static const std::string dirty_pages = of_all_arenas("stats.arenas.", "pdirty");
    if (mallctl("epoch", nullptr, nullptr, &epoch, sizeof epoch) != 0 ||
        mallctl(dirty_pages.c_str(), &pages, &size, nullptr, 0) != 0) {
        return 0;
    }
    return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

void return_free_memory() {
    static const std::string purge = of_all_arenas("arena.", "purge");
    mallctl(purge.c_str(), nullptr, nullptr, nullptr, 0);
}

#else

std::uint64_t free_memory_bytes() { return 0; }
void return_free_memory() {}

#endif

}  // namespace revenant::node
