#include "engine/policy.h"

#include "tests/support/scenario.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace revenant::engine {
namespace {

std::string refusal_text(std::initializer_list<Argument> given) {
    const auto refusal = check_queue_arguments(arguments(given), "queue 'q' in vhost '/'");
    if (!refusal) return "accepted";
    EXPECT_EQ(refusal->kind, RefusalKind::precondition_failed);
    return refusal->text;
}

std::string invalid(std::string_view name, std::string_view detail) {
    return "invalid arg '" + std::string(name) +
           "' for queue 'q' in vhost '/': " + std::string(detail);
}

Value integer(ValueType type, std::int64_t number) { return {type, number}; }

TEST(QueueArguments, IntegersOfEveryWidthAreIntegers) {  // DL-40
    for (const ValueType type :
         {ValueType::int8, ValueType::uint8, ValueType::int16, ValueType::uint16, ValueType::int32,
          ValueType::uint32, ValueType::int64}) {
        EXPECT_EQ(refusal_text({{"x-message-ttl", integer(type, 100)}}), "accepted");
        EXPECT_EQ(refusal_text({{"x-max-length", integer(type, 100)}}), "accepted");
    }
    EXPECT_EQ(refusal_text({{"x-max-length", Value::timestamp(5)}}),
              invalid("x-max-length", "\"expected integer, got timestamp\""));
}

TEST(QueueArguments, WhatMustBeAnIntegerIsRefusedOtherwise) {  // amqp091 8.14
    for (const char* name :
         {"x-message-ttl", "x-expires", "x-max-length", "x-max-length-bytes", "x-max-priority"}) {
        EXPECT_EQ(refusal_text({{name, "5"}}), invalid(name, "\"expected integer, got longstr\""));
        EXPECT_EQ(refusal_text({{name, true}}), invalid(name, "\"expected integer, got bool\""));
        EXPECT_EQ(refusal_text({{name, -1}}), invalid(name, "{value_negative,-1}"));
        EXPECT_EQ(refusal_text({{name, 1}}), "accepted") << name;
    }
}

TEST(QueueArguments, ZeroIsALimitButNoExpiry) {  // amqp091 8.14; DL-40, DL-135
    EXPECT_EQ(refusal_text({{"x-message-ttl", 0}}), "accepted");
    EXPECT_EQ(refusal_text({{"x-max-length", 0}}), "accepted");
    EXPECT_EQ(refusal_text({{"x-max-length-bytes", 0}}), "accepted");
    EXPECT_EQ(refusal_text({{"x-max-priority", 0}}), "accepted");
    EXPECT_EQ(refusal_text({{"x-expires", 0}}), invalid("x-expires", "{value_zero,0}"));
}

TEST(QueueArguments, ATimeHasAnUpperBound) {  // DL-40
    EXPECT_EQ(refusal_text({{"x-message-ttl", 315'360'000'000L}}), "accepted");
    EXPECT_EQ(refusal_text({{"x-message-ttl", 315'360'000'001L}}),
              invalid("x-message-ttl", "{value_too_large,315360000001}"));
    EXPECT_EQ(refusal_text({{"x-expires", 315'360'000'001L}}),
              invalid("x-expires", "{value_too_large,315360000001}"));
}

TEST(QueueArguments, APriorityHasAnUpperBound) {  // amqp091 8.14
    EXPECT_EQ(refusal_text({{"x-max-priority", 255}}), "accepted");
    EXPECT_EQ(refusal_text({{"x-max-priority", 256}}),
              invalid("x-max-priority", "{max_value_exceeded,256}"));
}

TEST(QueueArguments, TheOverflowIsOneOfThree) {  // amqp091 8.14; DL-40
    for (const char* overflow : {"drop-head", "reject-publish", "reject-publish-dlx"}) {
        EXPECT_EQ(refusal_text({{"x-overflow", overflow}}), "accepted") << overflow;
    }
    EXPECT_EQ(refusal_text({{"x-overflow", "drop-tail"}}),
              invalid("x-overflow", "invalid_overflow"));
    EXPECT_EQ(refusal_text({{"x-overflow", 1}}),
              invalid("x-overflow", "{unacceptable_type,signedint}"));
}

TEST(QueueArguments, ADeadLetterRoutingKeyNeedsAnExchange) {  // amqp091 8.14; DL-40, DL-42
    EXPECT_EQ(refusal_text({{"x-dead-letter-routing-key", "k"}}),
              invalid("x-dead-letter-routing-key", "routing_key_but_no_dlx_defined"));
    EXPECT_EQ(refusal_text({{"x-dead-letter-routing-key", 5}, {"x-dead-letter-exchange", ""}}),
              invalid("x-dead-letter-routing-key", "{unacceptable_type,signedint}"));
    EXPECT_EQ(refusal_text({{"x-dead-letter-routing-key", ""}, {"x-dead-letter-exchange", ""}}),
              "accepted");
}

TEST(QueueArguments, TheDeadLetterExchangeMustBeNamedByAString) {  // amqp091 8.21; DL-39
    EXPECT_EQ(
        refusal_text({{"x-dead-letter-exchange", 5}}),
        "invalid type 'signedint' for arg 'x-dead-letter-exchange' in queue 'q' in vhost '/'");
}

TEST(QueueArguments, TheRestOfTheClassicOnes) {  // amqp091 8.13, 8.14
    EXPECT_EQ(refusal_text({{"x-queue-type", "classic"}}), "accepted");
    EXPECT_EQ(refusal_text({{"x-queue-type", "foo"}}),
              invalid("x-queue-type", "\"unsupported queue type 'foo'\""));
    EXPECT_EQ(refusal_text({{"x-queue-type", 1}}),
              invalid("x-queue-type", "{unacceptable_type,signedint}"));
    EXPECT_EQ(refusal_text({{"x-queue-version", 2}}), "accepted");
    EXPECT_EQ(refusal_text({{"x-queue-version", 1}}),
              invalid("x-queue-version", "\"unsupported queue version '1'\""));
    EXPECT_EQ(refusal_text({{"x-queue-mode", "lazy"}}), "accepted");
    EXPECT_EQ(refusal_text({{"x-queue-mode", "hasty"}}),
              invalid("x-queue-mode", "invalid_queue_mode"));
    EXPECT_EQ(refusal_text({{"x-single-active-consumer", true}}), "accepted");
    EXPECT_EQ(refusal_text({{"x-single-active-consumer", "yes"}}),
              invalid("x-single-active-consumer", "{unacceptable_type,longstr}"));
    EXPECT_EQ(refusal_text({{"x-queue-leader-locator", "client-local"}}), "accepted");
    EXPECT_EQ(refusal_text({{"x-queue-leader-locator", "nearby"}}),
              invalid("x-queue-leader-locator", "invalid_queue_locator_arg"));
    EXPECT_EQ(refusal_text({{"x-queue-master-locator", "min-masters"}}), "accepted");
}

TEST(QueueArguments, ThoseOfOtherTypesAreRefused) {  // amqp091 8.13; DL-43
    for (const char* name :
         {"x-dead-letter-strategy", "x-delivery-limit", "x-quorum-initial-group-size",
          "x-max-in-memory-length", "x-max-in-memory-bytes", "x-delayed-retry-type",
          "x-delayed-retry-min", "x-delayed-retry-max", "x-consumer-timeout",
          "x-consumer-disconnected-timeout", "x-member-placement-tag", "x-max-age",
          "x-stream-max-segment-size-bytes", "x-stream-filter-size-bytes",
          "x-initial-cluster-size"}) {
        EXPECT_EQ(refusal_text({{name, 1}}),
                  "invalid arg '" + std::string(name) +
                      "' for queue 'q' in vhost '/' of queue type rabbit_classic_queue");
        EXPECT_FALSE(is_known_queue_argument(name));
    }
}

TEST(QueueArguments, UnknownOnesAreIgnored) {  // amqp091 8.8; DL-43
    EXPECT_EQ(refusal_text({{"x-mine", 1}, {"anything", "else"}}), "accepted");
    EXPECT_FALSE(is_known_queue_argument("x-mine"));
    EXPECT_TRUE(is_known_queue_argument("x-max-length"));
}

TEST(QueueSettings, WithoutArgumentsNothingIsLimited) {
    EXPECT_EQ(settings_in_force({}), QueueSettings{});
    EXPECT_EQ(QueueSettings{}.overflow, Overflow::drop_head);  // DL-137
}

TEST(QueueSettings, ComeFromTheArguments) {
    const QueueSettings settings = settings_in_force(arguments({
        {"x-message-ttl", 1},
        {"x-expires", 2},
        {"x-max-length", 3},
        {"x-max-length-bytes", 4L},
        {"x-overflow", "reject-publish-dlx"},
        {"x-dead-letter-exchange", ""},
        {"x-dead-letter-routing-key", ""},
        {"x-single-active-consumer", true},
    }));
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
    EXPECT_EQ(settings_in_force(arguments({{"x-overflow", "reject-publish"}})).overflow,
              Overflow::reject_publish);
    EXPECT_FALSE(
        settings_in_force(arguments({{"x-single-active-consumer", false}})).single_active_consumer);
}

}  // namespace
}  // namespace revenant::engine
