#include "engine/state/topic_trie.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
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

// Matches word by word, directly from the definition.
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
    trie.remove("a.b.#", "three");  // removed already
    trie.remove("x.y", "two");      // never added
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
    EXPECT_THAT(matches(trie, key), IsEmpty());  // would not terminate otherwise
}

// The number of nodes of a trie with these patterns, including the root.
std::size_t nodes_of(const std::vector<std::string>& patterns) {
    std::set<std::string> beginnings{""};
    for (const std::string& pattern : patterns) {
        for (std::size_t dot = pattern.find('.'); dot != std::string::npos;
             dot = pattern.find('.', dot + 1)) {
            beginnings.insert(pattern.substr(0, dot));
        }
        beginnings.insert(pattern);
    }
    return beginnings.size();
}

// Every sequence of 10 words a or b, repeated six times, with each word after a #.
std::vector<std::string> patterns_with_many_hashes() {
    std::vector<std::string> patterns;
    for (unsigned choice = 0; choice < 1024; ++choice) {
        std::string pattern;
        for (unsigned place = 0; place < 60; ++place) {
            pattern += (choice >> (place % 10) & 1) != 0 ? "#.a." : "#.b.";
        }
        patterns.push_back(pattern + "z");
    }
    return patterns;
}

TEST(TopicTrie, ALookupTakesAStepPerNodeWhateverTheNumberOfHashes) {
    const std::vector<std::string> patterns = patterns_with_many_hashes();
    ASSERT_LE(patterns.front().size(), 255U);
    Trie trie;
    for (const std::string& pattern : patterns) trie.add(pattern, pattern);
    const std::size_t nodes = nodes_of(patterns);
    for (const char* word : {"a.", "b.", "a.b.", "b.a.a.", "x.", "x.a.b."}) {
        std::string key;
        while (std::count(key.begin(), key.end(), '.') < 119) key += word;
        key += 'y';
        std::size_t found = 0;
        const std::size_t steps = trie.match(key, [&](const std::string&) { ++found; });
        EXPECT_EQ(found, 0U) << word;
        EXPECT_LE(steps, 2 * nodes) << word;
    }
}

TEST(TopicTrie, ManyWordsBehindAHashAreNotTriedOneByOne) {
    Trie trie;
    for (int i = 0; i < 10'000; ++i) trie.add("#.w" + std::to_string(i), std::to_string(i));
    std::string key = "w17";
    for (int i = 0; i < 100; ++i) key += ".w" + std::to_string(i * 7);
    std::vector<std::string> found;
    const std::size_t steps =
        trie.match(key, [&](const std::string& leaf) { found.push_back(leaf); });
    EXPECT_THAT(found, ElementsAre("693"));
    EXPECT_LE(steps, 110U);
}

TEST(TopicTrie, WordsThatNoPatternHasAreForgotten) {
    Trie trie;
    for (int i = 0; i < 100; ++i) {
        const std::string pattern = "#.w" + std::to_string(i) + ".*.v";
        trie.add(pattern, "x");
        trie.add("w" + std::to_string(i), "y");
        trie.remove(pattern, "x");
        EXPECT_THAT(matches(trie, "w" + std::to_string(i)), ElementsAre("y"));
        trie.remove("w" + std::to_string(i), "y");
    }
    EXPECT_TRUE(trie.is_empty());
}

std::string random_words(std::mt19937_64& random, const std::vector<std::string>& alphabet,
                         std::size_t words_max) {
    std::string text;
    const std::size_t count = random() % words_max;
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
                patterns.push_back(random_words(random, pattern_words, 6));
                trie.add(patterns.back(), patterns.back());
            } else {
                const auto place = patterns.begin() + random() % patterns.size();
                trie.remove(*place, *place);
                patterns.erase(place);
            }
            const std::string key = random_words(random, key_words, 6);
            std::vector<std::string> expected;
            for (const std::string& pattern : patterns) {
                if (naive_match(pattern, key)) expected.push_back(pattern);
            }
            std::sort(expected.begin(), expected.end());
            ASSERT_EQ(matches(trie, key), expected) << "key '" << key << "'";
        }
    }
}

// Long patterns of few words, so that many match in several ways; patterns are added and removed.
TEST(TopicTrie, AgreesWithTheDefinitionOnLongPatternsWithManyHashes) {  // amqp091 7.4
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const std::vector<std::string> pattern_words =
            seed % 2 == 0 ? std::vector<std::string>{"a", "b", "*", "#", "#", "#"}
                          : std::vector<std::string>{"a", "a", "b", "*", "*", "#"};
        const std::vector<std::string> key_words{"a", "a", "b"};
        Trie trie;
        std::vector<std::string> patterns;
        std::size_t found = 0;
        for (int step = 0; step < 120; ++step) {
            if (patterns.empty() || random() % 4 != 0) {
                patterns.push_back(random_words(random, pattern_words, 12));
                trie.add(patterns.back(), patterns.back());
            } else {
                const auto place = patterns.begin() + random() % patterns.size();
                trie.remove(*place, *place);
                patterns.erase(place);
            }
            const std::string key = random_words(random, key_words, 14);
            std::vector<std::string> expected;
            for (const std::string& pattern : patterns) {
                if (naive_match(pattern, key)) expected.push_back(pattern);
            }
            std::sort(expected.begin(), expected.end());
            ASSERT_EQ(matches(trie, key), expected) << "key '" << key << "'";
            found += expected.size();
        }
        EXPECT_GT(found, 100U);
    }
}

}  // namespace
}  // namespace revenant::engine
