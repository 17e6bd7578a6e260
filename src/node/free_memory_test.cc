#include "node/free_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

namespace revenant::node {
namespace {

#ifdef REVENANT_JEMALLOC

TEST(FreeMemory, IsCountedAndReturned) {
    constexpr std::size_t block_bytes = 64 * 1024;
    std::vector<std::unique_ptr<char[]>> blocks(512);
    for (auto& block : blocks) {
        block = std::make_unique<char[]>(block_bytes);
        std::memset(block.get(), 1, block_bytes);
    }
    return_free_memory();
    const std::uint64_t before = free_memory_bytes();
    blocks.clear();
    EXPECT_GT(free_memory_bytes(), before + 8 * 1024 * 1024);
    return_free_memory();
    EXPECT_LT(free_memory_bytes(), before + 8 * 1024 * 1024);
}

#endif

}  // namespace
}  // namespace revenant::node
