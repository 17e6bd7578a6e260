#include "auth/password_rules.h"

#include <gtest/gtest.h>

#include <utility>

namespace revenant {
namespace {

TEST(PasswordRules, AskNothingByDefault) { EXPECT_EQ(PasswordRules{}.violation(""), std::nullopt); }

TEST(PasswordRules, MayAskForALength) {
    PasswordRules rules;
    rules.ask = PasswordRules::PasswordCheck::length;
    rules.bytes_min = 4;
    EXPECT_EQ(rules.violation("four"), std::nullopt);
    EXPECT_EQ(rules.violation("two"), "minimum required password length is 4");
}

TEST(PasswordRules, MayAskForAPattern) {
    PasswordRules rules;
    rules.ask = PasswordRules::PasswordCheck::pattern;
    EXPECT_EQ(rules.violation("anything"), std::nullopt);
    auto digit = Pattern::compile("[0-9]");
    ASSERT_TRUE(digit);
    rules.pattern = std::make_shared<const Pattern>(std::move(digit).value());
    EXPECT_EQ(rules.violation("with 1"), std::nullopt);
    EXPECT_EQ(rules.violation("without"),
              "provided password does not match the validator regular expression");
}

}  // namespace
}  // namespace revenant
