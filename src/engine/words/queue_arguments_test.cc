#include "engine/words/queue_arguments.h"

#include "tests/support/scenario.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace revenant::engine {
namespace {

std::string refusal_text(std::initializer_list<Argument> given,
                         QueueKind kind = QueueKind::classic) {
    const auto refusal = check_queue_arguments(kind, arguments(given), "queue 'q' in vhost '/'");
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
    for (const char* name : {"x-delayed-retry-min", "x-delayed-retry-max", "x-consumer-timeout",
                             "x-consumer-disconnected-timeout"}) {
        const auto text = [&](std::int64_t number) {
            return refusal_text({{"x-queue-type", "quorum"}, {name, number}}, QueueKind::quorum);
        };
        EXPECT_EQ(text(315'360'000'000L), "accepted") << name;
        EXPECT_EQ(text(INT64_MAX), invalid(name, "{value_too_large,9223372036854775807}"));
    }
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

TEST(QueueArguments, NamesOfDeadLettersFitIntoADelivery) {
    const std::string longest(255, 'k');
    const std::string too_long(256, 'k');
    EXPECT_EQ(
        refusal_text({{"x-dead-letter-exchange", longest}, {"x-dead-letter-routing-key", longest}}),
        "accepted");
    EXPECT_EQ(refusal_text({{"x-dead-letter-exchange", too_long}}),
              invalid("x-dead-letter-exchange", "{max_length_exceeded,256}"));
    EXPECT_EQ(
        refusal_text({{"x-dead-letter-exchange", "x"}, {"x-dead-letter-routing-key", too_long}}),
        invalid("x-dead-letter-routing-key", "{max_length_exceeded,256}"));
}

TEST(QueueArguments, TheRestOfTheClassicOnes) {  // amqp091 8.13, 8.14
    EXPECT_EQ(refusal_text({{"x-queue-type", "classic"}}), "accepted");
    EXPECT_EQ(refusal_text({{"x-queue-version", 2}}), "accepted");
    EXPECT_EQ(refusal_text({{"x-queue-version", 1}}),
              invalid("x-queue-version", "\"unsupported queue version '1'\""));
    EXPECT_EQ(refusal_text({{"x-queue-mode", "lazy"}}), "accepted");
    EXPECT_EQ(refusal_text({{"x-queue-mode", "hasty"}}), "accepted") << "it has no effect";
    EXPECT_EQ(refusal_text({{"x-queue-mode", 5}}), "accepted");
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
        EXPECT_FALSE(is_known_queue_argument(QueueKind::classic, name));
    }
}

TEST(QueueArguments, UnknownOnesAreIgnored) {  // amqp091 8.8; DL-43
    EXPECT_EQ(refusal_text({{"x-mine", 1}, {"anything", "else"}}), "accepted");
    EXPECT_FALSE(is_known_queue_argument(QueueKind::classic, "x-mine"));
    EXPECT_TRUE(is_known_queue_argument(QueueKind::classic, "x-max-length"));
}

std::string quorum_refusal(std::initializer_list<Argument> given) {
    const auto refusal =
        check_queue_arguments(QueueKind::quorum, arguments(given), "queue 'q' in vhost '/'");
    return refusal ? refusal->text : "accepted";
}

TEST(QuorumArguments, ThoseOfClassicQueuesAreRefused) {  // DL-43
    for (const char* name : {"x-max-priority", "x-queue-mode", "x-queue-version", "x-max-age"}) {
        EXPECT_EQ(quorum_refusal({{name, 1}}),
                  "invalid arg '" + std::string(name) +
                      "' for queue 'q' in vhost '/' of queue type rabbit_quorum_queue");
    }
}

TEST(QuorumArguments, TheirOwnAreAccepted) {
    EXPECT_EQ(quorum_refusal({{"x-queue-type", "quorum"},
                              {"x-delivery-limit", "any"},  // DL-41
                              {"x-dead-letter-strategy", "at-least-once"},
                              {"x-quorum-initial-group-size", 3},
                              {"x-max-in-memory-length", 0},
                              {"x-delayed-retry-type", "unknown"},
                              {"x-overflow", "reject-publish-dlx"}}),  // DL-47
              "accepted");
    EXPECT_EQ(quorum_refusal({{"x-dead-letter-strategy", "always"}}),
              invalid("x-dead-letter-strategy", "invalid_dlx_strategy"));
    EXPECT_EQ(quorum_refusal({{"x-dead-letter-strategy", 1}}),
              invalid("x-dead-letter-strategy", "{unacceptable_type,signedint}"));
    EXPECT_EQ(quorum_refusal({{"x-dead-letter-routing-key", "k"}}),
              invalid("x-dead-letter-routing-key", "routing_key_but_no_dlx_defined"));
}

TEST(QuorumArguments, ATimeoutIsNotNegative) {  // DL-40
    for (const char* name : {"x-consumer-timeout", "x-consumer-disconnected-timeout"}) {
        EXPECT_EQ(quorum_refusal({{name, -5}}), invalid(name, "{value_negative,-5}"));
        EXPECT_EQ(quorum_refusal({{name, 5}}), "accepted");
    }
}

TEST(QuorumProperties, OnlyALastingSharedNamedQueueIsPossible) {  // DL-47
    const auto refusal = [](QueueProperties properties) {
        const auto found = check_queue_properties(QueueKind::quorum, properties, "queue 'q'");
        return found ? found->text : "accepted";
    };
    EXPECT_EQ(refusal({.durable = true}), "accepted");
    EXPECT_EQ(refusal({}), "invalid property 'non-durable' for queue 'q'");
    EXPECT_EQ(refusal({.durable = true, .exclusive = true}),
              "invalid property 'exclusive-owner' for queue 'q'");
    EXPECT_EQ(refusal({.durable = true, .auto_delete = true}),
              "invalid property 'auto-delete' for queue 'q'");
    EXPECT_EQ(refusal({.server_named = true, .durable = true}),
              "Cannot declare a server-named queue for type rabbit_quorum_queue");
    EXPECT_FALSE(check_queue_properties(QueueKind::classic, {.exclusive = true}, "queue 'q'"));
}

TEST(QueueKinds, AreNamedByAnArgument) {
    const auto kind = [](std::initializer_list<Argument> given) {
        return queue_kind(arguments(given), "queue 'q' in vhost '/'");
    };
    EXPECT_EQ(kind({}).value(), QueueKind::classic);
    EXPECT_EQ(kind({{"x-queue-type", "classic"}}).value(), QueueKind::classic);
    EXPECT_EQ(kind({{"x-queue-type", "quorum"}}).value(), QueueKind::quorum);
    EXPECT_EQ(kind({{"x-queue-type", "stream"}}).error().text,
              invalid("x-queue-type", "\"unsupported queue type 'stream'\""));
    EXPECT_EQ(kind({{"x-queue-type", 1}}).error().text,
              invalid("x-queue-type", "{unacceptable_type,signedint}"));
}

}  // namespace
}  // namespace revenant::engine
