// Changes of the system clock: displayed times follow it, deadlines do not.
#include "tests/support/scenario.h"

#include <gtest/gtest.h>

namespace revenant::engine {
namespace {

constexpr Duration hour = seconds(3600);

struct SteppedClock {
    Scenario s;
    ScenarioChannel& c = s.open_channel();

    explicit SteppedClock(const char* strategy = "at-most-once") {
        c.declare_queue("dead");
        c.declare_queue("q", {{"x-queue-type", "quorum"},
                              {"x-overflow", "reject-publish"},
                              {"x-dead-letter-strategy", strategy},
                              {"x-message-ttl", 10'000},
                              {"x-dead-letter-exchange", ""},
                              {"x-dead-letter-routing-key", "dead"}});
        c.publish("q", "a");
    }
    std::vector<Death> deaths() { return c.get("dead").value().envelope->history.deaths; }
};

TEST(WallClock, AStepMakesNothingExpireAndDelaysNothing) {
    for (const Duration step : {hour, seconds(-3600)}) {
        SteppedClock k;
        k.s.engine().set_wall_ahead(step);
        k.s.tick();
        k.s.advance(milliseconds(9'999));
        EXPECT_EQ(k.s.ready("q"), std::vector<std::string>{"a"});
        k.s.advance(milliseconds(1));
        EXPECT_EQ(k.s.ready("dead"), std::vector<std::string>{"a"});
    }
}

TEST(WallClock, ADeathIsDatedByIt) {
    for (const char* strategy : {"at-most-once", "at-least-once"}) {
        SteppedClock k(strategy);
        k.s.engine().set_wall_ahead(hour);
        k.s.advance(seconds(10));
        const auto deaths = k.deaths();
        ASSERT_EQ(deaths.size(), 1U);
        EXPECT_EQ(deaths[0].first_time, k.s.now() + hour);
        EXPECT_EQ(deaths[0].last_time, k.s.now() + hour);
    }
}

TEST(WallClock, ADeathOfEarlierKeepsItsDate) {
    SteppedClock k;
    k.s.advance(seconds(10));
    const Timestamp died = k.s.now();
    k.s.engine().set_wall_ahead(hour);
    k.s.advance(seconds(10));
    const auto deaths = k.deaths();
    ASSERT_EQ(deaths.size(), 1U);
    EXPECT_EQ(deaths[0].last_time, died);
}

}  // namespace
}  // namespace revenant::engine
