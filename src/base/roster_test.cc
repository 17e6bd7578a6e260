#include "base/roster.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>
#include <vector>

namespace revenant {
namespace {

struct Guest {
    explicit Guest(int own_name) : name(own_name) {}
    int name;
    Roster<Guest>::Place place;
};

class RosterTest : public testing::Test {
  protected:
    Guest& come(int name) {
        guests_.push_back(std::make_unique<Guest>(name));
        roster_.enter(*guests_.back(), guests_.back()->place);
        return *guests_.back();
    }
    void go(int name) {
        std::erase_if(guests_, [&](const auto& guest) { return guest->name == name; });
    }
    // Visits all members, in parts of this size.
    std::vector<int> walk(std::size_t portion) {
        std::vector<int> names;
        Roster<Guest>::Seen seen{0, false};
        while (!seen.all) {
            seen = roster_.walk(seen.last, portion, [&](const Guest& guest) {
                names.push_back(guest.name);
                return true;
            });
        }
        return names;
    }

    Roster<Guest> roster_;
    std::vector<std::unique_ptr<Guest>> guests_;
};

TEST_F(RosterTest, MembersAreSeenInTheOrderTheyCame) {
    EXPECT_EQ(walk(2), std::vector<int>{});
    for (const int name : {5, 3, 9, 1, 7}) come(name);
    for (const std::size_t portion : {1, 2, 3, 5, 100}) {
        EXPECT_EQ(walk(portion), (std::vector{5, 3, 9, 1, 7})) << portion;
    }
    EXPECT_EQ(roster_.size(), 5U);
}

TEST_F(RosterTest, WhoeverEndsHasLeft) {
    for (int name = 0; name < 6; ++name) come(name);
    for (const int name : {0, 3, 5}) go(name);
    EXPECT_EQ(walk(2), (std::vector{1, 2, 4}));
    EXPECT_EQ(roster_.size(), 3U);
    guests_.clear();
    EXPECT_EQ(roster_.size(), 0U);
    EXPECT_EQ(walk(2), std::vector<int>{});
}

TEST_F(RosterTest, APlaceCanBeGivenBackEarly) {
    Guest& guest = come(1);
    come(2);
    guest.place.leave();
    guest.place.leave();
    EXPECT_EQ(walk(1), std::vector{2});
    roster_.enter(guest, guest.place);
    EXPECT_EQ(walk(1), (std::vector{2, 1}));
}

TEST_F(RosterTest, AVisitorMayHaveHadEnough) {
    for (int name = 0; name < 4; ++name) come(name);
    int seen = 0;
    const auto enough = roster_.walk(0, 100, [&](const Guest&) { return ++seen < 2; });
    EXPECT_EQ(seen, 2);
    EXPECT_FALSE(enough.all);
    const auto rest = roster_.walk(enough.last, 100, [&](const Guest&) { return ++seen < 4; });
    EXPECT_EQ(seen, 4);
    EXPECT_TRUE(rest.all);
}

// Members enter and leave between the parts. Each member that is present throughout is visited
// once, and no member twice.
TEST_F(RosterTest, AWalkIsNotHarmedByWhatHappensInBetween) {
    std::mt19937 random(7);
    for (int round = 0; round < 50; ++round) {
        guests_.clear();
        int next = 0;
        std::set<int> stayed;
        for (; next < 300; ++next) {
            come(next);
            stayed.insert(next);
        }
        std::multiset<int> seen;
        Roster<Guest>::Seen at{0, false};
        for (int portions = 0; !at.all && portions < 2000; ++portions) {
            at = roster_.walk(at.last, 1 + random() % 20, [&](const Guest& guest) {
                seen.insert(guest.name);
                return true;
            });
            for (std::uint64_t i = random() % 30; i > 0 && !guests_.empty(); --i) {
                const int gone = guests_[random() % guests_.size()]->name;
                stayed.erase(gone);
                go(gone);
            }
            if (next < 400) come(next++);
        }
        ASSERT_TRUE(at.all);
        for (const int name : stayed) EXPECT_EQ(seen.count(name), 1U);
        for (const int name : seen) EXPECT_EQ(seen.count(name), 1U);
    }
}

TEST_F(RosterTest, SlotsOfThoseWhoLeftAreNotKept) {
    come(-1);
    for (int name = 0; name < 10'000; ++name) {
        come(name);
        if (name >= 10) go(name - 10);
    }
    // A walk with a limit above the number of members visits all of them.
    std::size_t seen = 0;
    EXPECT_TRUE(roster_.walk(0, 200, [&](const Guest&) { return ++seen < 1000; }).all);
    EXPECT_EQ(seen, roster_.size());
    EXPECT_EQ(seen, 11U);
}

}  // namespace
}  // namespace revenant
