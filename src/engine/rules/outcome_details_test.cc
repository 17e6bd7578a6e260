// Details of outcomes: annotations of `modified` (DL-203), the error of `rejected`; and the
// counting of detached links (DL-150).
#include "base/probe.h"
#include "tests/support/scenario.h"

#include <gtest/gtest.h>

namespace revenant::engine {
namespace {

Annotation text(std::string key, std::string_view value) {
    return {std::move(key), "encoded " + std::string(value), Value::string(value)};
}

OutcomeDetails annotated(std::vector<Annotation> annotations) {
    OutcomeDetails details;
    details.annotations = std::move(annotations);
    return details;
}

OutcomeDetails failed_with(std::string condition, std::string description) {
    OutcomeDetails details;
    details.error = DeathError{std::move(condition), std::move(description)};
    return details;
}

constexpr Outcome released{OutcomeKind::released};
constexpr Outcome rejected{OutcomeKind::rejected, true};

struct Kitchen {
    Scenario s;
    ScenarioChannel& c = s.open_channel();

    explicit Kitchen(const char* type) {
        c.declare_exchange("dlx", "fanout");
        c.declare_queue("dead");
        c.bind("dlx", "dead");
        c.declare_queue("q", {{"x-queue-type", type}, {"x-dead-letter-exchange", "dlx"}});
        c.publish("q", "a");
    }
    Delivery next(const char* queue = "q") { return c.get(queue).value(); }
};

TEST(OutcomeDetails, AnnotationsAreShownAtTheNextDelivery) {
    Kitchen k("quorum");
    k.c.settle(k.next().tag, released, annotated({text("x-opt-why", "later")}));
    const Delivery again = k.next();
    ASSERT_TRUE(again.envelope);
    EXPECT_EQ(again.envelope->annotations, std::vector{text("x-opt-why", "later")});
    EXPECT_FALSE(again.envelope->has_died());
    EXPECT_EQ(again.exchange(), "");
    EXPECT_EQ(again.routing_key(), "q");
}

TEST(OutcomeDetails, LaterAnnotationsTakeThePlaceOfEarlierOnes) {
    Kitchen k("quorum");
    k.c.settle(k.next().tag, released, annotated({text("x-a", "1"), text("x-b", "1")}));
    k.c.settle(k.next().tag, released, annotated({text("x-b", "2"), text("x-c", "2")}));
    EXPECT_EQ(k.next().envelope->annotations,
              (std::vector{text("x-a", "1"), text("x-b", "2"), text("x-c", "2")}));
}

TEST(OutcomeDetails, AnnotationsDoNotGrowForEver) {
    Kitchen k("quorum");
    for (int i = 0; i < 8; ++i) {
        const std::string key = "x-" + std::to_string(i);
        k.c.settle(k.next().tag, released, annotated({text(key, std::string(10'000, 'a'))}));
    }
    EXPECT_EQ(k.next().envelope->annotations.size(), 6U);
    EXPECT_GT(Probe::hits("settle.too_many_annotations"), 0U);
}

TEST(OutcomeDetails, ClassicQueuesDiscardAnnotations) {
    Kitchen k("classic");
    k.c.settle(k.next().tag, released, annotated({text("x-a", "1")}));
    EXPECT_FALSE(k.next().envelope);
}

TEST(OutcomeDetails, AnnotationsGoAlongIntoDeath) {
    Kitchen k("quorum");
    k.c.settle(k.next().tag, {OutcomeKind::rejected}, annotated({text("x-a", "1")}));
    const Delivery dead = k.next("dead");
    EXPECT_EQ(dead.deaths(), std::vector<std::string>{"q rejected 1"});
    EXPECT_EQ(dead.envelope->annotations, std::vector{text("x-a", "1")});
    EXPECT_EQ(dead.exchange(), "dlx");
    EXPECT_EQ(dead.routing_key(), "q");
}

TEST(OutcomeDetails, ADeadLetterCanBeRoutedByAnnotations) {
    Scenario s;
    auto& c = s.open_channel();
    c.declare_exchange("dlx", "headers");
    c.declare_queue("left");
    c.declare_queue("right");
    c.bind("dlx", "left", "",
           {.arguments = arguments({{"x-match", "any-with-x"}, {"x-way", "l"}})});
    c.bind("dlx", "right", "",
           {.arguments = arguments({{"x-match", "any-with-x"}, {"x-way", "r"}})});
    c.declare_queue("q", {{"x-queue-type", "quorum"}, {"x-dead-letter-exchange", "dlx"}});
    c.publish("q", "a");
    c.settle(c.get("q")->tag, {OutcomeKind::rejected}, annotated({text("x-way", "r")}));
    EXPECT_TRUE(s.ready("left").empty());
    EXPECT_EQ(s.ready("right"), std::vector<std::string>{"a"});
}

TEST(OutcomeDetails, AMessageThatWasAnnotatedStillDiesWithAllItsKeysAndItsTimeToLive) {
    Scenario s;
    auto& c = s.open_channel();
    c.declare_exchange("dlx", "fanout");
    c.declare_queue("dead");
    c.bind("dlx", "dead");
    c.declare_queue("q", {{"x-queue-type", "quorum"}, {"x-dead-letter-exchange", "dlx"}});
    c.publish("q", "a", {.ttl_ms = 50'000, .cc = {"other"}, .bcc = {"secret"}});
    c.settle(c.get("q")->tag, released, annotated({text("x-a", "1")}));
    c.nack(c.get("q")->tag);
    const Delivery dead = c.get("dead").value();
    ASSERT_EQ(dead.envelope->history.deaths.size(), 1U);
    const Death& death = dead.envelope->history.deaths[0];
    EXPECT_EQ(death.routing_keys, (std::vector<std::string>{"q", "other"}));
    EXPECT_EQ(death.ttl_ms, 50'000);
    EXPECT_EQ(dead.envelope->routing_keys, std::vector<std::string>{"q"});
    EXPECT_FALSE(dead.envelope->keys_replaced);
}

TEST(OutcomeDetails, TheErrorOfARejectionIsKeptWithTheDeath) {
    for (const char* type : {"classic", "quorum"}) {
        Kitchen k(type);
        k.c.settle(k.next().tag, rejected, failed_with("app:bad", "no such customer"));
        EXPECT_EQ(k.next("dead").envelope->error, (DeathError{"app:bad", "no such customer"}));
    }
}

TEST(OutcomeDetails, AnErrorNobodyCouldReadIsNotKept) {
    Scenario s;
    auto& c = s.open_channel();
    c.declare_queue("q");
    c.publish("q", "a");
    c.settle(c.get("q")->tag, rejected, failed_with("app:bad", ""));
    EXPECT_EQ(s.ended(Ending::no_dlx), 1U);
}

TEST(OutcomeDetails, TheLastErrorGivenStays) {
    Scenario s;
    auto& c = s.open_channel();
    c.declare_queue("q", {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", "wait"}});
    c.declare_queue("wait", {{"x-dead-letter-exchange", ""},
                             {"x-dead-letter-routing-key", "q"},
                             {"x-message-ttl", 100}});
    c.publish("q", "a");
    c.settle(c.get("q")->tag, rejected, failed_with("app:bad", "1"));
    s.advance(milliseconds(100));
    const Delivery again = c.get("q").value();
    EXPECT_EQ(again.deaths(), (std::vector<std::string>{"wait expired 1", "q rejected 1"}));
    EXPECT_EQ(again.envelope->error, (DeathError{"app:bad", "1"}));
    c.settle(again.tag, rejected, failed_with("app:worse", "2"));
    s.advance(milliseconds(100));
    EXPECT_EQ(c.get("q")->envelope->error, (DeathError{"app:worse", "2"}));
}

TEST(OutcomeDetails, OfATransactionAreThoseOutsideOfOne) {
    Kitchen k("quorum");
    k.c.publish("q", "b");
    k.c.publish("q", "c");
    const Delivery a = k.next();
    const Delivery b = k.next();
    const Delivery c = k.next();
    k.c.select();
    k.c.settle(a.tag, released, annotated({text("x-a", "1")}));
    k.c.settle(b.tag, released, annotated({text("x-a", "2")}));
    k.c.settle(c.tag, rejected, failed_with("app:bad", "no such customer"));
    k.c.commit();
    EXPECT_EQ(k.next("dead").envelope->error, (DeathError{"app:bad", "no such customer"}));
    for (const char* value : {"1", "2"}) {
        const Delivery again = k.next();
        ASSERT_TRUE(again.envelope);
        EXPECT_EQ(again.envelope->annotations, std::vector{text("x-a", value)});
    }
}

TEST(OutcomeDetails, ARollbackForgetsThem) {
    Kitchen k("quorum");
    const Delivery a = k.next();
    k.c.select();
    k.c.settle(a.tag, released, annotated({text("x-a", "1")}));
    k.c.rollback();
    k.c.settle(a.tag, released);
    k.c.commit();
    EXPECT_FALSE(k.next().envelope);
}

TEST(OutcomeDetails, OfATransactionCountTowardsItsLimit) {
    Kitchen k("quorum");
    for (int i = 0; i < 3; ++i) k.c.publish("q", "more");
    std::uint64_t last = 0;
    for (int i = 0; i < 4; ++i) last = k.next().tag;
    k.c.select();
    const auto details = annotated({text("x-a", std::string(17UL * 1024 * 1024, 'a'))});
    for (std::uint64_t tag = last - 3; tag <= last; ++tag) k.c.settle(tag, released, details);
    k.c.expect_refused(RefusalKind::precondition_failed,
                       "transaction exceeds the limit of 67108864 bytes");
}

// DL-164
struct ToldWhen {
    Scenario s;
    ScenarioChannel& c = s.open_channel();
    OutcomeDetails at(Duration from_now) {
        OutcomeDetails details;
        details.delivery_time = s.now() + from_now;
        return details;
    }
    std::vector<std::string> seen() { return s.ready("q"); }
};

TEST(DeliveryTime, DelaysOneMessageWhateverTheQueueSays) {
    ToldWhen t;
    t.c.declare_queue("q", {{"x-queue-type", "quorum"}});
    t.c.publish("q", "later");
    t.c.publish("q", "now");
    t.c.settle(t.c.get("q")->tag, released, t.at(seconds(10)));
    EXPECT_EQ(t.seen(), std::vector<std::string>{"now"});
    t.s.advance(seconds(9));
    EXPECT_EQ(t.seen(), std::vector<std::string>{"now"});
    t.s.advance(seconds(1));
    EXPECT_EQ(t.seen(), (std::vector<std::string>{"later", "now"}));
}

TEST(DeliveryTime, InThePastMeansAtOnceEvenWhereTheQueueDelays) {
    ToldWhen t;
    t.c.declare_queue("q", {{"x-queue-type", "quorum"},
                            {"x-delayed-retry-type", "all"},
                            {"x-delayed-retry-min", 60'000}});
    t.c.publish("q", "a");
    t.c.settle(t.c.get("q")->tag, released, t.at(seconds(-1)));
    EXPECT_EQ(t.seen(), std::vector<std::string>{"a"});
}

TEST(DeliveryTime, OverridesTheDelayOfTheQueue) {
    ToldWhen t;
    t.c.declare_queue("q", {{"x-queue-type", "quorum"},
                            {"x-delayed-retry-type", "all"},
                            {"x-delayed-retry-min", 60'000}});
    t.c.publish("q", "a");
    t.c.settle(t.c.get("q")->tag, released, t.at(seconds(5)));
    t.s.advance(seconds(5));
    EXPECT_EQ(t.seen(), std::vector<std::string>{"a"});
}

TEST(DeliveryTime, IsATimeOfTheWallClock) {
    ToldWhen t;
    t.s.engine().set_wall_ahead(seconds(3600));
    t.c.declare_queue("q", {{"x-queue-type", "quorum"}});
    t.c.publish("q", "a");
    t.c.settle(t.c.get("q")->tag, released, t.at(seconds(3610)));
    t.s.advance(seconds(9));
    EXPECT_TRUE(t.seen().empty());
    t.s.advance(seconds(1));
    EXPECT_EQ(t.seen(), std::vector<std::string>{"a"});
}

TEST(DeliveryTime, MeansNothingToAClassicQueue) {
    ToldWhen t;
    t.c.declare_queue("q");
    t.c.publish("q", "a");
    t.c.settle(t.c.get("q")->tag, released, t.at(seconds(5)));
    EXPECT_EQ(t.seen(), std::vector<std::string>{"a"});
}

// DL-150
TEST(DetachedLink, IsForgivenByQuorumQueuesOnly) {
    for (const bool quorum : {false, true}) {
        Scenario s;
        auto& c = s.open_channel();
        auto& link = s.open_channel();
        c.declare_queue("q", {{"x-queue-type", quorum ? "quorum" : "classic"}});
        c.publish("q", "a");
        link.set_credit(link.consume("q", {.uses_credit = true}), 1);
        EXPECT_EQ(link.take_bodies(), std::vector<std::string>{"a"});
        link.detach();
        c.consume("q");
        const Delivery again = c.take_delivery();
        EXPECT_TRUE(again.redelivered);
        EXPECT_EQ(again.failed_deliveries, quorum ? 0U : 1U);
    }
}

TEST(OneOutcome, OfARefusedMessageLeavesTheChannelOpen) {
    Scenario s;
    auto& c = s.open_channel();
    c.publish("k", "a", {.exchange = "none", .confirm = true, .single_outcome = true});
    EXPECT_TRUE(c.is_open());
    const auto told = c.take_publish_refusals();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].sequence, 1U);
    EXPECT_EQ(told[0].refusal,
              (Refusal{RefusalKind::not_found, "no exchange 'none' in vhost '/'"}));
    EXPECT_TRUE(c.take_confirms().empty());
}

TEST(OneOutcome, NamesTheQueueThatIsFull) {
    Scenario s;
    auto& c = s.open_channel();
    c.declare_queue("q", {{"x-max-length", 1}, {"x-overflow", "reject-publish"}});
    c.publish("q", "a", {.confirm = true, .single_outcome = true});
    c.publish("q", "b", {.confirm = true, .single_outcome = true});
    const auto told = c.take_publish_refusals();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].sequence, 2U);
    EXPECT_EQ(told[0].full_queue, "q");
    const auto confirms = c.take_confirms();
    ASSERT_EQ(confirms.size(), 1U);
    EXPECT_EQ(confirms[0].sequence, 1U);
    EXPECT_TRUE(confirms[0].accepted);
}

TEST(OneOutcome, OfAMessageForNobodyIsItsReturn) {
    Scenario s;
    auto& c = s.open_channel();
    c.publish("nobody", "a", {.mandatory = true, .confirm = true, .single_outcome = true});
    EXPECT_EQ(c.take_returns(), std::vector<std::string>{"a"});
    EXPECT_TRUE(c.take_confirms().empty());
    c.publish("nobody", "b", {.confirm = true, .single_outcome = true});
    EXPECT_TRUE(c.take_returns().empty());
    ASSERT_EQ(c.take_confirms().size(), 1U);
}

}  // namespace
}  // namespace revenant::engine
