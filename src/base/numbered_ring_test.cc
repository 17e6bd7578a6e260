#include "base/numbered_ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>

namespace revenant {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

struct Slot {
    int value = 0;
    bool is_free() const { return value == 0; }
};
using Ring = NumberedRing<Slot>;

std::vector<std::pair<std::uint64_t, int>> up_to(Ring& ring, std::uint64_t last) {
    std::vector<std::pair<std::uint64_t, int>> seen;
    ring.for_each_up_to(last, [&](std::uint64_t number, const Slot& slot) {
        seen.emplace_back(number, slot.value);
    });
    return seen;
}

TEST(NumberedRing, NumbersFromOneAndFindsByNumber) {
    Ring ring;
    EXPECT_EQ(ring.newest(), 0U);
    EXPECT_EQ(ring.add({10}), 1U);
    EXPECT_EQ(ring.add({20}), 2U);
    EXPECT_EQ(ring.newest(), 2U);
    EXPECT_EQ(ring.count(), 2U);
    EXPECT_EQ(ring.find(2)->value, 20);
    EXPECT_EQ(ring.find(0), nullptr);
    EXPECT_EQ(ring.find(3), nullptr);
    ring.remove(1);
    EXPECT_EQ(ring.find(1), nullptr);
    EXPECT_EQ(ring.count(), 1U);
}

TEST(NumberedRing, ASkippedNumberIsTakenByNothing) {
    Ring ring;
    EXPECT_EQ(ring.skip(), 1U);
    EXPECT_EQ(ring.add({1}), 2U);
    EXPECT_EQ(ring.skip(), 3U);
    EXPECT_EQ(ring.add({2}), 4U);
    EXPECT_EQ(ring.count(), 2U);
    EXPECT_EQ(ring.find(1), nullptr);
    EXPECT_EQ(ring.find(3), nullptr);
    EXPECT_THAT(up_to(ring, 4), ElementsAre(Pair(2, 1), Pair(4, 2)));
}

TEST(NumberedRing, VisitsBetweenTwoNumbers) {
    Ring ring;
    constexpr int many = 3000;  // the first ones become stragglers
    for (int i = 1; i <= many; ++i) {
        ring.add({i});
        if (i > 4) ring.remove(i);
    }
    ring.add({7});
    ring.add({8});
    std::vector<std::uint64_t> seen;
    const auto visit = [&](std::uint64_t number, const Slot&) { seen.push_back(number); };
    ring.for_each_between(2, many + 1, visit);
    EXPECT_THAT(seen, ElementsAre(2, 3, 4, many + 1));
    seen.clear();
    ring.for_each_between(5, many, visit);
    EXPECT_THAT(seen, ElementsAre());
}

TEST(NumberedRing, VisitsInOrderUpToANumber) {
    Ring ring;
    for (int i = 1; i <= 5; ++i) ring.add({i});
    ring.remove(2);
    EXPECT_THAT(up_to(ring, 4), ElementsAre(Pair(1, 1), Pair(3, 3), Pair(4, 4)));
    EXPECT_TRUE(up_to(ring, 0).empty());
}

TEST(NumberedRing, AnOldOneStaysWhileThousandsPass) {
    Ring ring;
    const std::uint64_t old_one = ring.add({7});
    for (int i = 0; i < 100'000; ++i) ring.remove(ring.add({1}));
    ASSERT_NE(ring.find(old_one), nullptr);
    EXPECT_EQ(ring.find(old_one)->value, 7);
    EXPECT_EQ(ring.count(), 1U);
    EXPECT_THAT(up_to(ring, ring.newest()), ElementsAre(Pair(old_one, 7)));
    ring.remove(old_one);
    EXPECT_EQ(ring.count(), 0U);
    EXPECT_EQ(ring.find(old_one), nullptr);
}

TEST(NumberedRing, DoesAsAMapWould) {
    std::mt19937_64 random(1);
    Ring ring;
    std::map<std::uint64_t, int> model;
    for (int step = 0; step < 50'000; ++step) {
        const auto dice = random() % 10;
        if (dice < 4) {
            const int value = 1 + static_cast<int>(random() % 1000);
            model.emplace(ring.add({value}), value);
        } else if (dice == 4) {
            ring.skip();
        } else if (!model.empty()) {
            // Removes the oldest element most of the time, and a random one occasionally.
            auto place = model.begin();
            if (dice == 5) place = std::next(place, static_cast<long>(random() % model.size()));
            ring.remove(place->first);
            model.erase(place);
        }
        ASSERT_EQ(ring.count(), model.size()) << "step " << step;
        const std::uint64_t asked = random() % (ring.newest() + 2);
        const auto known = model.find(asked);
        const Slot* const found = ring.find(asked);
        ASSERT_EQ(found == nullptr, known == model.end()) << "step " << step;
        if (found != nullptr) {
            ASSERT_EQ(found->value, known->second);
        }
    }
    const auto all = up_to(ring, ring.newest());
    EXPECT_EQ((std::map<std::uint64_t, int>(all.begin(), all.end())), model);
}

}  // namespace
}  // namespace revenant
