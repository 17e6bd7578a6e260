#include "engine/rules/dead_letter.h"

#include "tests/support/dead_letter_scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// ---------------------------------------------------------------------------- triggers

TEST(DeadLetter, ARejectedMessageMovesInOneEvent) {  // DL-2; design, promise 2
    Cemetery c;
    c.declare("dead");
    c.declare("q", dead_to("dead"));
    c.ch.publish("q", "a");
    c.ch.get("q");
    const std::size_t before = c.s.events().size();
    c.ch.nack(1);
    ASSERT_EQ(c.s.events().size(), before + 1);
    EXPECT_TRUE(std::holds_alternative<DeadLettered>(c.s.events().back()));
    EXPECT_THAT(c.s.ready("q"), IsEmpty());
    EXPECT_THAT(c.s.ready("dead"), ElementsAre("a"));
    EXPECT_EQ(c.s.ended(Ending::dead_lettered), 1U);
}

TEST(DeadLetter, TheBodyIsNotCopied) {  // design, promise 5
    Cemetery c;
    c.s.keep_in_memory();
    c.declare("dead");
    c.declare("q", dead_to("dead"));
    c.ch.publish("q", "a");
    const auto first = c.ch.get("q");
    c.ch.nack(1);
    EXPECT_EQ(c.take("dead").message.get(), first->message.get());
}

TEST(DeadLetter, RejectAndNackOfConsumersAndGetsAreTheSame) {  // DL-2
    Cemetery c;
    c.declare("dead");
    c.declare("q", dead_to("dead"));
    for (const char* body : {"a", "b", "c", "d"}) c.ch.publish("q", body);
    c.ch.reject(c.ch.get("q")->tag);
    c.ch.consume("q");
    c.ch.nack(2);
    c.ch.nack_up_to(4);
    EXPECT_THAT(c.s.ready("dead"), ElementsAre("a", "b", "c", "d"));
    for (int i = 0; i < 4; ++i) EXPECT_THAT(c.take("dead").deaths(), ElementsAre("q rejected 1"));
}

TEST(DeadLetter, WithMultipleTheyDieInTheOrderOfTheirTags) {  // DL-4
    Cemetery c;
    c.declare("dead");
    c.declare("q", dead_to("dead"));
    for (const char* body : {"1", "2", "3"}) c.ch.publish("q", body);
    c.ch.consume("q");
    c.ch.requeue(1);
    c.ch.requeue(2);  // delivered again, with later tags
    c.ch.nack_up_to(0);
    EXPECT_THAT(c.s.ready("dead"), ElementsAre("3", "1", "2"));
}

TEST(DeadLetter, EachQueuesCopyDiesForItself) {  // DL-12
    Cemetery c;
    c.declare("dead");
    c.declare("a", dead_to("dead"));
    c.declare("b", dead_to("dead"));
    c.ch.bind("amq.fanout", "a");
    c.ch.bind("amq.fanout", "b");
    c.ch.publish("", "m", {.exchange = "amq.fanout"});
    c.reject_head("a");
    EXPECT_THAT(c.s.ready("b"), ElementsAre("m"));
    EXPECT_THAT(c.take("dead").deaths(), ElementsAre("a rejected 1"));
    c.reject_head("b");
    EXPECT_THAT(c.take("dead").deaths(), ElementsAre("b rejected 1"));
}

TEST(DeadLetter, DeletionAndPurgeAreNoDeaths) {  // DL-13, DL-15
    Cemetery c;
    c.declare("dead");
    c.declare("q", dead_to("dead"));
    c.ch.publish("q", "a");
    c.ch.purge("q");
    c.ch.publish("q", "b");
    c.ch.delete_queue("q");
    EXPECT_THAT(c.s.ready("dead"), IsEmpty());
}

TEST(DeadLetter, ARequeueByAClosingChannelIsNoDeath) {  // DL-16
    Cemetery c;
    c.declare("dead");
    c.declare("q", dead_to("dead"));
    c.ch.publish("q", "a");
    c.ch.get("q");
    c.ch.close();
    EXPECT_THAT(c.s.ready("q"), ElementsAre("a"));
}

TEST(DeadLetter, ADeadMessageReachesAWaitingConsumerInTheSameTurn) {
    Cemetery c;
    c.declare("dead");
    c.declare("q", dead_to("dead"));
    auto& mourner = c.s.open_channel(c.s.connect());
    mourner.consume("dead");
    c.ch.publish("q", "a");
    c.reject_head("q");
    EXPECT_THAT(mourner.take_bodies(), ElementsAre("a"));
}

