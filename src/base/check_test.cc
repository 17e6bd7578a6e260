#include "base/check.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace revenant {
namespace {

TEST(CheckDeathTest, ABrokenInvariantEndsTheProcessAndSaysWhich) {
    int number = 1;
    CHECK(number == 1);
    EXPECT_DEATH(CHECK(number == 2), "CHECK failed: number == 2 at .*check_test.cc:");
    EXPECT_DEATH(UNREACHABLE(), "CHECK failed: unreachable at .*check_test.cc:");
}

TEST(CheckDeathTest, SomebodyElseMayTellTheLastWords) {
    const auto fail = [] {
        set_last_words([](const char* text) { std::fprintf(stderr, "told: %s\n", text); });
        CHECK(1 == 2);
    };
    EXPECT_DEATH(fail(), "^told: CHECK failed: 1 == 2 at ");
}

TEST(Check, EvaluatesItsConditionOnce) {
    int count = 0;
    CHECK(++count > 0);
    EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace revenant
