// Durations that are too large. New ones are refused; a journal may contain older ones, which mean:
// never.
#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t numbers_beyond_all_time[] = {duration_ms_max + 1, INT64_MAX / 1'000'000,
                                                    INT64_MAX / 1000,    INT64_MAX / 1000 + 1,
                                                    INT64_MAX - 1,       INT64_MAX};

Policy old_policy(const char* key, std::int64_t number) {
    return {"p", ".*", ApplyTo::queues, 0, arguments({{key, number}})};
}

QueueDeclared old_queue(const char* name, Table given, QueueKind kind) {
    return {{QueueId{900}, name, true, false, false, std::move(given), kind}, {}};
}

// Nearly the maximum duration of a policy.
void pass_years(Scenario& s) {
    for (int year = 0; year < 9; ++year) s.advance(seconds(365 * 24 * 3600));
}

TEST(LongDurations, AnOldPolicyThatExpiresQueuesMuchTooLateKeepsThem) {
    for (const std::int64_t number : numbers_beyond_all_time) {
        SCOPED_TRACE(number);
        Scenario s;
        s.find_in_journal(PolicySet{PolicyScope::user, old_policy("expires", number)});
        auto& ch = s.open_channel();
        ch.declare_queue("q");
        ch.publish("q", "m");
        pass_years(s);
        ASSERT_TRUE(s.has_queue("q"));
        EXPECT_THAT(s.ready("q"), ElementsAre("m"));
    }
}

TEST(LongDurations, AnOldPolicyWithATimeToLiveMuchTooLongKeepsMessages) {
    for (const auto scope : {PolicyScope::user, PolicyScope::operator_only}) {
        for (const std::int64_t number : numbers_beyond_all_time) {
            SCOPED_TRACE(number);
            Scenario s;
            s.find_in_journal(PolicySet{scope, old_policy("message-ttl", number)});
            auto& ch = s.open_channel();
            ch.declare_queue("q");
            ch.declare_queue("quorum", {{"x-queue-type", "quorum"}});
            for (const char* queue : {"q", "quorum"}) ch.publish(queue, "m");
            ch.publish("q", "shorter", {.ttl_ms = 1000});
            pass_years(s);
            EXPECT_THAT(s.ready("q"), ElementsAre("m"));
            EXPECT_THAT(s.ready("quorum"), ElementsAre("m"));
        }
    }
}

TEST(LongDurations, AnOldDelayMuchTooLongIsWaitedFor) {
    for (const std::int64_t number : numbers_beyond_all_time) {
        SCOPED_TRACE(number);
        Scenario s;
        s.find_in_journal(old_queue("q",
                                    arguments({{"x-queue-type", "quorum"},
                                               {"x-delayed-retry-type", "all"},
                                               {"x-delayed-retry-min", number},
                                               {"x-delayed-retry-max", number}}),
                                    QueueKind::quorum));
        auto& ch = s.open_channel();
        ch.publish("q", "m");
        ch.requeue(ch.get("q")->tag);
        pass_years(s);
        EXPECT_EQ(s.queue("q").delayed().count, 1U);
        EXPECT_EQ(s.queue("q").ready_count(), 0U);
    }
}

TEST(LongDurations, AnOldConsumerTimeoutMuchTooLongIsTenYears) {
    Scenario s;
    s.find_in_journal(
        old_queue("q", arguments({{"x-queue-type", "quorum"}, {"x-consumer-timeout", INT64_MAX}}),
                  QueueKind::quorum));
    auto& ch = s.open_channel();
    ch.publish("q", "m");
    ch.consume("q");
    pass_years(s);
    EXPECT_EQ(s.queue("q").unacked_count(), 1U);
}

TEST(LongDurations, NewOnesAreRefusedAndTheLongestIsNamed) {
    Scenario s;
    auto& ch = s.open_channel();
    for (const auto& [key, meaning] :
         {std::pair{"expires", "queue expiry"}, std::pair{"message-ttl", "message TTL"},
          std::pair{"delayed-retry-min", "delayed retry min"},
          std::pair{"delayed-retry-max", "delayed retry max"},
          std::pair{"consumer-timeout", "consumer timeout"}}) {
        ch.set_policy({"p", ".*", ApplyTo::queues, 0, arguments({{key, duration_ms_max}})});
        ch.set_policy({"p", ".*", ApplyTo::queues, 0, arguments({{key, duration_ms_max + 1}})});
        ch.expect_refused(
            RefusalKind::precondition_failed,
            "315360000001 is not a valid " + std::string(meaning) + ": at most 315360000000");
    }
    ch.declare_queue("q", {{"x-queue-type", "quorum"}, {"x-delayed-retry-min", INT64_MAX}});
    ch.expect_refused(RefusalKind::precondition_failed,
                      "invalid arg 'x-delayed-retry-min' for queue 'q' in vhost '/': "
                      "{value_too_large,9223372036854775807}");
}

TEST(LongDurations, AConsumerMayNotAskForMoreThanTenYears) {
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {{"x-queue-type", "quorum"}});
    ch.consume("q", {.arguments = arguments({{"x-consumer-timeout", duration_ms_max}})});
    ch.consume("q", {.arguments = arguments({{"x-consumer-timeout", duration_ms_max + 1}})});
    ch.expect_refused(RefusalKind::precondition_failed,
                      "invalid arg 'x-consumer-timeout' for queue 'q' in vhost '/': "
                      "{value_too_large,315360000001}");
}

}  // namespace
}  // namespace revenant::engine
