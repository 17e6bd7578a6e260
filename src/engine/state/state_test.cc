#include "engine/state/state.h"

#include "engine/view/describe.h"
#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace revenant::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

QueueDeclared declared(std::uint64_t id, std::string name) {
    return {{{id}, std::move(name), true, false, false, {}}, {}};
}

TEST(State, QueueIdsAreNotUsedTwice) {
    State state;
    EXPECT_EQ(state.next_queue_id(), QueueId{1});
    state.apply(declared(7, "a"));
    EXPECT_EQ(state.next_queue_id(), QueueId{8});
    state.apply(QueueDeleted{{7}});
    EXPECT_EQ(state.next_queue_id(), QueueId{8});
    EXPECT_EQ(state.find_queue("a"), nullptr);
    EXPECT_EQ(state.find_queue(QueueId{7}), nullptr);
}

TEST(State, EveryChangeOfTheTopologyIsSeen) {  // cached routes depend on it
    State state;
    std::uint64_t version = state.topology_version();
    const auto changed = [&] {
        return std::exchange(version, state.topology_version()) != version;
    };
    state.apply(declared(1, "q"));
    EXPECT_TRUE(changed());
    state.apply(ExchangeDeclared{{"x", ExchangeType::fanout, false, false, false, {}}});
    EXPECT_TRUE(changed());
    state.apply(Bound{"x", DestinationKind::queue, "q", "k", {}});
    EXPECT_TRUE(changed());
    state.apply(Enqueued{make_test_message("q", "a"), {{1}, Position::of(0, 0), never}});
    EXPECT_FALSE(changed());
    state.apply(Unbound{"x", DestinationKind::queue, "q", "k", {}});
    EXPECT_TRUE(changed());
    state.apply(ExchangeDeleted{"x"});
    EXPECT_TRUE(changed());
    state.apply(QueueDeleted{{1}});
    EXPECT_TRUE(changed());
}

TEST(State, AnEventAboutWhatIsNotThereIsABug) {
    State state;
    EXPECT_DEATH(state.apply(Removed{{5}, {}, Ending::acknowledged}), "CHECK failed");
    EXPECT_DEATH(state.apply(Bound{"x", DestinationKind::queue, "q", "", {}}), "CHECK failed");
    EXPECT_DEATH(state.apply(ExchangeDeleted{"x"}), "CHECK failed");
}

TEST(State, ADeathIsOutOfTheSourceAndInEveryTarget) {  // design, promise 2
    State state;
    state.apply(declared(1, "source"));
    state.apply(declared(2, "t1"));
    state.apply(declared(3, "t2"));
    state.apply(Enqueued{make_test_message("source", "m"), {{1}, Position::of(0, 0), never}});
    auto* const envelope = new Envelope;
    envelope->exchange = "dlx";
    envelope->delivery_count = 4;
    state.apply(
        DeadLettered{{1},
                     Position::of(0, 0),
                     EnvelopeRef::adopt(envelope),
                     {{{2}, Position::of(0, 0), Timestamp{50}}, {{3}, Position::of(0, 9), never}}});
    EXPECT_EQ(state.find_queue("source")->ready_count(), 0U);
    Queue& first = *state.find_queue("t1");
    EXPECT_EQ(first.at(Position::of(0, 0)).envelope->exchange, "dlx");
    EXPECT_EQ(first.at(Position::of(0, 0)).delivery_count, 4U);
    EXPECT_TRUE(state.find_queue("t2")->contains(Position::of(0, 9)));
    EXPECT_EQ(state.deadlines_next(), Timestamp{50});
    EXPECT_EQ(state.accounts().entered, 3U);
    EXPECT_EQ(state.accounts().of(Ending::dead_lettered), 1U);
}

