// Memory that was freed, but that the allocator has not returned to the system yet.
#pragma once

#include <cstdint>

namespace revenant::node {

// Without jemalloc, as under the sanitizers, there is none.
std::uint64_t free_memory_bytes();
void return_free_memory();

}  // namespace revenant::node
