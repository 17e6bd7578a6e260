// Settings from arguments and policies. tools/dead_letter_cases.txt maps the cases of RabbitMQ to
// tests.
#include "engine/engine.h"
#include "engine/words/policy.h"
#include "tests/support/dead_letter_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_P(EveryGroup, APolicyConcernsWhatIsDeliveredAlready) {  // DL-29
    declare("dead");
    declare("q");
    publish({"1", "2"});
    const auto tags = get(2);
    ch.nack(tags[0]);
    set_policy({{"dead-letter-exchange", ""}, {"dead-letter-routing-key", "dead"}});
    ch.nack(tags[1]);
    EXPECT_THAT(s.ready("dead"), ElementsAre("2"));
    EXPECT_EQ(died(DeathReason::rejected, DeathStrategy::disabled), 1U);
    EXPECT_EQ(died(DeathReason::rejected), 1U);
}

TEST_P(EveryGroup, ArgumentsWinOverAPolicyOfAnyAge) {  // DL-23
    declare("dead");
    declare("wrong");
    const auto declare_source = [&](const char* name) {
        declare(name, {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", "dead"}});
    };
    declare_source("q older");
    set_policy({{"dead-letter-exchange", "nowhere"}, {"dead-letter-routing-key", "wrong"}}, "^q ");
    declare_source("q younger");
    for (const char* queue : {"q older", "q younger"}) {
        ch.publish(queue, queue);
        nack_head(queue);
    }
    EXPECT_THAT(s.ready("dead"), ElementsAre("q older", "q younger"));
    EXPECT_THAT(s.ready("wrong"), IsEmpty());
}

TEST_P(EveryKind, APolicyItDoesNotKnowIsNotApplied) {  // DL-194
    const auto set_half_known = [&] { set_policy({{"max-length", 1}, {"max-age", "1h"}}, "^q"); };
    set_half_known();
    declare("q");
    declare("q2");
    set_half_known();
    for (const char* queue : {"q", "q2"}) {
        EXPECT_EQ(s.queue(queue).policy.policy, "");
        for (const char* body : {"1", "2"}) ch.publish(queue, body);
        EXPECT_EQ(s.queue(queue).ready_count(), 2U);
    }
}

TEST(PolicyCases, EachTypeHasItsOwnForTheSamePattern) {  // DL-191
    Scenario s;
    ScenarioChannel& ch = s.open_channel();
    ch.declare_queue("q classic");
    ch.declare_queue("q quorum",
                     {.durable = true, .arguments = arguments({{"x-queue-type", "quorum"}})});
    const auto set = [&](const char* name, ApplyTo apply_to, int limit) {
        ch.set_policy({name, "^q", apply_to, 1, arguments({{"max-length", limit}})});
    };
    ch.set_policy({"weak", "^q", ApplyTo::queues, 0, arguments({{"max-length", 1}})});
    set("c", ApplyTo::classic_queues, 2);
    set("q", ApplyTo::quorum_queues, 3);
    EXPECT_EQ(s.queue("q classic").settings.max_length, 2);
    EXPECT_EQ(s.queue("q quorum").settings.max_length, 3);
    ch.clear_policy("c");
    EXPECT_EQ(s.queue("q classic").settings.max_length, 1);
    EXPECT_EQ(s.queue("q quorum").settings.max_length, 3);
}

TEST(PolicyCases, AnOperatorsKeyCountsWhereTheTypeKnowsIt) {  // DL-194, DL-198
    const auto types = [](const Argument& argument) {
        PolicyTable book;
        const Policy policy{"p", ".*", ApplyTo::queues, 0, {argument.field}};
        EXPECT_EQ(check_policy(PolicyScope::operator_only, policy), std::nullopt);
        book.set(PolicyScope::operator_only, policy);
        std::string known;
        if (!book.for_queue(QueueKind::classic, "q").operator_policy.empty()) known += "classic ";
        if (!book.for_queue(QueueKind::quorum, "q").operator_policy.empty()) known += "quorum";
        return known;
    };
    EXPECT_EQ(types({"expires", 1}), "classic quorum");
    EXPECT_EQ(types({"message-ttl", 1}), "classic quorum");
    EXPECT_EQ(types({"max-length", 1}), "classic quorum");
    EXPECT_EQ(types({"max-in-memory-length", 1}), "quorum");
    EXPECT_EQ(types({"max-in-memory-bytes", 1}), "quorum");
    EXPECT_EQ(types({"delivery-limit", 1}), "quorum");
    EXPECT_EQ(types({"target-group-size", 1}), "quorum");
    EXPECT_EQ(types({"overflow", "reject-publish"}), "classic quorum");
}

TEST(PolicyCases, ValuesHaveTheirRanges) {  // DL-195
    const auto is_accepted = [](const Argument& argument) {
        return !check_policy(PolicyScope::user, {"p", ".*", ApplyTo::all, 0, {argument.field}});
    };
    for (const char* name :
         {"dead-letter-exchange", "dead-letter-routing-key", "alternate-exchange"}) {
        EXPECT_TRUE(is_accepted({name, "text"})) << name;
        EXPECT_TRUE(is_accepted({name, ""})) << name;
        EXPECT_FALSE(is_accepted({name, 1})) << name;
    }
    for (const char* value : {"at-most-once", "at-least-once"}) {
        EXPECT_TRUE(is_accepted({"dead-letter-strategy", value}));
    }
    EXPECT_FALSE(is_accepted({"dead-letter-strategy", "unknown"}));
    for (const char* value : {"drop-head", "reject-publish", "reject-publish-dlx"}) {
        EXPECT_TRUE(is_accepted({"overflow", value}));
    }
    EXPECT_FALSE(is_accepted({"overflow", "unknown"}));
    for (const char* name :
         {"message-ttl", "max-length", "max-length-bytes", "max-in-memory-length"}) {
        EXPECT_TRUE(is_accepted({name, 0})) << name;
        EXPECT_FALSE(is_accepted({name, -1})) << name;
        EXPECT_FALSE(is_accepted({name, "1"})) << name;
    }
    EXPECT_TRUE(is_accepted({"expires", 1}));
    EXPECT_FALSE(is_accepted({"expires", 0}));
    EXPECT_TRUE(is_accepted({"delivery-limit", -1}));
    EXPECT_FALSE(is_accepted({"delivery-limit", "1"}));
}

TEST(PolicyCases, RetriesHaveTheirRanges) {  // DL-196
    const auto is_accepted = [](std::initializer_list<Argument> definition) {
        return !check_policy(PolicyScope::user,
                             {"p", ".*", ApplyTo::all, 0, arguments(definition)});
    };
    for (const char* type : {"all", "failed", "returned"}) {
        EXPECT_TRUE(is_accepted({{"delayed-retry-type", type}, {"delayed-retry-min", 1}}));
        EXPECT_FALSE(is_accepted({{"delayed-retry-type", type}})) << "min is needed";
    }
    EXPECT_TRUE(is_accepted({{"delayed-retry-type", "disabled"}}));
    EXPECT_FALSE(is_accepted({{"delayed-retry-type", "unknown"}, {"delayed-retry-min", 1}}));
    EXPECT_FALSE(is_accepted({{"delayed-retry-min", 0}}));
    EXPECT_FALSE(is_accepted({{"delayed-retry-max", 0}}));
    EXPECT_TRUE(is_accepted({{"delayed-retry-min", 5}, {"delayed-retry-max", 5}}));
    EXPECT_FALSE(is_accepted({{"delayed-retry-min", 5}, {"delayed-retry-max", 4}}));
}

TEST(PolicyCases, TheSmallestDeliveryLimitThatIsOneHolds) {  // DL-149
    using Limit = std::optional<int>;
    const auto limit_of = [](Limit argument, Limit policy, Limit of_operator) {
        QueueDeclaration declaration;
        declaration.kind = QueueKind::quorum;
        if (argument) declaration.arguments = arguments({{"x-delivery-limit", *argument}});
        PolicyTable book;
        const auto set = [&](PolicyScope scope, Limit limit) {
            if (limit) {
                book.set(scope,
                         {"p", ".*", ApplyTo::all, 0, arguments({{"delivery-limit", *limit}})});
            }
        };
        set(PolicyScope::user, policy);
        set(PolicyScope::operator_only, of_operator);
        const auto found = effective_settings(declaration, book.for_queue(QueueKind::quorum, "q"),
                                              Compatibility::v4_3);
        return found.delivery_limit ? Limit(static_cast<int>(*found.delivery_limit)) : Limit();
    };
    const Limit none;
    EXPECT_EQ(limit_of(none, none, none), Limit(20));
    for (const Limit only : {Limit(0), Limit(5)}) {
        EXPECT_EQ(limit_of(only, none, none), only);
        EXPECT_EQ(limit_of(none, only, none), only);
        EXPECT_EQ(limit_of(none, none, only), only);
    }
    EXPECT_EQ(limit_of(3, 2, 1), Limit(1));
    EXPECT_EQ(limit_of(1, 2, 3), Limit(1));
    EXPECT_EQ(limit_of(2, 1, 3), Limit(1));
    EXPECT_EQ(limit_of(-1, none, none), Limit());
    EXPECT_EQ(limit_of(-1, -2, -3), Limit());
    EXPECT_EQ(limit_of(-1, 50, none), Limit(50));
    EXPECT_EQ(limit_of(-1, -1, 50), Limit(50));
    EXPECT_EQ(limit_of(50, -1, -1), Limit(50));
    EXPECT_EQ(limit_of(50, -1, 40), Limit(40));
}

// ----------------------------------------------------------------------------------- declaring

TEST_F(QuorumCases, KnowItsTypeAndItsLimits) {  // DL-40
    declare("q", {{"x-max-length", 5}, {"x-max-length-bytes", 50}});
    EXPECT_TRUE(s.queue("q").is_quorum());
    EXPECT_EQ(s.queue("q").settings.max_length, 5);
    EXPECT_EQ(s.queue("q").settings.max_length_bytes, 50);
    ch.declare_queue("plain");
    EXPECT_FALSE(s.queue("plain").is_quorum());
    declare("negative", {{"x-max-length", -5}});
    ch.expect_refused(RefusalKind::precondition_failed,
                      "invalid arg 'x-max-length' for queue 'negative' in vhost '/': "
                      "{value_negative,-5}");
}

// Collects the answers of an engine with its own settings.
struct Answers : EffectSink {
    bool deliver(Deliver&& /*effect*/) override { return true; }
    void confirm(const Confirm& /*effect*/) override {}
    void request(Effect&& effect) override {
        if (const auto* const refused = std::get_if<Refuse>(&effect)) {
            texts.push_back(refused->refusal.text);
        } else if (std::holds_alternative<Done>(effect)) {
            texts.emplace_back("done");
        }
    }
    std::vector<std::string> texts;
};

TEST(RelaxedChecks, LetAQuorumQueueBeDeclaredAgainAsAClassicOne) {  // DL-46
    Answers answers;
    Engine engine({.relaxed_checks_on_redeclaration = true}, answers, nullptr);
    const Timestamp now{1'700'000'000'000'000};
    const auto declare_queue = [&](std::uint64_t channel, std::initializer_list<Argument> given) {
        engine.handle(OpenChannel{ConnectionId{1}, ChannelId{channel}}, now);
        engine.handle(DeclareQueue{.channel = ChannelId{channel},
                                   .name = "q",
                                   .durable = true,
                                   .arguments = arguments(given)},
                      now);
        const std::string text = answers.texts.back();
        answers.texts.clear();
        return text;
    };
    engine.handle(OpenConnection{ConnectionId{1}, "guest"}, now);
    EXPECT_EQ(declare_queue(1, {{"x-queue-type", "quorum"}, {"x-delivery-limit", 3}}), "done");
    EXPECT_EQ(declare_queue(2, {{"x-queue-type", "classic"}}), "done");
    EXPECT_EQ(declare_queue(3, {{"x-queue-type", "classic"}, {"x-message-ttl", 5}}),
              "inequivalent arg 'x-message-ttl' for queue 'q' in vhost '/': received the value "
              "'5' of type 'signedint' but current is none");
}

}  // namespace
}  // namespace revenant::engine
