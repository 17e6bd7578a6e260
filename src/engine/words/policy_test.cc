#include "engine/words/policy.h"

#include "base/probe.h"
#include "engine/state/queue.h"
#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;

QueueSettings in_force(std::initializer_list<Argument> given,
                       std::initializer_list<Argument> policy = {},
                       QueueKind kind = QueueKind::classic,
                       Compatibility compatibility = Compatibility::v4_3) {
    QueueDeclaration declaration;
    declaration.kind = kind;
    declaration.arguments = arguments(given);
    return effective_settings(declaration, {"p", "", arguments(policy)}, compatibility);
}

TEST(QueueSettings, WithoutArgumentsNothingIsLimited) {
    EXPECT_EQ(in_force({}), QueueSettings{});
    EXPECT_EQ(QueueSettings{}.overflow, Overflow::drop_head);  // DL-137
}

TEST(QueueSettings, ComeFromTheArguments) {
    const QueueSettings settings = in_force({
        {"x-message-ttl", 1},
        {"x-expires", 2},
        {"x-max-length", 3},
        {"x-max-length-bytes", 4L},
        {"x-overflow", "reject-publish-dlx"},
        {"x-dead-letter-exchange", ""},
        {"x-dead-letter-routing-key", ""},
        {"x-single-active-consumer", true},
    });
    QueueSettings expected;
    expected.message_ttl_ms = 1;
    expected.expires_ms = 2;
    expected.max_length = 3;
    expected.max_length_bytes = 4;
    expected.overflow = Overflow::reject_publish_dlx;
    expected.dead_letter_exchange = "";     // DL-26: the default exchange, not "not set"
    expected.dead_letter_routing_key = "";  // DL-27
    expected.single_active_consumer = true;
    EXPECT_EQ(settings, expected);
    EXPECT_EQ(in_force({{"x-overflow", "reject-publish"}}).overflow, Overflow::reject_publish);
    EXPECT_FALSE(in_force({{"x-single-active-consumer", false}}).single_active_consumer);
}

TEST(QueueSettings, EachKeyIsResolvedOnItsOwn) {  // management 4.14b; DL-23, DL-24
    const QueueSettings settings = in_force({{"x-dead-letter-exchange", "mine"},
                                             {"x-message-ttl", 10},
                                             {"x-max-length", 1},
                                             {"x-expires", 7}},
                                            {{"dead-letter-exchange", "policy"},
                                             {"dead-letter-routing-key", "key"},
                                             {"message-ttl", 5},
                                             {"max-length", 2},
                                             {"max-length-bytes", 9},
                                             {"expires", 8}});
    EXPECT_EQ(settings.dead_letter_exchange, "mine");
    EXPECT_EQ(settings.dead_letter_routing_key, "key");
    EXPECT_EQ(settings.message_ttl_ms, 5);
    EXPECT_EQ(settings.max_length, 1);
    EXPECT_EQ(settings.max_length_bytes, 9);
    EXPECT_EQ(settings.expires_ms, 7);
}

TEST(QueueSettings, OverflowIsTheArgumentsForClassicAndThePolicysForQuorumQueues) {  // DL-23
    const auto overflow = [](QueueKind kind) {
        return in_force({{"x-overflow", "reject-publish"}}, {{"overflow", "drop-head"}}, kind)
            .overflow;
    };
    EXPECT_EQ(overflow(QueueKind::classic), Overflow::reject_publish);
    EXPECT_EQ(overflow(QueueKind::quorum), Overflow::drop_head);
    EXPECT_EQ(in_force({{"x-overflow", "reject-publish-dlx"}}, {}, QueueKind::quorum).overflow,
              Overflow::drop_head);  // DL-47
}

TEST(QueueSettings, AtLeastOnceNeedsAnExchangeAndRejectPublish) {  // DL-171
    const auto guarded = [](std::initializer_list<Argument> given) {
        return in_force(given, {}, QueueKind::quorum).at_least_once;
    };
    EXPECT_TRUE(guarded({{"x-dead-letter-exchange", ""},
                         {"x-dead-letter-strategy", "at-least-once"},
                         {"x-overflow", "reject-publish"}}));
    EXPECT_FALSE(
        guarded({{"x-dead-letter-exchange", ""}, {"x-dead-letter-strategy", "at-least-once"}}));
    EXPECT_FALSE(
        guarded({{"x-dead-letter-strategy", "at-least-once"}, {"x-overflow", "reject-publish"}}));
    EXPECT_FALSE(guarded({{"x-dead-letter-exchange", ""}, {"x-overflow", "reject-publish"}}));
}

