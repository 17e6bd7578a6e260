#include "engine/topic_trie.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Trie = TopicTrie<std::string>;

std::vector<std::string> matches(const Trie& trie, std::string_view key) {
    std::vector<std::string> found;
    trie.match(key, [&](const std::string& leaf) { found.push_back(leaf); });
    std::sort(found.begin(), found.end());
    return found;
}

bool one_matches(std::string_view pattern, std::string_view key) {
    Trie trie;
    trie.add(pattern, "it");
    return !matches(trie, key).empty();
}

// Word by word, by the definition alone.
bool naive_match(const std::vector<std::string_view>& pattern, std::size_t p,
                 const std::vector<std::string_view>& words, std::size_t w) {
    if (p == pattern.size()) return w == words.size();
    if (pattern[p] == "#") {
        for (std::size_t next = w; next <= words.size(); ++next) {
            if (naive_match(pattern, p + 1, words, next)) return true;
        }
        return false;
    }
    if (w == words.size()) return false;
    return (pattern[p] == "*" || pattern[p] == words[w]) &&
           naive_match(pattern, p + 1, words, w + 1);
}

bool naive_match(std::string_view pattern, std::string_view key) {
    std::vector<std::string_view> pattern_words;
    std::vector<std::string_view> key_words;
    split_words(pattern, pattern_words);
    split_words(key, key_words);
    return naive_match(pattern_words, 0, key_words, 0);
}

TEST(TopicTrie, SplitsAKeyAtItsDots) {  // amqp091 7.4
    std::vector<std::string_view> words{"left from before"};
    split_words("", words);
    EXPECT_THAT(words, IsEmpty());
    split_words("a", words);
    EXPECT_THAT(words, ElementsAre("a"));
    split_words("a..b", words);
    EXPECT_THAT(words, ElementsAre("a", "", "b"));
    split_words(".", words);
    EXPECT_THAT(words, ElementsAre("", ""));
}

TEST(TopicTrie, AStarIsExactlyOneWord) {  // amqp091 7.4
    EXPECT_TRUE(one_matches("*", "a"));
    EXPECT_FALSE(one_matches("*", "a.b"));
    EXPECT_TRUE(one_matches("a.*.c", "a.b.c"));
    EXPECT_TRUE(one_matches("a.*.b", "a..b"));
    EXPECT_FALSE(one_matches("a.*", "a"));
}

TEST(TopicTrie, AHashIsAnyNumberOfWords) {  // amqp091 7.4
    EXPECT_TRUE(one_matches("#", "a.b.c"));
    EXPECT_TRUE(one_matches("a.#", "a"));
    EXPECT_TRUE(one_matches("a.#.c", "a.c"));
    EXPECT_TRUE(one_matches("a.#.c", "a.b.b.c"));
    EXPECT_FALSE(one_matches("a.#.c", "a.b"));
    EXPECT_TRUE(one_matches("#.b.#", "a.b.c"));
    EXPECT_TRUE(one_matches("#.#", ""));
}

TEST(TopicTrie, TheEmptyKeyHasNoWord) {  // amqp091 7.4
    EXPECT_TRUE(one_matches("#", ""));
    EXPECT_FALSE(one_matches("*", ""));
    EXPECT_TRUE(one_matches("", ""));
    EXPECT_FALSE(one_matches("", "a"));
}

TEST(TopicTrie, WildcardsInARoutingKeyAreOrdinaryWords) {
    EXPECT_FALSE(one_matches("a", "*"));
    EXPECT_TRUE(one_matches("*", "#"));
    EXPECT_TRUE(one_matches("#", "*.#"));
    EXPECT_FALSE(one_matches("b.#", "#.b"));
}

TEST(TopicTrie, RemovesOneBindingAndLeavesItsNeighbours) {
    Trie trie;
    trie.add("a.b", "one");
    trie.add("a.b", "two");
    trie.add("a.b.#", "three");
    trie.remove("a.b", "one");
    EXPECT_THAT(matches(trie, "a.b"), ElementsAre("three", "two"));
    trie.remove("a.b.#", "three");
    trie.remove("a.b.#", "three");  // no longer there
    trie.remove("x.y", "two");      // never was
    EXPECT_THAT(matches(trie, "a.b"), ElementsAre("two"));
    trie.remove("a.b", "two");
    EXPECT_THAT(matches(trie, "a.b"), IsEmpty());
}

TEST(TopicTrie, ManyHashesDoNotMakeALookupExponential) {
    Trie trie;
    std::string pattern = "#";
    std::string key = "a";
    for (int i = 0; i < 40; ++i) {
        pattern += ".#.a";
        key += ".a";
    }
    trie.add(pattern + ".z", "never");
    EXPECT_THAT(matches(trie, key), IsEmpty());  // would not end otherwise
}

std::string random_words(std::mt19937_64& random, const std::vector<std::string>& alphabet) {
    std::string text;
    const std::size_t count = random() % 6;
    for (std::size_t i = 0; i < count; ++i) {
        if (i > 0) text += '.';
        text += alphabet[random() % alphabet.size()];
    }
    return text;
}

TEST(TopicTrie, AgreesWithTheDefinitionOnRandomPatternsAndKeys) {  // amqp091 7.4
    const std::vector<std::string> pattern_words{"a", "b", "", "*", "#", "#"};
    const std::vector<std::string> key_words{"a", "b", "c", "", "*", "#"};
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        Trie trie;
        std::vector<std::string> patterns;
        for (int step = 0; step < 60; ++step) {
            if (patterns.empty() || random() % 3 != 0) {
                patterns.push_back(random_words(random, pattern_words));
                trie.add(patterns.back(), patterns.back());
            } else {
                const auto place = patterns.begin() + random() % patterns.size();
                trie.remove(*place, *place);
                patterns.erase(place);
            }
            const std::string key = random_words(random, key_words);
            std::vector<std::string> expected;
            for (const std::string& pattern : patterns) {
                if (naive_match(pattern, key)) expected.push_back(pattern);
            }
            std::sort(expected.begin(), expected.end());
            ASSERT_EQ(matches(trie, key), expected) << "key '" << key << "'";
        }
    }
}

}  // namespace
}  // namespace revenant::engine
