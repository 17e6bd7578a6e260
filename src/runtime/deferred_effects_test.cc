#include "runtime/deferred_effects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace revenant::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ChannelId one{1};
constexpr ChannelId two{2};

struct Held {
    std::vector<std::uint64_t> confirmed_up_to(std::uint64_t durable) {
        std::vector<std::uint64_t> sequences;
        deferred_effects.release_confirms({durable}, [&](const engine::Confirm& confirm) {
            sequences.push_back(confirm.sequence);
        });
        return sequences;
    }
    std::vector<std::string> answered_up_to(std::uint64_t durable) {
        std::vector<std::string> answers;
        deferred_effects.release_answers({durable}, [&](engine::Effect&& effect) {
            const bool is_delivery = std::holds_alternative<engine::Deliver>(effect);
            answers.push_back((is_delivery ? "delivery " : "answer ") +
                              std::to_string(engine::addressee(effect)));
        });
        return answers;
    }
    DeferredEffects deferred_effects;
};

TEST(DeferredEffects, AConfirmWaitsForTheEndOfItsBatch) {
    Held h;
    h.deferred_effects.hold(engine::Confirm{one, 7}, {40});
    EXPECT_THAT(h.confirmed_up_to(0), IsEmpty());
    EXPECT_THAT(h.confirmed_up_to(40), IsEmpty()) << "what was durable before the batch";
    EXPECT_THAT(h.confirmed_up_to(96), ElementsAre(7));
    EXPECT_TRUE(h.deferred_effects.empty());
    EXPECT_THAT(h.confirmed_up_to(96), IsEmpty());
}

TEST(DeferredEffects, ConfirmsLeaveInTheirOrderAndNoFurtherThanIsSafe) {
    Held h;
    for (std::uint64_t i = 1; i <= 5; ++i)
        h.deferred_effects.hold(engine::Confirm{one, i}, {i * 100});
    EXPECT_THAT(h.confirmed_up_to(301), ElementsAre(1, 2, 3));
    EXPECT_THAT(h.confirmed_up_to(301), IsEmpty());
    EXPECT_THAT(h.confirmed_up_to(1000), ElementsAre(4, 5));
}

TEST(DeferredEffects, AConfirmThatPromisesNothingDoesNotOvertake) {
    Held h;
    EXPECT_FALSE(h.deferred_effects.has_confirms_for(one));
    h.deferred_effects.hold(engine::Confirm{one, 1}, {100});
    EXPECT_TRUE(h.deferred_effects.has_confirms_for(one));
    EXPECT_FALSE(h.deferred_effects.has_confirms_for(two));
    h.deferred_effects.hold_behind(engine::Confirm{one, 2});
    EXPECT_THAT(h.confirmed_up_to(100), IsEmpty());
    EXPECT_THAT(h.confirmed_up_to(101), ElementsAre(1, 2));
    EXPECT_FALSE(h.deferred_effects.has_confirms_for(one));
}

TEST(DeferredEffects, AnswersWaitAndDeliveriesOfTheirChannelBehindThem) {
    Held h;
    h.deferred_effects.hold(engine::Effect(engine::Done{one, engine::Answer{}}), {100});
    EXPECT_TRUE(h.deferred_effects.has_answers_for(one.value));
    EXPECT_FALSE(h.deferred_effects.has_answers_for(two.value));
    engine::Deliver delivery;
    delivery.channel = one;
    h.deferred_effects.hold_behind(engine::Effect(std::move(delivery)));
    EXPECT_THAT(h.answered_up_to(100), IsEmpty());
    EXPECT_THAT(h.answered_up_to(200), ElementsAre("answer 1", "delivery 1"));
    EXPECT_FALSE(h.deferred_effects.has_answers_for(one.value));
    EXPECT_TRUE(h.deferred_effects.empty());
}

TEST(DeferredEffects, WhatIsHeldBehindAnswersIsCountedUntilItHasLeft) {
    Held h;
    const auto delivery_to = [](ChannelId channel) {
        engine::Deliver delivery;
        delivery.channel = channel;
        return delivery;
    };
    h.deferred_effects.hold(engine::Effect(engine::Done{one, engine::Answer{}}), {100});
    h.deferred_effects.hold(engine::Effect(engine::Done{two, engine::Answer{}}), {100});
    EXPECT_EQ(h.deferred_effects.hold_behind(delivery_to(one), 1000), 1000U);
    EXPECT_EQ(h.deferred_effects.hold_behind(delivery_to(two), 10), 10U);
    EXPECT_EQ(h.deferred_effects.hold_behind(delivery_to(one), 500), 1500U);
    h.answered_up_to(200);
    h.deferred_effects.hold(engine::Effect(engine::Done{one, engine::Answer{}}), {300});
    EXPECT_EQ(h.deferred_effects.hold_behind(delivery_to(one), 7), 7U);
}

TEST(DeferredEffects, EachChannelIsCountedByItself) {
    Held h;
    h.deferred_effects.hold(engine::Effect(engine::Done{one, engine::Answer{}}), {100});
    h.deferred_effects.hold(engine::Effect(engine::Done{two, engine::Answer{}}), {200});
    h.deferred_effects.hold(engine::Effect(engine::Done{one, engine::Answer{}}), {300});
    EXPECT_THAT(h.answered_up_to(201), ElementsAre("answer 1", "answer 2"));
    EXPECT_TRUE(h.deferred_effects.has_answers_for(one.value));
    EXPECT_FALSE(h.deferred_effects.has_answers_for(two.value));
}

TEST(DeferredEffects, ConfirmsAndAnswersDoNotWaitForEachOther) {
    Held h;
    h.deferred_effects.hold(engine::Confirm{one, 1}, {100});
    h.deferred_effects.hold(engine::Effect(engine::ConnectionClosed{{9}}), {50});
    EXPECT_THAT(h.answered_up_to(60), ElementsAre("answer 9"));
    EXPECT_FALSE(h.deferred_effects.empty());
    EXPECT_THAT(h.confirmed_up_to(101), ElementsAre(1));
}

// The receiver of an effect may cause another effect to be held.
TEST(DeferredEffects, MoreMayBeHeldWhileSomeAreReleased) {
    Held h;
    h.deferred_effects.hold(engine::Confirm{one, 1}, {100});
    std::vector<std::uint64_t> told;
    h.deferred_effects.release_confirms({101}, [&](const engine::Confirm& confirm) {
        told.push_back(confirm.sequence);
        if (confirm.sequence < 3) {
            h.deferred_effects.hold(engine::Confirm{one, confirm.sequence + 1},
                                    {confirm.sequence * 100});
        }
    });
    EXPECT_THAT(told, ElementsAre(1, 2));
    EXPECT_TRUE(h.deferred_effects.has_confirms_for(one));
    EXPECT_THAT(h.confirmed_up_to(201), ElementsAre(3));
}

}  // namespace
}  // namespace revenant::runtime