TEST(QueueSettings, TheTighterDeliveryLimitHolds) {  // DL-148, DL-149, DL-41
    using Limit = std::optional<std::int64_t>;
    const auto limit = [](std::initializer_list<Argument> given,
                          std::initializer_list<Argument> policy) {
        return in_force(given, policy, QueueKind::quorum).delivery_limit;
    };
    EXPECT_EQ(limit({}, {}), Limit(20));
    EXPECT_EQ(limit({{"x-delivery-limit", "many"}}, {}), Limit(20));
    EXPECT_EQ(limit({{"x-delivery-limit", -1}}, {}), Limit());
    EXPECT_EQ(limit({{"x-delivery-limit", -1}}, {{"delivery-limit", 50}}), Limit(50));
    EXPECT_EQ(limit({{"x-delivery-limit", 3}}, {{"delivery-limit", -1}}), Limit(3));
    EXPECT_EQ(limit({{"x-delivery-limit", 3}}, {{"delivery-limit", 2}}), Limit(2));
    EXPECT_EQ(in_force({}, {}, QueueKind::quorum, Compatibility::v3_12).delivery_limit, Limit());
}

TEST(QueueSettings, DelayedRetryNeedsAMinimum) {  // DL-160, DL-23
    const auto settings = [](std::initializer_list<Argument> given,
                             std::initializer_list<Argument> policy = {}) {
        return in_force(given, policy, QueueKind::quorum);
    };
    EXPECT_EQ(settings({{"x-delayed-retry-type", "all"}}).delayed_retry, DelayedRetry::disabled);
    const QueueSettings both = settings(
        {{"x-delayed-retry-type", "all"}, {"x-delayed-retry-min", 10}, {"x-delayed-retry-max", 50}},
        {{"delayed-retry-type", "failed"}, {"delayed-retry-max", 30}});
    EXPECT_EQ(both.delayed_retry, DelayedRetry::failed);
    EXPECT_EQ(both.retry_min_ms, 10);
    EXPECT_EQ(both.retry_max_ms, 30);
    EXPECT_EQ(
        settings({{"x-delayed-retry-type", "nonsense"}, {"x-delayed-retry-min", 10}}).delayed_retry,
        DelayedRetry::disabled);  // DL-41
}

Policy policy(std::string name, std::string pattern, std::initializer_list<Argument> definition,
              std::int64_t priority = 0, ApplyTo apply_to = ApplyTo::all) {
    return {std::move(name), std::move(pattern), apply_to, priority, arguments(definition)};
}

std::string fault(std::initializer_list<Argument> definition,
                  PolicyScope scope = PolicyScope::user) {
    return check_policy(scope, policy("p", ".*", definition)).value_or("accepted");
}

