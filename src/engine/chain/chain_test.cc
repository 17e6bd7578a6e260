#include "engine/chain/chain.h"

#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Entry entry(std::string_view body) {
    Entry made;
    made.message = make_test_message("q", body);
    return made;
}

std::vector<std::uint64_t> sequences(const Chain& chain) {
    std::vector<std::uint64_t> found;
    chain.for_each([&](std::uint64_t sequence, const Entry&) { found.push_back(sequence); });
    return found;
}

std::vector<std::uint64_t> due(Chain& chain, std::uint64_t block, Timestamp now) {
    std::vector<std::uint64_t> found;
    chain.due_entries(block, now, SIZE_MAX, found);
    return found;
}

TEST(Chain, HandsOutTheOldestFirst) {
    Chain chain;
    EXPECT_EQ(chain.first_ready(), std::nullopt);
    EXPECT_EQ(chain.push(entry("a"), never), 0U);
    EXPECT_EQ(chain.push(entry("b"), never), 1U);
    EXPECT_EQ(chain.first_ready(), 0U);
    EXPECT_EQ(chain.take(0).message->body(), "a");
    EXPECT_EQ(chain.first_ready(), 1U);
    EXPECT_EQ(chain.ready_count(), 1U);
    EXPECT_EQ(chain.live_count(), 1U);
}

TEST(Chain, AReturnedEntryStandsInItsOldPlace) {  // amqp091 11.12
    Chain chain;
    for (const char* body : {"a", "b", "c"}) chain.push(entry(body), never);
    chain.mark_unacked(0);
    chain.mark_unacked(1);
    EXPECT_EQ(chain.first_ready(), 2U);
    chain.mark_ready(1);
    EXPECT_EQ(chain.first_ready(), 1U);
    chain.mark_ready(0);
    EXPECT_EQ(chain.first_ready(), 0U);
}

TEST(Chain, AReturnedEntryIsFoundThoughBlocksBehindItWereServedMeanwhile) {
    Chain chain;
    for (std::uint64_t i = 0; i < 4 * block_entries; ++i) chain.push(entry("m"), never);
    chain.mark_unacked(3);
    for (std::uint64_t i = 0; i < 3 * block_entries; ++i) {
        if (i != 3) chain.take(i);
    }
    EXPECT_EQ(chain.first_ready(), 3 * block_entries);
    chain.mark_ready(3);
    EXPECT_EQ(chain.first_ready(), 3U);
}

TEST(Chain, GoesOnThroughHundredsOfBlocks) {  // unused slots are freed
    Chain chain;
    const std::uint64_t depth = block_entries + 50;
    for (std::uint64_t i = 0; i < 300 * block_entries; ++i) {
        ASSERT_EQ(chain.push(entry(std::to_string(i)), never), i);
        if (i < depth) continue;
        ASSERT_EQ(chain.first_ready(), i - depth);
        ASSERT_EQ(chain.take(i - depth).message->body(), std::to_string(i - depth));
    }
    EXPECT_EQ(chain.live_count(), depth);
    EXPECT_EQ(sequences(chain).size(), depth);
}

TEST(Chain, ContainsWhatWasNeitherTakenNorNeverThere) {
    Chain chain;
    chain.push(entry("a"), never);
    EXPECT_TRUE(chain.contains(0));
    EXPECT_FALSE(chain.contains(1));
    EXPECT_FALSE(chain.contains(1'000'000));
    chain.mark_unacked(0);
    EXPECT_TRUE(chain.contains(0));
    chain.take(0);
    EXPECT_FALSE(chain.contains(0));
}

TEST(Chain, AReplayMayLeaveNumbersOut) {
    Chain chain;
    chain.push_at(5, entry("a"), never);
    chain.push_at(9 * block_entries + 7, entry("b"), Timestamp{10});
    EXPECT_THAT(sequences(chain), ElementsAre(5, 9 * block_entries + 7));
    EXPECT_EQ(chain.take(5).message->body(), "a");
    EXPECT_EQ(chain.first_ready(), 9 * block_entries + 7);
    EXPECT_EQ(chain.deadline(9 * block_entries + 7), Timestamp{10});
    EXPECT_EQ(chain.push(entry("c"), never), 9 * block_entries + 8);
}

// The version that wrote the entries may have used another rule for full blocks.
TEST(Chain, AReplayMayGoOnInABlockThatTodayHasEnded) {
    Chain chain;
    const std::string large(block_bytes_max, 'x');
    for (std::uint64_t i = 0; i < 3; ++i) chain.push_at(i, entry(large), never);
    EXPECT_EQ(chain.next_sequence(), block_entries) << "numbers are skipped";
    EXPECT_EQ(chain.push(entry("small"), never), block_entries);
    EXPECT_EQ(chain.push(entry("small"), never), block_entries + 1);
    EXPECT_THAT(sequences(chain), ElementsAre(0, 1, 2, block_entries, block_entries + 1));
}