// ----------------------------------------------------------------------------- routing

TEST(DeadLetterRouting, AMissingExchangeIsLookedForAtEveryDeath) {  // DL-48
    Cemetery c;
    c.declare("dead");
    c.declare("q", dead_through("dlx"));
    c.ch.publish("q", "lost");
    c.reject_head("q");
    EXPECT_EQ(c.s.ended(Ending::dlx_missing), 1U);
    c.ch.declare_exchange("dlx", "fanout");
    c.ch.bind("dlx", "dead");
    c.ch.publish("q", "found");
    c.reject_head("q");
    EXPECT_THAT(c.s.ready("dead"), ElementsAre("found"));
}

TEST(DeadLetterRouting, WithoutARouteTheLossIsOnRecord) {  // DL-55
    Cemetery c;
    c.declare("q", dead_through("amq.direct"));
    c.ch.publish("q", "a", {.mandatory = true});
    c.reject_head("q");
    EXPECT_EQ(c.s.ended(Ending::unroutable), 1U);
    EXPECT_THAT(c.ch.take_returns(), IsEmpty());
}

TEST(DeadLetterRouting, EveryKindOfExchangeWorks) {  // DL-49, DL-50
    Cemetery c;
    c.ch.declare_exchange("hash", "x-consistent-hash");
    for (const auto& [exchange, binding] :
         {std::pair{"amq.direct", "q"}, std::pair{"amq.fanout", ""}, std::pair{"amq.topic", "#"},
          std::pair{"amq.headers", ""}, std::pair{"hash", "1"}}) {
        c.declare("dead");
        c.declare("q", dead_through(exchange));
        c.ch.bind(exchange, "dead", binding);
        c.ch.publish("q", exchange);
        c.reject_head("q");
        EXPECT_THAT(c.s.ready("dead"), ElementsAre(exchange));
        c.ch.delete_queue("q");
        c.ch.delete_queue("dead");
    }
}

TEST(DeadLetterRouting, SeveralTargetsGetOneCopyEach) {  // DL-51, DL-57
    Cemetery c;
    c.declare("d1");
    c.declare("d2");
    c.declare("q", dead_through("amq.topic"));
    for (const char* key : {"#", "q", "*"}) c.ch.bind("amq.topic", "d1", key);
    c.ch.bind("amq.topic", "d2", "q");
    c.ch.publish("q", "m");
    c.reject_head("q");
    EXPECT_THAT(c.s.ready("d1"), ElementsAre("m"));
    EXPECT_THAT(c.s.ready("d2"), ElementsAre("m"));
    EXPECT_EQ(c.s.ended(Ending::dead_lettered), 1U);
}

TEST(DeadLetterRouting, TheAlternateOfTheDeadLetterExchangeIsTried) {  // DL-54
    Cemetery c;
    c.ch.declare_exchange("dlx", "direct",
                          {.arguments = arguments({{"alternate-exchange", "ae"}})});
    c.ch.declare_exchange("ae", "fanout");
    c.ch.declare_exchange("behind", "fanout");
    c.declare("dead");
    c.ch.bind("ae", "behind", "", {.to = DestinationKind::exchange});
    c.ch.bind("behind", "dead");
    c.declare("q", dead_through("dlx"));
    c.ch.publish("q", "m");
    c.reject_head("q");
    EXPECT_THAT(c.s.ready("dead"), ElementsAre("m"));
}

TEST(DeadLetterRouting, AnInternalExchangeIsFine) {  // DL-38
    Cemetery c;
    c.ch.declare_exchange("dlx", "fanout", {.internal = true});
    c.declare("dead");
    c.ch.bind("dlx", "dead");
    c.declare("q", dead_through("dlx"));
    c.ch.publish("q", "m");
    c.reject_head("q");
    EXPECT_THAT(c.s.ready("dead"), ElementsAre("m"));
}

TEST(DeadLetterRouting, HeadersOfThisDeathAreThereAlready) {  // DL-52
    Cemetery c;
    c.declare("rejected");
    c.declare("expired");
    c.declare("q", dead_through("amq.headers"));
    for (const char* reason : {"rejected", "expired"}) {
        c.ch.bind("amq.headers", reason, "",
                  {.arguments = arguments({{"x-match", "all-with-x"},
                                           {"x-first-death-queue", "q"},
                                           {"x-last-death-reason", reason},
                                           {"own", "header"}})});
    }
    const Table own = arguments({{"own", "header"}, {"x-last-death-reason", "a lie"}});
    c.ch.publish("q", "a", {.headers = own});
    c.reject_head("q");
    c.ch.publish("q", "b", {.ttl_ms = 0, .headers = own});
    EXPECT_THAT(c.s.ready("rejected"), ElementsAre("a"));
    EXPECT_THAT(c.s.ready("expired"), ElementsAre("b"));
}