TEST(PolicyChecks, BadValuesAreNamed) {  // DL-195, DL-197
    EXPECT_EQ(fault({{"dead-letter-exchange", 1}}), "1 is not a valid dead letter exchange name");
    EXPECT_EQ(fault({{"dead-letter-routing-key", true}}),
              "true is not a valid dead letter routing key");
    EXPECT_EQ(fault({{"dead-letter-strategy", "always"}}),
              "<<\"always\">> is not a valid dead letter strategy");
    EXPECT_EQ(fault({{"message-ttl", -1}}), "-1 is not a valid message TTL");
    // RabbitMQ has no maximum (DL-196).
    EXPECT_EQ(fault({{"message-ttl", 315'360'000'000L}}), "accepted");
    EXPECT_EQ(fault({{"message-ttl", 315'360'000'001L}}),
              "315360000001 is not a valid message TTL: at most 315360000000");
    EXPECT_EQ(fault({{"expires", 0}}), "0 is not a valid queue expiry");
    EXPECT_EQ(fault({{"max-length", "x"}}), "<<\"x\">> is not a valid maximum length");
    EXPECT_EQ(fault({{"max-length-bytes", -5}}), "-5 is not a valid maximum length in bytes");
    EXPECT_EQ(fault({{"overflow", "spill"}}), "<<\"spill\">> is not a valid overflow value");
    EXPECT_EQ(fault({{"delivery-limit", "x"}}), "<<\"x\">> is not a valid delivery limit");
    EXPECT_EQ(fault({{"delivery-limit", -1}}), "accepted");
    EXPECT_EQ(fault({{"ttl-mode", "head"}}), "accepted");
    EXPECT_EQ(fault({{"max-length", Value::nothing()}}), "null is not a valid maximum length");
    EXPECT_EQ(fault({{"dead-letter-exchange", Value::table(arguments({{"a", 1}}))}}),
              "#{<<\"a\">> => 1} is not a valid dead letter exchange name");
}

TEST(PolicyChecks, NamesFitIntoADelivery) {
    const std::string too_long(256, 'k');
    for (const auto& [key, meaning] :
         {std::pair{"dead-letter-exchange", "dead letter exchange name"},
          std::pair{"dead-letter-routing-key", "dead letter routing key"},
          std::pair{"alternate-exchange", "alternate exchange name"}}) {
        EXPECT_EQ(fault({{key, std::string(255, 'k')}}), "accepted");
        EXPECT_EQ(fault({{key, too_long}}),
                  "<<\"" + too_long + "\">> is not a valid " + std::string(meaning));
    }
}

// The journal may contain such a name from a version that accepted it.
TEST(QueueSettings, ANameThatNoDeliveryCanCarryCountsAsNone) {
    const QueueSettings settings = in_force(
        {{"x-dead-letter-exchange", "x"}, {"x-dead-letter-routing-key", std::string(256, 'k')}});
    EXPECT_EQ(settings.dead_letter_exchange, "x");
    EXPECT_EQ(settings.dead_letter_routing_key, std::nullopt);
}

TEST(PolicyChecks, ThePatternAndTheKeysMustMakeSense) {  // DL-192, DL-197
    EXPECT_EQ(fault({}), "no policy provided");
    EXPECT_EQ(fault({{"colour", "blue"}}),
              "[{<<\"colour\">>,<<\"blue\">>}] are not recognised policy settings");
    EXPECT_EQ(fault({{"max-length", 1}, {"max-length", 2}}),
              "max-length duplicate keys not allowed");
    const auto bad = check_policy(PolicyScope::user, policy("p", "(", {{"max-length", 1}}));
    ASSERT_TRUE(bad);
    EXPECT_TRUE(bad->starts_with("pattern should be regular expression but is invalid: ")) << *bad;
    EXPECT_TRUE(
        check_policy(PolicyScope::user, policy("p", std::string(1025, 'a'), {{"max-length", 1}})));
}

TEST(PolicyChecks, RetriesNeedTheirTimes) {  // DL-196
    EXPECT_NE(fault({{"delayed-retry-type", "all"}}), "accepted");
    EXPECT_EQ(fault({{"delayed-retry-type", "disabled"}}), "accepted");
    EXPECT_NE(fault({{"delayed-retry-min", 5}, {"delayed-retry-max", 4}}), "accepted");
    EXPECT_EQ(fault({{"delayed-retry-type", "all"}, {"delayed-retry-min", 5}}), "accepted");
}

TEST(PolicyChecks, AnOperatorMayOnlyLimit) {  // DL-198
    EXPECT_EQ(fault({{"max-length", 1}}, PolicyScope::operator_only), "accepted");
    EXPECT_EQ(fault({{"dead-letter-exchange", "x"}}, PolicyScope::operator_only),
              "[{<<\"dead-letter-exchange\">>,<<\"x\">>}] are not recognised policy settings");
}

TEST(PolicyTable, TheHighestPriorityAmongTheMatchingWins) {  // DL-193
    PolicyTable book;
    book.set(PolicyScope::user, policy("low", "^q", {{"max-length", 1}}, 1));
    book.set(PolicyScope::user, policy("high", "^q1", {{"max-length", 2}}, 2));
    book.set(PolicyScope::user, policy("equal", "^q1", {{"max-length", 3}}, 2));
    EXPECT_EQ(book.for_queue(QueueKind::classic, "q1").policy, "equal");  // the first by name
    EXPECT_EQ(book.for_queue(QueueKind::classic, "q2").policy, "low");
    EXPECT_EQ(book.for_queue(QueueKind::classic, "other").policy, "");
    book.clear(PolicyScope::user, "equal");
    EXPECT_EQ(book.for_queue(QueueKind::classic, "q1").policy, "high");
}

TEST(PolicyTable, LooksAheadAndSearchesAnywhere) {  // DL-192
    PolicyTable book;
    book.set(PolicyScope::user, policy("p", "^(?!amq\\.).*ow", {{"max-length", 1}}));
    EXPECT_EQ(book.for_queue(QueueKind::classic, "slow one").policy, "p");
    EXPECT_EQ(book.for_queue(QueueKind::classic, "amq.slow").policy, "");
    EXPECT_EQ(book.for_queue(QueueKind::classic, "SLOW").policy, "");
}

TEST(PolicyTable, APolicyWithAnUnsupportedKeyIsPassedOver) {  // DL-194
    PolicyTable book;
    book.set(PolicyScope::user,
             policy("p", ".*", {{"dead-letter-exchange", "x"}, {"delivery-limit", 3}}));
    book.set(PolicyScope::user, policy("q", ".*", {{"dead-letter-exchange", "y"}}, -1));
    EXPECT_EQ(book.for_queue(QueueKind::classic, "a").policy, "q");
    EXPECT_EQ(book.for_queue(QueueKind::quorum, "a").policy, "p");
}

TEST(PolicyTable, AppliesToWhatItNames) {  // DL-191
    const auto applied = [](ApplyTo apply_to) {
        PolicyTable book;
        book.set(PolicyScope::user, policy("p", ".*", {{"message-ttl", 1}}, 0, apply_to));
        std::string to;
        if (!book.for_queue(QueueKind::classic, "a").policy.empty()) to += 'c';
        if (!book.for_queue(QueueKind::quorum, "a").policy.empty()) to += 'q';
        if (!book.for_exchange("a").policy.empty()) to += 'x';
        return to;
    };
    EXPECT_EQ(applied(ApplyTo::all), "cqx");
    EXPECT_EQ(applied(ApplyTo::queues), "cq");
    EXPECT_EQ(applied(ApplyTo::classic_queues), "c");
    EXPECT_EQ(applied(ApplyTo::quorum_queues), "q");
    EXPECT_EQ(applied(ApplyTo::streams), "");
    EXPECT_EQ(applied(ApplyTo::exchanges), "x");
    EXPECT_EQ(parse_apply_to("quorum_queues"), ApplyTo::quorum_queues);
    EXPECT_EQ(parse_apply_to("Queues"), std::nullopt);
}

TEST(PolicyTable, TheOperatorsLimitsTighten) {  // management 4.14a; DL-25, DL-199, DL-200
    PolicyTable book;
    book.set(PolicyScope::user, policy("mine", ".*",
                                       {{"message-ttl", 5},
                                        {"overflow", "drop-head"},
                                        {"delivery-limit", -1},
                                        {"dead-letter-exchange", "x"}}));
    book.set(PolicyScope::operator_only, policy("theirs", ".*",
                                                {{"message-ttl", 3},
                                                 {"overflow", "reject-publish"},
                                                 {"delivery-limit", 7},
                                                 {"max-length", 10}}));
    const AppliedPolicy both = book.for_queue(QueueKind::quorum, "q");
    EXPECT_EQ(both.policy, "mine");
    EXPECT_EQ(both.operator_policy, "theirs");
    EXPECT_EQ(display(Value::table(both.definition)),
              display(Value::table(arguments({{"dead-letter-exchange", "x"},
                                              {"delivery-limit", 7L},
                                              {"max-length", 10},
                                              {"message-ttl", 3L},
                                              {"overflow", "reject-publish"}}))));
}

// amqp091 8.20, management 4.14c; DL-29
TEST(PolicyChange, TheExchangeInForceAtTheMomentOfDeathIsUsed) {
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
    ch.declare_queue("dead");
    ch.declare_queue("q");
    for (const char* body : {"a", "b", "c"}) ch.publish("q", body);
    ch.nack(ch.get("q")->tag);
    const auto b = ch.get("q");
    ch.set_policy(
        policy("p", "^q$", {{"dead-letter-exchange", ""}, {"dead-letter-routing-key", "dead"}}));
    ch.nack(b->tag);
    ch.clear_policy("p");
    ch.nack(ch.get("q")->tag);
    EXPECT_THAT(s.ready("dead"), ElementsAre("b"));
    EXPECT_EQ(s.ended(Ending::no_dlx), 2U);
}

TEST(PolicyChange, AShrinkingLimitDropsTheSurplusAtOnce) {  // DL-10, DL-30
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
    ch.declare_queue("dead");
    ch.declare_queue("q");
    for (const char* body : {"a", "b", "c"}) ch.publish("q", body);
    ch.set_policy(policy(
        "p", "^q$",
        {{"dead-letter-exchange", ""}, {"dead-letter-routing-key", "dead"}, {"max-length", 1}}));
    EXPECT_THAT(s.ready("q"), ElementsAre("c"));
    EXPECT_THAT(s.ready("dead"), ElementsAre("a", "b"));
}

TEST(PolicyChange, ATimeToLiveIsNotRetroactive) {  // DL-123
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
    ch.declare_queue("q");
    ch.publish("q", "old");
    ch.set_policy(policy("p", ".*", {{"message-ttl", 1}}));
    ch.publish("q", "new");
    s.advance(milliseconds(10));
    EXPECT_THAT(s.ready("q"), ElementsAre("old"));
}

TEST(PolicyChange, AQueueBeginsToExpireWhenThePolicyComes) {  // DL-134
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
    ch.declare_queue("q");
    s.advance(milliseconds(50));
    ch.set_policy(policy("p", ".*", {{"expires", 100}}));
    s.advance(milliseconds(99));
    EXPECT_TRUE(s.has_queue("q"));
    ch.set_policy(policy("p", ".*", {{"expires", 20}}));
    s.advance(milliseconds(19));
    EXPECT_TRUE(s.has_queue("q"));
    s.advance(milliseconds(1));
    EXPECT_FALSE(s.has_queue("q"));
}

TEST(PolicyChange, GivesExchangesAnAlternate) {  // DL-195
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
    ch.declare_exchange("other", "fanout");
    ch.declare_exchange("x", "direct");
    ch.declare_queue("q");
    ch.bind("other", "q");
    ch.publish("k", "lost", {.exchange = "x"});
    ch.set_policy(policy("p", "^x$", {{"alternate-exchange", "other"}}));
    ch.publish("k", "saved", {.exchange = "x"});
    ch.clear_policy("p");
    ch.publish("k", "lost again", {.exchange = "x"});
    EXPECT_THAT(s.ready("q"), ElementsAre("saved"));
}

TEST(PolicyChange, LeavesTheDefaultExchangeAlone) {  // amqp091 7.1
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
    ch.declare_queue("q");
    ch.bind("amq.fanout", "q");
    ch.set_policy(policy("p", ".*", {{"alternate-exchange", "amq.fanout"}}));
    ch.publish("nowhere", "a");
    EXPECT_THAT(s.ready("q"), ::testing::IsEmpty());
}

TEST(PolicyChange, ABadPolicyChangesNothing) {
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
    ch.set_policy(policy("p", ".*", {{"max-length", -1}}));
    ch.expect_refused(RefusalKind::precondition_failed, "-1 is not a valid maximum length");
    ch.clear_policy("p");
    ch.expect_refused(RefusalKind::not_found, "no policy 'p' in vhost '/'");
}

TEST(TtlModeHead, ExpiresOnlyAtTheHead) {  // DL-128
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
    ch.declare_queue("q");
    ch.set_policy(policy("p", ".*", {{"ttl-mode", "head"}}));
    ch.publish("q", "long", {.ttl_ms = 100});
    ch.publish("q", "short", {.ttl_ms = 10});
    ch.publish("q", "forever");
    s.advance(milliseconds(50));
    EXPECT_THAT(s.ready("q"), ElementsAre("long", "short", "forever"));
    ch.ack(ch.get("q")->tag);
    EXPECT_THAT(s.ready("q"), ElementsAre("forever"));
    ch.publish("q", "behind", {.ttl_ms = 1});
    s.advance(milliseconds(5));
    ch.consume("q", {.no_ack = true});
    EXPECT_THAT(ch.take_bodies(), ElementsAre("forever"));
}

TEST(TtlModeHead, LooksAgainWhenTheHeadWasDropped) {
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
    ch.declare_queue("q");
    ch.set_policy(policy("p", ".*", {{"ttl-mode", "head"}}));
    ch.publish("q", "forever");
    ch.publish("q", "short", {.ttl_ms = 10});
    ch.publish("q", "forever too");
    s.advance(milliseconds(50));
    ch.set_policy(policy("p", ".*", {{"ttl-mode", "head"}, {"max-length", 2}}));
    EXPECT_THAT(s.ready("q"), ElementsAre("forever too"));
}

TEST(TtlModeHead, AGetIsAnsweredBeforeWhatItUncovers) {  // DL-131
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
    ch.declare_queue("dead");
    ch.declare_queue("q", {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", "dead"}});
    ch.set_policy(policy("p", "^q", {{"ttl-mode", "head"}}));
    ch.consume("dead");
    ch.publish("q", "a");
    ch.publish("q", "short", {.ttl_ms = 1});
    s.advance(milliseconds(5));
    const auto got = ch.get("q");
    EXPECT_EQ(got->messages_left, 0U);
    EXPECT_EQ(ch.take_delivery().tag, got->tag + 1);
}

TEST(TtlModeHead, GivenUpLetsWhatIsOverdueDie) {
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
    ch.declare_queue("q");
    ch.set_policy(policy("p", ".*", {{"ttl-mode", "head"}}));
    ch.publish("q", "forever");
    ch.publish("q", "short", {.ttl_ms = 10});
    s.advance(milliseconds(50));
    ch.clear_policy("p");
    EXPECT_THAT(s.ready("q"), ElementsAre("forever"));
    EXPECT_THAT(Probe::reached(), ::testing::Contains("expiry.overdue"));
}

}  // namespace
}  // namespace revenant::engine