TEST(Chain, AReplayMayGoOnInABlockThatTodayHasEndedAndIsEmpty) {
    Chain chain;
    chain.push_at(0, entry(std::string(block_bytes_max, 'x')), never);
    chain.take(0);
    chain.push_at(1, entry("a"), never);
    EXPECT_THAT(sequences(chain), ElementsAre(1));
}

TEST(Chain, NumbersNeverGoBack) {
    Chain chain;
    chain.push_at(5, entry("a"), never);
    EXPECT_DEATH(chain.push_at(5, entry("b"), never), "CHECK failed");
}

TEST(Chain, TouchingAnEntryThatIsGoneIsABug) {
    Chain chain;
    chain.push(entry("a"), never);
    chain.push(entry("b"), never);
    chain.take(0);
    EXPECT_DEATH((void)chain.at(0), "CHECK failed");
    EXPECT_DEATH((void)chain.take(0), "CHECK failed");
    EXPECT_DEATH(chain.mark_ready(1), "CHECK failed");  // already ready
    EXPECT_DEATH((void)chain.at(99), "CHECK failed");
}

TEST(ChainDeadlines, TheEarliestOfABlockIsKnown) {
    Chain chain;
    EXPECT_EQ(chain.earliest_deadline(0), never);
    chain.push(entry("a"), never);
    EXPECT_EQ(chain.earliest_deadline(0), never);
    chain.push(entry("b"), Timestamp{50});
    chain.push(entry("c"), Timestamp{30});
    chain.push(entry("d"), Timestamp{70});
    EXPECT_EQ(chain.earliest_deadline(0), Timestamp{30});
    EXPECT_EQ(chain.deadline(0), never);
    EXPECT_EQ(chain.deadline(2), Timestamp{30});
}

TEST(ChainDeadlines, DueEntriesComeOldestFirstAndTheNextIsLeft) {
    Chain chain;
    chain.push(entry("a"), Timestamp{50});
    chain.push(entry("b"), Timestamp{10});
    chain.push(entry("c"), never);
    chain.push(entry("d"), Timestamp{30});
    EXPECT_THAT(due(chain, 0, Timestamp{9}), IsEmpty());
    EXPECT_THAT(due(chain, 0, Timestamp{30}), ElementsAre(1, 3));
    chain.take(1);
    chain.take(3);
    EXPECT_EQ(chain.earliest_deadline(0), Timestamp{50});
}

TEST(ChainDeadlines, WhatIsUnsettledIsNotDueUntilItReturns) {  // DL-21
    Chain chain;
    chain.push(entry("a"), Timestamp{10});
    chain.mark_unacked(0);
    EXPECT_THAT(due(chain, 0, Timestamp{20}), IsEmpty());
    EXPECT_EQ(chain.earliest_deadline(0), never);
    chain.mark_ready(0);
    EXPECT_EQ(chain.earliest_deadline(0), Timestamp{10});
    EXPECT_THAT(due(chain, 0, Timestamp{20}), ElementsAre(0));
}

TEST(ChainDeadlines, ABlockThatIsGoneHasNoTimer) {
    Chain chain;
    for (std::uint64_t i = 0; i <= block_entries; ++i) chain.push(entry("m"), Timestamp{10});
    chain.set_scheduled(0, Timestamp{10});
    EXPECT_EQ(chain.scheduled(0), Timestamp{10});
    for (std::uint64_t i = 0; i < block_entries; ++i) chain.take(i);
    EXPECT_EQ(chain.scheduled(0), never);
    chain.set_scheduled(0, Timestamp{20});
    EXPECT_EQ(chain.scheduled(0), never);
    EXPECT_THAT(due(chain, 0, Timestamp{99}), IsEmpty());
}

// The same interface, implemented naively.
class NaiveChain {
  public:
    struct Item {
        std::string body;
        bool ready = true;
        Timestamp deadline = never;
    };
    std::map<std::uint64_t, Item> items;
    std::uint64_t next = 0;

    std::optional<std::uint64_t> first_ready() const {
        for (const auto& [sequence, item] : items) {
            if (item.ready) return sequence;
        }
        return std::nullopt;
    }
    std::uint64_t ready_count() const {
        return std::count_if(items.begin(), items.end(),
                             [](const auto& item) { return item.second.ready; });
    }
    std::vector<std::uint64_t> due(std::uint64_t block, Timestamp now) const {
        std::vector<std::uint64_t> found;
        for (const auto& [sequence, item] : items) {
            if (Chain::block_of(sequence) == block && item.ready && item.deadline <= now) {
                found.push_back(sequence);
            }
        }
        return found;
    }
    Timestamp earliest(std::uint64_t block) const {
        Timestamp at = never;
        for (const auto& [sequence, item] : items) {
            if (Chain::block_of(sequence) == block && item.ready) at = std::min(at, item.deadline);
        }
        return at;
    }
};

