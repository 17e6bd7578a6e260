#include "pattern/pattern.h"

#include "base/probe.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace revenant {
namespace {

Pattern compiled(std::string_view source) {
    auto pattern = Pattern::compile(source);
    EXPECT_TRUE(pattern) << (pattern ? "" : pattern.error());
    return std::move(pattern).value();
}

std::string error_of(std::string_view source) {
    const auto pattern = Pattern::compile(source);
    return pattern ? "compiled" : pattern.error();
}

// amqp091 15.1
TEST(Pattern, IsFoundAnywhereInTheName) {
    EXPECT_TRUE(compiled("order").matches("new_orders"));
    EXPECT_FALSE(compiled("^order").matches("new_orders"));
    EXPECT_TRUE(compiled("^order$").matches("order"));
    EXPECT_TRUE(compiled(".*").matches("anything"));
    EXPECT_TRUE(compiled(".*").matches(""));
    EXPECT_TRUE(compiled("").matches("anything"));
    EXPECT_FALSE(compiled("^$").matches("anything"));
    EXPECT_TRUE(compiled("^$").matches(""));
}

// management 4.14
TEST(Pattern, LooksAhead) {
    const Pattern pattern = compiled("^(?!amq\\.).*");
    EXPECT_TRUE(pattern.matches("orders"));
    EXPECT_FALSE(pattern.matches("amq.topic"));
}

TEST(Pattern, SeesBytesNotCharacters) {
    EXPECT_TRUE(compiled("^..$").matches("\xc3\xbc"));
    EXPECT_TRUE(compiled("^\xc3\xbc$").matches("\xc3\xbc"));
    EXPECT_TRUE(compiled("^.$").matches("\xff"));
    EXPECT_FALSE(compiled("^\\w$").matches("\xfc"));
    EXPECT_TRUE(compiled("b").matches(std::string_view("a\0b", 3)));
    EXPECT_TRUE(compiled(std::string_view("^a\0b$", 5)).matches(std::string_view("a\0b", 3)));
}

TEST(Pattern, CannotSwitchUnicodeOn) {
    EXPECT_NE(error_of("(*UTF)a"), "compiled");
    EXPECT_NE(error_of("(*UCP)a"), "compiled");
}

TEST(Pattern, TellsWhatIsWrongAndWhere) {
    EXPECT_EQ(error_of("ab("), "missing closing parenthesis at offset 3");
    EXPECT_EQ(error_of("[a"), "missing terminating ] for character class at offset 2");
    EXPECT_EQ(error_of("*"), "quantifier does not follow a repeatable item at offset 0");
}

TEST(Pattern, RefusesHugeSources) {
    EXPECT_EQ(error_of(std::string(Pattern::source_bytes_max + 1, 'a')).find("compiled"),
              std::string::npos);
    EXPECT_NE(error_of("((((((a{1,999}){1,999}){1,999}){1,999}){1,999}){1,999})"), "compiled");
    EXPECT_NE(error_of(std::string(1000, '(') + std::string(1000, ')')), "compiled");
}

TEST(Pattern, GivesUpOnCatastrophicBacktracking) {
    const auto before = Probe::hits("pattern.limit");
    EXPECT_FALSE(compiled("^(a+)+$").matches(std::string(100, 'a') + "!"));
    EXPECT_FALSE(compiled("(*NO_JIT)^(a+)+$").matches(std::string(100, 'a') + "!"));
    EXPECT_EQ(Probe::hits("pattern.limit"), before + 2);
}

TEST(Pattern, CannotRaiseItsOwnLimits) {
    const auto before = Probe::hits("pattern.limit");
    const std::string raised = "(*LIMIT_MATCH=4000000000)(*LIMIT_DEPTH=4000000000)";
    EXPECT_FALSE(compiled(raised + "^(a+)+$").matches(std::string(100, 'a') + "!"));
    EXPECT_EQ(Probe::hits("pattern.limit"), before + 1);
}

TEST(Pattern, FindsWithTheInterpreterWhatTheSmallStackOfJitCannot) {
    const auto before = Probe::hits("pattern.jit_stack");
    EXPECT_TRUE(compiled("^(?:(a)|b)*c$").matches(std::string(1500, 'a') + "c"));
    EXPECT_EQ(Probe::hits("pattern.jit_stack"), before + 1);
}

TEST(Pattern, IsSharedByThreads) {
    const auto pattern = std::make_shared<const Pattern>(compiled("^(q|x)[0-9]+$"));
    std::vector<std::thread> threads;
    std::vector<int> found(4, 0);
    for (std::size_t i = 0; i < found.size(); ++i)
        threads.emplace_back([&found, i, pattern] {
            for (int n = 0; n < 1000; ++n)
                found[i] += pattern->matches((n % 2 ? "q" : "y") + std::to_string(n)) ? 1 : 0;
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(found, std::vector<int>(4, 500));
}

TEST(Pattern, CanBeMoved) {
    Pattern first = compiled("^a$");
    Pattern second = compiled("^b$");
    second = std::move(first);
    EXPECT_TRUE(second.matches("a"));
    EXPECT_EQ(second.source(), "^a$");
}

// amqp091 15.4
TEST(EscapeForPattern, MakesEveryByteStandForItself) {
    for (int byte = 0; byte < 256; ++byte) {
        const std::string text{'x', static_cast<char>(byte), 'y'};
        const Pattern pattern = compiled("^" + escape_for_pattern(text) + "\\z");
        EXPECT_TRUE(pattern.matches(text)) << byte;
        for (int other = 0; other < 256; ++other)
            if (other != byte) {
                EXPECT_FALSE(pattern.matches(std::string{'x', static_cast<char>(other), 'y'}));
            }
    }
    EXPECT_EQ(escape_for_pattern("a.b_C9"), "a\\.b_C9");
}

}  // namespace
}  // namespace revenant
