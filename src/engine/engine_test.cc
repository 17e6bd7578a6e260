#include "engine/engine.h"

#include "tests/support/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// -------------------------------------------------------------------- closing channels

TEST(ChannelEnd, ReturnsWhatIsUnsettledForOthersToTake) {  // amqp091 5.6
    Scenario s;
    auto& ch = s.open_channel();
    auto& other = s.open_channel(s.connect());
    ch.declare_queue("q");
    ch.consume("q");
    for (const char* body : {"a", "b", "c"}) ch.publish("q", body);
    ch.ack(2);
    other.consume("q");
    other.take_transcript();
    ch.close();
    EXPECT_THAT(other.take_transcript(), ElementsAre("redeliver 1 a", "redeliver 1 c"));
    EXPECT_EQ(s.queue("q").consumers.all.size(), 1U);
}

TEST(ChannelEnd, IsAnsweredAlsoForAChannelThatIsGone) {  // amqp091 4.4
    Scenario s;
    auto& ch = s.open_channel();
    ch.close();
    EXPECT_THAT(ch.take_transcript(), ElementsAre("done"));
}

TEST(ChannelEnd, DoesNotDeliverToItselfWhatItGivesBack) {  // amqp091 5.6
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("a");
    ch.qos(1);
    ch.consume("a");
    ch.consume("a");
    for (const char* body : {"1", "2", "3"}) ch.publish("a", body);
    ch.take_transcript();
    ch.close();
    EXPECT_THAT(ch.take_transcript(), ElementsAre("done"));
    EXPECT_THAT(s.ready("a"), ElementsAre("1", "2", "3"));
}

TEST(ChannelEnd, ServesOthersWhileItGivesBackButNotItself) {  // amqp091 5.6; DL-132, DL-136
    for (const bool other_waits : {false, true}) {
        Scenario s;
        auto& ch = s.open_channel();
        auto& other = s.open_channel();
        ch.declare_queue("dead", {{"x-max-length", 1}, {"x-overflow", "reject-publish"}});
        ch.declare_queue("q", {{"x-message-ttl", 100},
                               {"x-dead-letter-exchange", ""},
                               {"x-dead-letter-routing-key", "dead"}});
        ch.consume("dead");
        ch.consume("q");
        if (other_waits) other.consume("dead");
        for (const char* body : {"a", "b", "c"}) ch.publish("q", body);
        s.advance(milliseconds(200));
        ch.take_transcript();
        ch.close();  // its unsettled messages have expired
        EXPECT_THAT(ch.take_transcript(), ElementsAre("done"));
        EXPECT_EQ(other.take_bodies().size(), other_waits ? 3U : 0U);
        EXPECT_EQ(s.ended(Ending::target_refused), other_waits ? 0U : 2U);
    }
}

TEST(Refusal, EndsTheChannelAndReturnsItsMessages) {  // amqp091 4.4
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q");
    ch.consume("q");
    ch.publish("q", "a");
    ch.delete_queue("q", false, /*if_empty=*/true);  // empty: "a" is unsettled
    EXPECT_FALSE(s.has_queue("q"));
    ch.declare_queue("q");
    ch.consume("q");
    ch.publish("q", "b");
    ch.consume("missing");
    ch.expect_refused(RefusalKind::not_found, "no queue 'missing' in vhost '/'");
    EXPECT_THAT(s.ready("q"), ElementsAre("b"));
    EXPECT_EQ(s.queue("q").consumers.all.size(), 0U);
}

// For commands that a Scenario would not send.
struct Silent : EffectSink {
    bool deliver(Deliver&&) override { return true; }
    void confirm(const Confirm&) override { ++effects; }
    void request(Effect&& effect) override {
        ++effects;
        last = std::move(effect);
    }
    int effects = 0;
    Effect last;
};

TEST(Refusal, CommandsUnderWayBehindItAreIgnored) {  // amqp091 4.4
    Silent sink;
    Engine engine({}, sink, nullptr);
    engine.handle(OpenConnection{{1}, "guest"}, {0});
    engine.handle(OpenChannel{{1}, {1}}, {0});
    engine.handle(PurgeQueue{{1}, "missing"}, {0});
    ASSERT_TRUE(std::holds_alternative<Refuse>(sink.last));
    EXPECT_EQ(sink.effects, 1);
    engine.handle(DeclareQueue{.channel = {1}, .name = "q"}, {0});
    engine.publish(Publish{.channel = {1}, .message = make_test_message("q", "a")}, {0});
    engine.settle(Settle{.channel = {1}, .delivery = {1}}, {0});
    engine.handle(Commit{{1}}, {0});
    EXPECT_EQ(sink.effects, 1);
    EXPECT_EQ(engine.state().find_queue("q"), nullptr);
    engine.handle(CloseChannel{{1}}, {0});  // always answered
    EXPECT_EQ(sink.effects, 2);
    EXPECT_TRUE(std::holds_alternative<Done>(sink.last));
}

