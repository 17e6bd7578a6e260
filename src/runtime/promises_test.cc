#include "runtime/promises.h"

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
        promises.release_confirms({durable}, [&](const engine::Confirm& confirm) {
            sequences.push_back(confirm.sequence);
        });
        return sequences;
    }
    std::vector<std::string> answered_up_to(std::uint64_t durable) {
        std::vector<std::string> answers;
        promises.release_answers({durable}, [&](engine::Effect&& effect) {
            const bool is_delivery = std::holds_alternative<engine::Deliver>(effect);
            answers.push_back((is_delivery ? "delivery " : "answer ") +
                              std::to_string(engine::addressee(effect)));
        });
        return answers;
    }
    Promises promises;
};

TEST(Promises, AConfirmWaitsForTheEndOfItsBatch) {
    Held h;
    h.promises.hold(engine::Confirm{one, 7}, {40});
    EXPECT_THAT(h.confirmed_up_to(0), IsEmpty());
    EXPECT_THAT(h.confirmed_up_to(40), IsEmpty()) << "what was durable before the batch";
    EXPECT_THAT(h.confirmed_up_to(96), ElementsAre(7));
    EXPECT_TRUE(h.promises.empty());
    EXPECT_THAT(h.confirmed_up_to(96), IsEmpty());
}

TEST(Promises, ConfirmsLeaveInTheirOrderAndNoFurtherThanIsSafe) {
    Held h;
    for (std::uint64_t i = 1; i <= 5; ++i) h.promises.hold(engine::Confirm{one, i}, {i * 100});
    EXPECT_THAT(h.confirmed_up_to(301), ElementsAre(1, 2, 3));
    EXPECT_THAT(h.confirmed_up_to(301), IsEmpty());
    EXPECT_THAT(h.confirmed_up_to(1000), ElementsAre(4, 5));
}

TEST(Promises, AConfirmThatPromisesNothingDoesNotOvertake) {
    Held h;
    EXPECT_FALSE(h.promises.has_confirms_for(one));
    h.promises.hold(engine::Confirm{one, 1}, {100});
    EXPECT_TRUE(h.promises.has_confirms_for(one));
    EXPECT_FALSE(h.promises.has_confirms_for(two));
    h.promises.hold_behind(engine::Confirm{one, 2});
    EXPECT_THAT(h.confirmed_up_to(100), IsEmpty());
    EXPECT_THAT(h.confirmed_up_to(101), ElementsAre(1, 2));
    EXPECT_FALSE(h.promises.has_confirms_for(one));
}

TEST(Promises, AnswersWaitAndDeliveriesOfTheirChannelBehindThem) {
    Held h;
    h.promises.hold(engine::Effect(engine::Done{one, engine::Answer{}}), {100});
    EXPECT_TRUE(h.promises.has_answers_for(one.value));
    EXPECT_FALSE(h.promises.has_answers_for(two.value));
    engine::Deliver delivery;
    delivery.channel = one;
    h.promises.hold_behind(engine::Effect(std::move(delivery)));
    EXPECT_THAT(h.answered_up_to(100), IsEmpty());
    EXPECT_THAT(h.answered_up_to(200), ElementsAre("answer 1", "delivery 1"));
    EXPECT_FALSE(h.promises.has_answers_for(one.value));
    EXPECT_TRUE(h.promises.empty());
}

TEST(Promises, WhatIsHeldBehindAnswersIsCountedUntilItHasLeft) {
    Held h;
    const auto delivery_to = [](ChannelId channel) {
        engine::Deliver delivery;
        delivery.channel = channel;
        return delivery;
    };
    h.promises.hold(engine::Effect(engine::Done{one, engine::Answer{}}), {100});
    h.promises.hold(engine::Effect(engine::Done{two, engine::Answer{}}), {100});
    EXPECT_EQ(h.promises.hold_behind(delivery_to(one), 1000), 1000U);
    EXPECT_EQ(h.promises.hold_behind(delivery_to(two), 10), 10U);
    EXPECT_EQ(h.promises.hold_behind(delivery_to(one), 500), 1500U);
    h.answered_up_to(200);
    h.promises.hold(engine::Effect(engine::Done{one, engine::Answer{}}), {300});
    EXPECT_EQ(h.promises.hold_behind(delivery_to(one), 7), 7U);
}

TEST(Promises, EachChannelIsCountedByItself) {
    Held h;
    h.promises.hold(engine::Effect(engine::Done{one, engine::Answer{}}), {100});
    h.promises.hold(engine::Effect(engine::Done{two, engine::Answer{}}), {200});
    h.promises.hold(engine::Effect(engine::Done{one, engine::Answer{}}), {300});
    EXPECT_THAT(h.answered_up_to(201), ElementsAre("answer 1", "answer 2"));
    EXPECT_TRUE(h.promises.has_answers_for(one.value));
    EXPECT_FALSE(h.promises.has_answers_for(two.value));
}

TEST(Promises, ConfirmsAndAnswersDoNotWaitForEachOther) {
    Held h;
    h.promises.hold(engine::Confirm{one, 1}, {100});
    h.promises.hold(engine::Effect(engine::ConnectionClosed{{9}}), {50});
    EXPECT_THAT(h.answered_up_to(60), ElementsAre("answer 9"));
    EXPECT_FALSE(h.promises.empty());
    EXPECT_THAT(h.confirmed_up_to(101), ElementsAre(1));
}

// Who is told may be promised something more at once.
TEST(Promises, MoreMayBeHeldWhileSomeAreReleased) {
    Held h;
    h.promises.hold(engine::Confirm{one, 1}, {100});
    std::vector<std::uint64_t> told;
    h.promises.release_confirms({101}, [&](const engine::Confirm& confirm) {
        told.push_back(confirm.sequence);
        if (confirm.sequence < 3) {
            h.promises.hold(engine::Confirm{one, confirm.sequence + 1}, {confirm.sequence * 100});
        }
    });
    EXPECT_THAT(told, ElementsAre(1, 2));
    EXPECT_TRUE(h.promises.has_confirms_for(one));
    EXPECT_THAT(h.confirmed_up_to(201), ElementsAre(3));
}

}  // namespace
}  // namespace revenant::runtime