TEST(DeadLetterRouting, ARunThroughAHeadersExchangeIsRoutedOneByOne) {  // DL-52
    Cemetery c;
    c.declare("red");
    c.declare("blue");
    c.declare("q", dead_through("amq.headers"));
    for (const char* colour : {"red", "blue"}) {
        c.ch.bind("amq.headers", colour, "", {.arguments = arguments({{"colour", colour}})});
    }
    for (const char* colour : {"red", "blue", "red"}) {
        c.ch.publish("q", colour, {.headers = arguments({{"colour", colour}})});
    }
    c.ch.consume("q");
    c.ch.nack_up_to(0);
    EXPECT_THAT(c.s.ready("red"), ElementsAre("red", "red"));
    EXPECT_THAT(c.s.ready("blue"), ElementsAre("blue"));
}

TEST(DeadLetterRouting, ARunOfMessagesFromSeveralWaysGoesSeveralWays) {  // DL-50
    Cemetery c;
    c.declare("a");
    c.declare("b");
    c.declare("q", dead_through("amq.direct"));
    for (const char* key : {"a", "b"}) {
        c.ch.bind("amq.topic", "q", key);
        c.ch.bind("amq.direct", key, key);
    }
    for (const char* key : {"a", "b", "a", "a", "b"}) {
        c.ch.publish(key, key, {.exchange = "amq.topic"});
    }
    c.ch.consume("q");
    c.ch.nack_up_to(0);
    EXPECT_THAT(c.s.ready("a"), ElementsAre("a", "a", "a"));
    EXPECT_THAT(c.s.ready("b"), ElementsAre("b", "b"));
}

// -------------------------------------------------------------------- shared envelopes

TEST(DeathPlanCache, MessagesThatDieInTheSameMillisecondShareTheirEnvelope) {  // design 4
    Cemetery c;
    c.declare("dead");
    c.declare("q", dead_to("dead"));
    for (const char* body : {"a", "b", "c"}) c.ch.publish("q", body);
    std::vector<EnvelopeRef> envelopes;
    const auto reject = [&] {
        c.reject_head("q");
        envelopes.push_back(std::get<DeadLettered>(c.s.events().back()).envelope);
    };
    reject();
    reject();
    c.s.advance(milliseconds(1));
    reject();
    EXPECT_EQ(envelopes[0].get(), envelopes[1].get());
    EXPECT_NE(envelopes[1].get(), envelopes[2].get());
    c.take("dead");
    const Delivery b = c.take("dead");
    const Delivery other = c.take("dead");
    EXPECT_EQ(c.death(other).first_time - c.death(b).first_time, milliseconds(1));
}

TEST(DeathPlanCache, WhatChangesTheRouteEndsTheSharing) {  // DL-50, DL-54
    Cemetery c;
    c.declare("dead");
    c.declare("other");
    c.declare("q", dead_through("amq.fanout"));
    c.ch.bind("amq.fanout", "dead");
    for (const char* body : {"a", "b", "c"}) c.ch.publish("q", body);
    c.reject_head("q");
    c.ch.bind("amq.fanout", "other");
    c.reject_head("q");
    c.ch.delete_queue("dead");
    c.reject_head("q");
    EXPECT_THAT(c.s.ready("other"), ElementsAre("b", "c"));
}

TEST(DeathPlanCache, AnotherCauseOrAnotherKeyIsAnotherDeath) {  // DL-75
    Cemetery c;
    c.declare("dead");
    c.declare("q", dead_to("dead", {{"x-max-length", 2}}));
    c.ch.bind("amq.fanout", "q");
    c.ch.publish("q", "a");
    c.ch.publish("key", "b", {.exchange = "amq.fanout"});
    c.ch.publish("q", "c");  // drops a
    c.reject_head("q");      // b
    c.reject_head("q");      // c
    const Delivery a = c.take("dead");
    const Delivery b = c.take("dead");
    const Delivery last = c.take("dead");
    EXPECT_EQ(c.death(a).reason, DeathReason::maxlen);
    EXPECT_EQ(c.death(b).routing_keys, std::vector<std::string>{"key"});
    EXPECT_EQ(c.death(last).routing_keys, std::vector<std::string>{"q"});
}

// -------------------------------------------------------------------- keys, CC and BCC

