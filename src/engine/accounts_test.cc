#include "engine/accounts.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace revenant::engine {
namespace {

TEST(Accounts, EveryEndingHasANameOfItsOwn) {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < ending_count; ++i) names.insert(to_string(static_cast<Ending>(i)));
    EXPECT_EQ(names.size(), ending_count);
    EXPECT_FALSE(names.contains(""));
    EXPECT_EQ(static_cast<std::size_t>(Ending::queue_deleted) + 1, ending_count);
}

TEST(Accounts, TheTotalIsTheSumOfAllEndings) {
    Accounts accounts;
    for (std::size_t i = 0; i < ending_count; ++i) accounts.of(static_cast<Ending>(i)) += i;
    EXPECT_EQ(accounts.ended_total(), ending_count * (ending_count - 1) / 2);
}

}  // namespace
}  // namespace revenant::engine
