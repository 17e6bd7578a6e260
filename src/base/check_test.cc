#include "base/check.h"

#include <gtest/gtest.h>

namespace revenant {
namespace {

TEST(CheckDeathTest, ABrokenInvariantEndsTheProcessAndSaysWhich) {
    int number = 1;
    CHECK(number == 1);
    EXPECT_DEATH(CHECK(number == 2), "CHECK failed: number == 2 at .*check_test.cc:");
    EXPECT_DEATH(UNREACHABLE(), "CHECK failed: unreachable at .*check_test.cc:");
}

TEST(Check, EvaluatesItsConditionOnce) {
    int count = 0;
    CHECK(++count > 0);
    EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace revenant