class ChainPair {
  public:
    explicit ChainPair(std::uint64_t seed) : random_(seed) {}

    void step() {
        switch (random_() % 10) {
            case 0:
            case 1:
            case 2:
                push(1 + random_() % 60);
                break;
            case 3:
                skip_numbers();
                break;
            case 4:
            case 5:
                take_from_the_front(random_() % 80);
                break;
            case 6:
                take_any(random_() % 20);
                break;
            case 7:
                deliver(random_() % 40);
                break;
            case 8:
                give_back(random_() % 40);
                break;
            case 9:
                expire();
                break;
        }
    }

    void compare() {
        ASSERT_EQ(chain_.first_ready(), naive_.first_ready());
        ASSERT_EQ(chain_.ready_count(), naive_.ready_count());
        ASSERT_EQ(chain_.live_count(), naive_.items.size());
        ASSERT_EQ(chain_.next_sequence(), naive_.next);
        auto expected = naive_.items.begin();
        chain_.for_each([&](std::uint64_t sequence, const Entry& entry) {
            ASSERT_NE(expected, naive_.items.end());
            ASSERT_EQ(sequence, expected->first);
            ASSERT_EQ(entry.message->body(), expected->second.body);
            ASSERT_EQ(entry.state == EntryState::ready, expected->second.ready);
            ASSERT_EQ(chain_.deadline(sequence), expected->second.deadline);
            // May be too early after a removal, but never too late.
            ASSERT_LE(chain_.earliest_deadline(Chain::block_of(sequence)),
                      naive_.earliest(Chain::block_of(sequence)));
            ++expected;
        });
        ASSERT_EQ(expected, naive_.items.end());
    }

  private:
    Timestamp random_deadline() {
        return random_() % 3 == 0
                   ? never
                   : Timestamp{now_.us + 1 + static_cast<std::int64_t>(random_() % 50)};
    }
    void push(std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::string body = std::to_string(naive_.next);
            const Timestamp deadline = random_deadline();
            ASSERT_EQ(chain_.push(entry(body), deadline), naive_.next);
            naive_.items[naive_.next++] = {body, true, deadline};
        }
    }
    void skip_numbers() {
        const std::uint64_t sequence = naive_.next + random_() % 700;
        const std::string body = std::to_string(sequence);
        const Timestamp deadline = random_deadline();
        chain_.push_at(sequence, entry(body), deadline);
        naive_.items[sequence] = {body, true, deadline};
        naive_.next = sequence + 1;
    }
    void take(std::uint64_t sequence) {
        ASSERT_EQ(chain_.take(sequence).message->body(), naive_.items.at(sequence).body);
        naive_.items.erase(sequence);
        ASSERT_FALSE(chain_.contains(sequence));
    }
    void take_from_the_front(std::uint64_t count) {
        for (std::uint64_t i = 0; i < count && naive_.first_ready(); ++i) {
            take(*chain_.first_ready());
        }
    }
    std::optional<std::uint64_t> any(bool ready) {
        std::vector<std::uint64_t> candidates;
        for (const auto& [sequence, item] : naive_.items) {
            if (item.ready == ready) candidates.push_back(sequence);
        }
        if (candidates.empty()) return std::nullopt;
        return candidates[random_() % candidates.size()];
    }
    void take_any(std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
            if (const auto sequence = any(random_() % 2 == 0)) take(*sequence);
        }
    }
    void deliver(std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto sequence = chain_.first_ready();
            if (!sequence) return;
            chain_.mark_unacked(*sequence);
            naive_.items.at(*sequence).ready = false;
        }
    }
    void give_back(std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto sequence = any(false);
            if (!sequence) return;
            chain_.mark_ready(*sequence);
            naive_.items.at(*sequence).ready = true;
        }
    }
    void expire() {
        now_.us += static_cast<std::int64_t>(random_() % 20);
        const std::uint64_t last = Chain::block_of(naive_.next);
        for (std::uint64_t block = 0; block <= last; ++block) {
            const auto expected = naive_.due(block, now_);
            ASSERT_EQ(due(chain_, block, now_), expected);
            for (const std::uint64_t sequence : expected) take(sequence);
            ASSERT_EQ(chain_.earliest_deadline(block), naive_.earliest(block));
        }
    }

    std::mt19937_64 random_;
    Chain chain_;
    NaiveChain naive_;
    Timestamp now_{0};
};

TEST(Chain, AgreesWithANaiveOneOnRandomOperations) {
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
        SCOPED_TRACE(seed);
        ChainPair pair(seed);
        for (int step = 0; step < 120; ++step) {
            pair.step();
            if (step % 8 == 0) pair.compare();
            if (::testing::Test::HasFatalFailure()) return;
        }
        pair.compare();
    }
}

}  // namespace
}  // namespace revenant::engine
