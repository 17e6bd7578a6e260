#include "node/machine_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace revenant::node {
namespace {

class ControlGroups : public testing::Test {
  protected:
    ~ControlGroups() override { std::filesystem::remove_all(root_); }
    void write(const std::string& name, const char* text) const {
        const std::filesystem::path path = root_ + "/" + name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }
    std::uint64_t within(const char* own_group) const {
        return memory_bytes_within(1000, root_, own_group);
    }

    std::string root_ = testing::TempDir() + "machine_memory_test" + std::to_string(getpid());
};

TEST_F(ControlGroups, WithoutALimitTheMachineCounts) {
    EXPECT_EQ(within(""), 1000U);
    write("memory.max", "max\n");
    EXPECT_EQ(within("0::/\n"), 1000U);
    write("memory.max", "2000\n");
    EXPECT_EQ(within("0::/\n"), 1000U);
}

TEST_F(ControlGroups, TheSmallestLimitOnTheWayCounts) {
    write("a/b/memory.max", "max\n");
    write("a/memory.max", "300\n");
    EXPECT_EQ(within("0::/a/b\n"), 300U);
    write("a/b/memory.max", "200\n");
    EXPECT_EQ(within("0::/a/b\n"), 200U);
    write("memory.max", "100\n");
    EXPECT_EQ(within("0::/a/b\n"), 100U);
}

TEST_F(ControlGroups, OfTheFirstVersionCountToo) {
    write("memory/memory.limit_in_bytes", "400\n");
    EXPECT_EQ(within("5:memory:/\n"), 400U);
}

}  // namespace
}  // namespace revenant::node
