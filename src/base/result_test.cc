#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace revenant {
namespace {

enum class Fault { odd, negative };

Result<int, Fault> half(int number) {
    if (number < 0) return Unexpected{Fault::negative};
    if (number % 2 != 0) return Unexpected{Fault::odd};
    return number / 2;
}

Result<int, Fault> quarter(int number) {
    REVENANT_TRY(const int first, half(number));
    REVENANT_TRY(const int second, half(first));
    return second;
}

Result<void, Fault> require_even(int number) {
    REVENANT_TRY(const int unused, half(number));
    static_cast<void>(unused);
    return {};
}

Result<std::string, Fault> named(int number) {
    REVENANT_TRY_VOID(require_even(number));
    return std::string("even");
}

TEST(Result, HoldsAValueOrAnError) {
    const auto value = half(6);
    ASSERT_TRUE(value.has_value());
    EXPECT_TRUE(static_cast<bool>(value));
    EXPECT_EQ(*value, 3);
    const auto error = half(7);
    ASSERT_FALSE(error.has_value());
    EXPECT_EQ(error.error(), Fault::odd);
}

TEST(Result, TryReturnsTheFirstError) {
    EXPECT_EQ(quarter(8).value(), 2);
    EXPECT_EQ(quarter(6).error(), Fault::odd);
    EXPECT_EQ(quarter(-8).error(), Fault::negative);
}

TEST(Result, TryVoidReturnsTheErrorOfAResultWithoutValue) {
    EXPECT_EQ(named(2).value(), "even");
    EXPECT_EQ(named(3).error(), Fault::odd);
    EXPECT_TRUE(require_even(4).has_value());
}

TEST(Result, MovesWhatCannotBeCopied) {
    const auto make = []() -> Result<std::unique_ptr<int>, Fault> {
        return std::make_unique<int>(5);
    };
    std::unique_ptr<int> taken = make().value();
    EXPECT_EQ(*taken, 5);
}

TEST(Result, TheErrorMayBeOfTheTypeOfTheValue) {
    const Result<int, int> value(1);
    const Result<int, int> error(Unexpected{1});
    EXPECT_TRUE(value.has_value());
    EXPECT_FALSE(error.has_value());
}

TEST(ResultDeathTest, AskingForWhatIsNotThereIsABug) {
    EXPECT_DEATH(static_cast<void>(half(1).value()), "CHECK failed");
    EXPECT_DEATH(static_cast<void>(half(2).error()), "CHECK failed");
}

}  // namespace
}  // namespace revenant