TEST(DeadLetterKeys, TheWholeListIsUsedWithoutADeadLetterKey) {  // DL-63
    Cemetery c;
    for (const char* key : {"q", "cc", "bcc"}) {
        c.declare((std::string("d-") + key).c_str());
        c.ch.bind("amq.direct", std::string("d-") + key, key);
    }
    c.declare("q", dead_through("amq.direct"));
    c.ch.publish("q", "m", {.cc = {"cc"}, .bcc = {"bcc"}});
    c.reject_head("q");
    for (const char* queue : {"d-q", "d-cc", "d-bcc"}) {
        EXPECT_THAT(c.s.ready(queue), ElementsAre("m")) << queue;
    }
    const Delivery dead = c.take("d-bcc");
    EXPECT_EQ(dead.routing_key(), "q");        // DL-67: the first of the list
    EXPECT_EQ(dead.exchange(), "amq.direct");  // DL-69
    EXPECT_THAT(c.death(dead).routing_keys, ElementsAre("q", "cc"));  // DL-68: without BCC
    EXPECT_FALSE(dead.envelope->keys_replaced);
}

TEST(DeadLetterKeys, ADeadLetterKeyTakesThePlaceOfAll) {  // DL-63, DL-66
    Cemetery c;
    c.declare("dead");
    c.declare("cc");
    c.declare("q", dead_to("dead"));
    c.ch.publish("q", "m", {.cc = {"other"}, .bcc = {"cc"}});
    c.take("cc");
    c.reject_head("q");
    EXPECT_THAT(c.s.ready("cc"), IsEmpty());
    const Delivery dead = c.take("dead");
    EXPECT_EQ(dead.routing_key(), "dead");
    EXPECT_EQ(dead.exchange(), "");
    EXPECT_TRUE(dead.envelope->keys_replaced);
    EXPECT_THAT(c.death(dead).routing_keys, ElementsAre("q", "other"));
}

TEST(DeadLetterKeys, AfterItTheFormerKeysAreForgotten) {  // DL-64
    Cemetery c;
    c.declare("second", dead_through("amq.fanout"));
    c.declare("last");
    c.declare("first", dead_to("second"));
    c.ch.bind("amq.fanout", "last");
    c.ch.publish("first", "m", {.cc = {"gone"}});
    c.reject_head("first");
    c.reject_head("second");
    const Delivery dead = c.take("last");
    EXPECT_THAT(dead.envelope->routing_keys, ElementsAre("second"));
    EXPECT_THAT(c.death(dead).routing_keys, ElementsAre("second"));
    EXPECT_EQ(dead.exchange(), "amq.fanout");
}

TEST(DeadLetterKeys, WithoutItTheFormerKeysStayThroughSeveralDeaths) {  // DL-63, DL-68
    Cemetery c;
    c.declare("b", dead_through("amq.topic"));
    c.declare("last");
    c.declare("a", dead_through("amq.fanout"));
    c.ch.bind("amq.fanout", "b");
    c.ch.bind("amq.topic", "last", "bcc");
    c.ch.publish("a", "m", {.cc = {"cc"}, .bcc = {"bcc"}});
    c.reject_head("a");
    c.reject_head("b");
    const Delivery dead = c.take("last");
    EXPECT_THAT(dead.envelope->routing_keys, ElementsAre("a"));
    EXPECT_THAT(c.death(dead).routing_keys, ElementsAre("a", "cc"));
}

TEST(DeadLetterKeys, AnEmptyDeadLetterKeyIsAKey) {  // DL-27
    Cemetery c;
    c.declare("dead");
    c.ch.bind("amq.direct", "dead", "");
    c.ch.declare_queue(
        "q", {{"x-dead-letter-exchange", "amq.direct"}, {"x-dead-letter-routing-key", ""}});
    c.ch.publish("q", "m");
    c.reject_head("q");
    EXPECT_EQ(c.take("dead").routing_key(), "");
}

// --------------------------------------------------------------- full targets

TEST(FullTargets, ARefusingTargetRefusesTheDeadToo) {  // DL-168
    Cemetery c;
    c.declare("dead", arguments({{"x-max-length", 1}, {"x-overflow", "reject-publish"}}));
    c.declare("q", dead_to("dead"));
    for (const char* body : {"a", "b"}) c.ch.publish("q", body);
    c.reject_head("q");
    c.reject_head("q");
    EXPECT_THAT(c.s.ready("dead"), ElementsAre("a"));
    EXPECT_EQ(c.s.ended(Ending::target_refused), 1U);
}