TEST(State, ADescriptionTellsApartWhatDiffers) {  // replay comparisons depend on it
    const auto described = [](auto change) {
        State state;
        state.apply(declared(1, "q"));
        state.apply(Enqueued{make_test_message("q", "a"), {{1}, Position::of(0, 0), never}});
        change(state);
        return describe(state);
    };
    const std::string same = described([](State&) {});
    EXPECT_EQ(described([](State&) {}), same);
    EXPECT_THAT(same, HasSubstr("queue q id 1 durable"));
    EXPECT_NE(described([](State& s) { s.apply(declared(2, "r")); }), same);
    EXPECT_NE(described([](State& s) {
                  s.apply(Requeued{{1}, Position::of(0, 0), Position::of(0, 0), {1, 1}});
              }),
              same);
    EXPECT_NE(described([](State& s) {
                  s.apply(Removed{{1}, Position::of(0, 0), Ending::acknowledged});
              }),
              same);
    EXPECT_NE(described([](State& s) {
                  s.apply(Bound{"amq.direct", DestinationKind::queue, "q", "k", {}});
              }),
              same);
    EXPECT_NE(
        described([](State& s) {
            s.apply(Enqueued{make_test_message("q", "b"), {{1}, Position::of(0, 1), Timestamp{5}}});
        }),
        described([](State& s) {
            s.apply(Enqueued{make_test_message("q", "b"), {{1}, Position::of(0, 1), never}});
        }));
}

TEST(State, ADeletedQueueLivesUntilItsDeliveriesAreSettled) {
    State state;
    state.apply(declared(1, "q"));
    state.apply(Enqueued{make_test_message("q", "a"), {{1}, Position::of(0, 0), never}});
    Queue& queue = *state.find_queue("q");
    queue.unsettled_deliveries = 1;
    state.apply(QueueDeleted{{1}});
    EXPECT_TRUE(queue.deleted);
    EXPECT_EQ(queue.ready_count(), 0U);
    EXPECT_EQ(state.queue_count(), 0U);
    EXPECT_EQ(state.accounts().of(Ending::queue_deleted), 1U);
    state.release_deleted_queue(queue);
}

TEST(State, AReplayedEngineGoesOnWhereTheOtherStopped) {  // as after a restart
    Scenario before;
    auto& ch = before.open_channel();
    ch.declare_queue("dead");
    ch.declare_queue("q", {.durable = true,
                           .arguments = arguments({{"x-dead-letter-exchange", ""},
                                                   {"x-dead-letter-routing-key", "dead"}})});
    for (const char* body : {"a", "b", "c"}) ch.publish("q", body, {.ttl_ms = 1000});
    ch.get("q");  // unsettled at the crash
    ch.ack(ch.get("q")->tag);

    struct Sink : EffectSink {
        bool deliver(Deliver&& effect) override {
            bodies.emplace_back(effect.message->body());
            return true;
        }
        void confirm(const Confirm&) override {}
        void request(Effect&&) override {}
        std::vector<std::string> bodies;
    } sink;
    Engine after({}, sink, nullptr);
    for (const Event& event : before.events()) after.replay(event);
    const Timestamp now = before.now() + milliseconds(500);
    after.handle(OpenConnection{{1}, "guest"}, now);
    after.handle(OpenChannel{{1}, {1}}, now);
    after.handle(SetQos{{1}, 1, false}, now);
    after.handle(Consume{.channel = {1}, .consumer = 1, .queue = "q"}, now);
    EXPECT_THAT(sink.bodies, ::testing::ElementsAre("a"));
    EXPECT_EQ(after.next_deadline(), before.now() + milliseconds(1000));
    after.handle(Tick{}, after.next_deadline());
    EXPECT_EQ(after.state().find_queue("dead")->ready_count(), 1U);  // "c"
    after.publish(Publish{.channel = {1}, .message = make_test_message("q", "d")}, now);
    after.settle(Settle{.channel = {1}, .delivery = {1}}, now);
    EXPECT_THAT(sink.bodies, ::testing::ElementsAre("a", "d"));
}

}  // namespace
}  // namespace revenant::engine
