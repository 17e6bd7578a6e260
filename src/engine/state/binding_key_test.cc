// Limits on the key of a new binding; existing bindings are not affected.
#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;

TEST(BindingKeys, ATopicBindingHasTwoHashesAtMost) {  // amqp091 7.4
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    // From a version without the limit.
    s.find_in_journal(Bound{"amq.topic", DestinationKind::queue, "q", "#.a.#.b.#", {}});
    ch.publish("x.a.b.y", "m", {.exchange = "amq.topic"});
    EXPECT_THAT(s.ready("q"), ElementsAre("m"));
    ch.bind("amq.topic", "q", "#.a.#.b.#");  // exists already
    ch.bind("amq.topic", "q", "#.c.#");
    const std::string text =
        "Topic binding key '#.a.#.b.#' uses 3 '#' wildcards, at most 2 are allowed";
    ch.bind("amq.topic", "amq.fanout", "#.a.#.b.#", {.to = DestinationKind::exchange});
    ch.expect_refused(RefusalKind::precondition_failed, text);
    ch.unbind("amq.topic", "q", "#.a.#.b.#");
    ch.bind("amq.topic", "q", "#.a.#.b.#");
    ch.expect_refused(RefusalKind::precondition_failed, text);
}

TEST(BindingKeys, AKeyIsAShortString) {
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.bind("amq.topic", "q", std::string(255, '.'));
    ch.bind("amq.topic", "q", std::string(256, '.'));
    ch.expect_refused(RefusalKind::precondition_failed, "a binding key has at most 255 bytes");
}

}  // namespace
}  // namespace revenant::engine