TEST(FullTargets, TheOtherTargetsGetTheMessage) {  // DL-168
    Cemetery c;
    c.declare("full", arguments({{"x-max-length", 0}, {"x-overflow", "reject-publish"}}));
    c.declare("open");
    c.declare("q", dead_through("amq.fanout"));
    c.ch.bind("amq.fanout", "full");
    c.ch.bind("amq.fanout", "open");
    c.ch.publish("q", "m");
    c.reject_head("q");
    EXPECT_THAT(c.s.ready("open"), ElementsAre("m"));
    EXPECT_EQ(c.s.ended(Ending::dead_lettered), 1U);
}

TEST(FullTargets, ATargetThatDropsItsHeadDoesSo) {  // DL-168
    Cemetery c;
    c.declare("last");
    c.declare("dead", dead_to("last", {{"x-max-length", 1}}));
    c.declare("q", dead_to("dead"));
    for (const char* body : {"a", "b", "c"}) c.ch.publish("q", body);
    c.ch.consume("q");
    c.ch.nack_up_to(0);
    EXPECT_THAT(c.s.ready("dead"), ElementsAre("c"));
    EXPECT_THAT(c.s.ready("last"), ElementsAre("a", "b"));
    EXPECT_THAT(c.take("last").deaths(), ElementsAre("dead maxlen 1", "q rejected 1"));
}

TEST(FullTargets, ARefusingTargetWithADeadLetterExchangeSendsThemOn) {  // DL-168
    Cemetery c;
    c.declare("last");
    c.declare("dead", dead_to("last", {{"x-max-length", 1}, {"x-overflow", "reject-publish-dlx"}}));
    c.declare("q", dead_to("dead"));
    for (const char* body : {"a", "b"}) c.ch.publish("q", body);
    c.reject_head("q");
    c.reject_head("q");
    EXPECT_THAT(c.s.ready("dead"), ElementsAre("a"));
    EXPECT_THAT(c.take("last").deaths(), ElementsAre("dead maxlen 1", "q rejected 1"));
}

TEST(FullTargets, TwoFullQueuesThatPassOnToEachOtherEnd) {  // DL-112, DL-139
    Cemetery c;
    const std::initializer_list<Argument> full{{"x-max-length", 0},
                                               {"x-overflow", "reject-publish-dlx"}};
    c.declare("a", dead_to("b", full));
    c.declare("b", dead_to("a", full));
    c.ch.publish("a", "m", {.confirm = true});
    EXPECT_FALSE(c.ch.take_confirms().front().accepted);
    EXPECT_EQ(c.s.engine().state().accounts().entered, 0U);
}

TEST(FullTargets, AChainOfFullQueuesIsFollowedToTheOneWithRoom) {  // DL-139, DL-168
    Cemetery c;
    const std::initializer_list<Argument> full{{"x-max-length", 0},
                                               {"x-overflow", "reject-publish-dlx"}};
    c.declare("end");
    c.declare("c", dead_to("end", full));
    c.declare("b", dead_to("c", full));
    c.declare("a", dead_to("b", full));
    c.ch.publish("a", "m");
    EXPECT_THAT(c.take("end").deaths(), ElementsAre("c maxlen 1", "b maxlen 1", "a maxlen 1"));
}

TEST(FullTargets, DropHeadQueuesInACircleEndToo) {  // DL-112
    Cemetery c;
    c.declare("a", dead_to("b", {{"x-max-length", 1}}));
    c.declare("b", dead_to("a", {{"x-max-length", 1}}));
    for (const char* body : {"1", "2", "3", "4"}) c.ch.publish("a", body);
    EXPECT_THAT(c.s.ready("a"), ElementsAre("4"));
    EXPECT_THAT(c.s.ready("b"), ElementsAre("3"));
    EXPECT_EQ(c.s.ended(Ending::cycle), 2U);
}

TEST(FullTargets, AWaitingConsumerMakesRoomForARun) {  // DL-136: only ready messages count
    Cemetery c;
    c.declare("dead", arguments({{"x-max-length", 1}, {"x-overflow", "reject-publish"}}));
    c.declare("q", dead_to("dead"));
    auto& mourner = c.s.open_channel();
    mourner.consume("dead", {.no_ack = true});
    for (const char* body : {"a", "b", "c"}) c.ch.publish("q", body);
    c.ch.consume("q");
    c.ch.nack_up_to(0);
    EXPECT_THAT(mourner.take_bodies(), ElementsAre("a", "b", "c"));
}

}  // namespace
}  // namespace revenant::engine