TEST(Refusal, SaysWhatKindOfCommandItRefuses) {
    Silent sink;
    Engine engine({}, sink, nullptr);
    engine.handle(OpenConnection{{1}, "guest"}, {0});
    const auto refused = [&](std::uint64_t channel, Command command) {
        engine.handle(OpenChannel{{1}, {channel}}, {0});
        engine.handle(std::move(command), {0});
        return std::get<Refuse>(sink.last).command;
    };
    EXPECT_EQ(refused(1, Publish{.channel = {1},
                                 .message = make_test_message("", "", {.exchange = "nowhere"})}),
              RefusedCommand::publish);
    const Outcome wished{OutcomeKind::rejected, true};
    EXPECT_EQ(refused(2, Settle{.channel = {2}, .delivery = {7}, .outcome = wished}),
              RefusedCommand::settlement);
    EXPECT_EQ(std::get<Refuse>(sink.last).outcome, wished);
    EXPECT_EQ(refused(3, Commit{{3}}), RefusedCommand::answered);
}

TEST(Engine, WorksWithoutARecorder) {
    Silent sink;
    Engine engine({}, sink, nullptr);
    engine.handle(OpenConnection{{1}, "guest"}, {0});
    engine.handle(OpenChannel{{1}, {1}}, {0});
    engine.handle(DeclareQueue{.channel = {1}, .name = "q"}, {0});
    engine.publish(Publish{.channel = {1}, .message = make_test_message("q", "a")}, {0});
    engine.handle(Get{{1}, "q", false}, {0});
    engine.settle(Settle{.channel = {1}, .delivery = {1}}, {0});
    EXPECT_EQ(engine.state().accounts().of(Ending::acknowledged), 1U);
}

TEST(Engine, NamesItsOwnVhostInRefusals) {
    Silent sink;
    Engine engine({.vhost = "my vhost"}, sink, nullptr);
    engine.handle(OpenConnection{{1}, "guest"}, {0});
    engine.handle(OpenChannel{{1}, {1}}, {0});
    engine.handle(PurgeQueue{{1}, "q"}, {0});
    EXPECT_EQ(std::get<Refuse>(sink.last).refusal.text, "no queue 'q' in vhost 'my vhost'");
}

// ------------------------------------------------------------------ closing connections

TEST(ConnectionEnd, ClosesItsChannelsAndIsTold) {  // amqp091 4.6
    Scenario s;
    const ConnectionId leaving = s.connect();
    auto& stays = s.open_channel();
    auto& one = s.open_channel(leaving);
    auto& two = s.open_channel(leaving);
    stays.declare_queue("q");
    one.consume("q");
    two.consume("q");
    for (const char* body : {"a", "b", "c"}) stays.publish("q", body);
    s.close(leaving);
    EXPECT_THAT(s.ready("q"), ElementsAre("a", "b", "c"));
    EXPECT_EQ(s.engine().attached().channel_count(), 1U);
    EXPECT_EQ(s.engine().attached().connection_count(), 1U);
}

TEST(ConnectionEnd, OfAnUnknownOneIsAnswered) {
    Silent sink;
    Engine engine({}, sink, nullptr);
    engine.handle(CloseConnection{{9}}, {0});
    EXPECT_TRUE(std::holds_alternative<ConnectionClosed>(sink.last));
    engine.handle(OpenChannel{{9}, {1}}, {0});  // crossed on the wire
    engine.handle(ResumeConnection{{9}}, {0});
    EXPECT_EQ(engine.attached().channel_count(), 0U);
}

TEST(ConnectionEnd, LeavesAnExclusiveQueuesBindingsToNobody) {  // amqp091 8.4, 6.10
    Scenario s;
    const ConnectionId leaving = s.connect();
    auto& ch = s.open_channel(leaving);
    ch.declare_exchange("x", "fanout", {.auto_delete = true});
    ch.declare_queue("q", {.exclusive = true});
    ch.bind("x", "q");
    ch.consume("q");
    ch.publish("q", "a");
    s.close(leaving);
    EXPECT_FALSE(s.has_queue("q"));
    EXPECT_FALSE(s.has_exchange("x"));
}

// ----------------------------------------------------------------------------- time

TEST(Time, TheNextDeadlineIsNeverWithoutOne) {
    Scenario s;
    EXPECT_EQ(s.engine().next_deadline(), never);
    auto& ch = s.open_channel();
    ch.declare_queue("q", {{"x-message-ttl", 100}});
    EXPECT_EQ(s.engine().next_deadline(), never);
    ch.publish("q", "a");
    EXPECT_EQ(s.engine().next_deadline(), s.now() + milliseconds(100));
    s.advance(milliseconds(100));
    EXPECT_EQ(s.engine().next_deadline(), never);
}

TEST(Time, ATickWithNothingDueChangesNothing) {
    Scenario s;
    auto& ch = s.open_channel();
    ch.declare_queue("q", {{"x-message-ttl", 100}});
    ch.publish("q", "a");
    const std::size_t before = s.events().size();
    s.engine().handle(Tick{}, s.now());
    EXPECT_EQ(s.events().size(), before);
    EXPECT_THAT(s.ready("q"), ElementsAre("a"));
}

}  // namespace
}  // namespace revenant::engine
