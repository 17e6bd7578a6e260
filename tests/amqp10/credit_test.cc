// Credit in both directions: top-up, drain, echo, and violations (amqp10, 5.11, 5.21, 5.23).
#include "tests/support/peer10.h"

namespace revenant::amqp10 {
namespace {

class Credit10 : public Wire10Test {};
INSTANTIATE_TEST_SUITE_P(Wire, Credit10, testing::Values(Distance::near, Distance::far),
                         distance_name);

// amqp10 5.11
TEST_P(Credit10, OfAPublisherIsToppedUpAtItsHalf) {
    declare("q");
    session().attach_sender(0, "/queues/q");
    for (std::uint32_t i = 0; i < 84; ++i) {
        session().publish<Accepted>(0, i, MessageBytes());
    }
    session().expect_nothing();
    session().transfer(0, 84, MessageBytes());
    const Flow flow = session().expect<Flow>();
    EXPECT_EQ(flow.handle, 0U);
    EXPECT_EQ(flow.delivery_count, 85U);
    EXPECT_EQ(flow.link_credit, 170U);
    session().expect_outcome<Accepted>(84);
}

// amqp10 5.11: a message uses one credit, however many transfers it takes.
TEST_P(Credit10, IsCountedInMessages) {
    declare("q");
    session().attach_sender(0, "/queues/q");
    const std::string whole = MessageBytes("body");
    session().send(Transfer{.handle = 0, .delivery_id = 0, .more = true});
    for (const char c : whole) {
        session().send(Transfer{.handle = 0, .more = true}, std::string_view(&c, 1));
    }
    session().send(Transfer{.handle = 0});
    session().expect_outcome<Accepted>(0);
    session().send(Flow{.handle = 0, .echo = true});
    const Flow flow = session().expect<Flow>();
    EXPECT_EQ(flow.link_credit, 169U);
    EXPECT_EQ(flow.delivery_count, 1U);
}

// amqp10 5.8, section 8: on another reactor no confirm tops up the credit in time.
TEST_P(Credit10, TooManyTransfersDetachTheLink) {
    depends_on_distance();
    declare("q");
    session().attach_sender(0, "/queues/q");
    peer10().hold();
    // The maximum number of unconfirmed messages, and all credit granted in the meantime.
    for (std::uint32_t i = 0; i < 400; ++i) session().transfer(0, i, MessageBytes());
    peer10().release();
    if (GetParam() == Distance::near) {
        // Each is confirmed before the next one is read.
        peer10().ignore_rest();
        EXPECT_EQ(channel().count("q"), 400U);
        return;
    }
    std::size_t flows = 0;
    ErrorText error;
    while (const Arrival* const arrival = peer10().next(0)) {
        if (arrival->code() == Flow::descriptor_code) flows += 1;
        if (arrival->code() != Detach::descriptor_code) continue;
        error = error_in(Detach::decode(arrival->items())->error);
    }
    EXPECT_GT(flows, 0U);
    EXPECT_EQ(error.condition, "amqp:link:transfer-limit-exceeded");
    EXPECT_EQ(error.description, "insufficient link credit");
}

// A sender's flow requests the credit with echo; otherwise it changes nothing.
TEST_P(Credit10, OfAPublisherIsToldOnRequest) {
    declare("q");
    session().attach_sender(3, "/queues/q");
    session().send(Flow{.handle = 3, .delivery_count = 0, .link_credit = 5});
    session().expect_nothing();
    session().send(Flow{.handle = 3, .echo = true});
    const Flow flow = session().expect<Flow>();
    EXPECT_EQ(flow.handle, 3U);
    EXPECT_EQ(flow.link_credit, 170U);
    EXPECT_EQ(flow.delivery_count, 0U);
}

// amqp10 5.2, 1.4: the count continues from the client's and wraps around at 32 bits.
TEST_P(Credit10, ThePublishersCountWrapsAround) {
    declare("q");
    const std::string target = target_of("/queues/q");
    session().send(
        Attach{.name = "n", .handle = 0, .target = target, .initial_delivery_count = 4294967290});
    session().expect<Attach>();
    EXPECT_EQ(session().expect<Flow>().delivery_count, 4294967290U);
    for (std::uint32_t i = 0; i < 10; ++i) {
        session().publish<Accepted>(0, 4294967290U + i, MessageBytes());
    }
    session().send(Flow{.handle = 0, .echo = true});
    EXPECT_EQ(session().expect<Flow>().delivery_count, 4U);
}

// amqp10 C.6, 5.23
TEST_P(Credit10, DrainOfAnEmptyQueueUsesItUp) {
    declare("q");
    session().attach_receiver(0, "/queues/q");
    session().credit(0, 10, /*drain=*/true);
    const Flow flow = session().expect<Flow>();
    EXPECT_EQ(flow.handle, 0U);
    EXPECT_EQ(flow.link_credit, 0U);
    EXPECT_EQ(flow.delivery_count, 10U);
    EXPECT_TRUE(flow.drain);
    EXPECT_EQ(flow.available, 0U);
    channel().publish("", "q", "late");
    session().expect_nothing();
    // The client's count continues from the drained one.
    peer10().note_deliveries(0, 0, 10);
    session().credit(0, 1);
    session().expect_message("late");
}

// amqp10 5.23
TEST_P(Credit10, DrainFirstDeliversWhatIsThere) {
    declare("q");
    for (const char* body : {"one", "two"}) channel().publish("", "q", body);
    session().attach_receiver(0, "/queues/q");
    session().credit(0, 5, /*drain=*/true);
    session().expect_message("one");
    session().expect_message("two");
    const Flow flow = session().expect<Flow>();
    EXPECT_EQ(flow.delivery_count, 5U);
    EXPECT_EQ(flow.link_credit, 0U);
    EXPECT_TRUE(flow.drain);
    session().credit(0, 0, true);
    EXPECT_EQ(session().expect<Flow>().link_credit, 0U);
}

// amqp10 3.3, 5.23: a client that is informed of used credit already has the messages that used it.
TEST_P(Credit10, DrainIsToldBehindWhatWaitsForTheWindow) {
    declare("q");
    for (const char* body : {"one", "two", "three"}) channel().publish("", "q", body);
    PeerSession narrow = peer10().begin(1, 1);
    narrow.attach_receiver(0, "/queues/q");
    narrow.send(Flow{.next_incoming_id = 0,
                     .incoming_window = 1,
                     .handle = 0,
                     .delivery_count = 0,
                     .link_credit = 10,
                     .drain = true,
                     .echo = true});
    narrow.expect_message("one");
    narrow.expect_nothing();
    narrow.send(Flow{.next_incoming_id = 1, .incoming_window = 100});
    narrow.expect_message("two");
    narrow.expect_message("three");
    const Flow flow = narrow.expect<Flow>();
    EXPECT_EQ(flow.handle, 0U);
    EXPECT_EQ(flow.delivery_count, 10U);
    EXPECT_EQ(flow.link_credit, 0U);
    EXPECT_TRUE(flow.drain);
}

// amqp10 5.26
TEST_P(Credit10, OfAQuorumQueueIsAnsweredWithWhoseTurnItIs) {
    depends_on_distance();
    declare_quorum("plain");
    declare_quorum("single", {{"x-single-active-consumer", true}});
    declare("classic");
    session().attach_receiver(0, "/queues/plain", 5);
    session().attach_receiver(1, "/queues/single", 5);
    session().attach_receiver(2, "/queues/single", 5);
    session().attach_receiver(3, "/queues/classic", 5);
    using Turns = std::vector<bool>;
    EXPECT_EQ(peer10().activity_of(0, 0), Turns{true});
    EXPECT_EQ(peer10().activity_of(0, 1), Turns{true});
    EXPECT_EQ(peer10().activity_of(0, 2), Turns{false});
    EXPECT_EQ(peer10().activity_of(0, 3), Turns{});
    session().credit(0, 10);
    session().detach(1);
    EXPECT_EQ(peer10().activity_of(0, 0), Turns{});
    EXPECT_EQ(peer10().activity_of(0, 2), Turns{true});
}

// amqp10 5.23
TEST_P(Credit10, EchoTellsHowItStands) {
    declare("q");
    for (const char* body : {"one", "two", "three"}) channel().publish("", "q", body);
    session().attach_receiver(0, "/queues/q");
    session().credit(0, 1);
    session().expect_message("one");
    session().credit(0, 0, false, /*echo=*/true);
    const Flow flow = session().expect<Flow>();
    EXPECT_EQ(flow.delivery_count, 1U);
    EXPECT_EQ(flow.link_credit, 0U);
    EXPECT_EQ(flow.available, 2U);
    EXPECT_FALSE(flow.drain);
}

// amqp10 5.23: a link flow that only requests the state changes nothing.
TEST_P(Credit10, EchoWithoutCreditKeepsTheCredit) {
    declare("q");
    session().attach_receiver(0, "/queues/q");
    session().credit(0, 3);
    session().send(Flow{.next_incoming_id = 0, .incoming_window = 1000, .handle = 0, .echo = true});
    const Flow flow = session().expect<Flow>();
    EXPECT_EQ(flow.link_credit, 3U);
    for (int i = 0; i < 4; ++i) channel().publish("", "q", "m");
    for (int i = 0; i < 3; ++i) session().expect_message("m");
    session().expect_nothing();
}

// amqp10 5.23
TEST_P(Credit10, CanBeTakenBack) {
    declare("q");
    session().attach_receiver(0, "/queues/q");
    session().credit(0, 10);
    session().credit(0, 0);
    channel().publish("", "q", "m");
    session().expect_nothing();
    session().credit(0, 2);
    session().expect_message("m");
}

// amqp10 1.4: messages that the client had not seen when it granted credit count.
TEST_P(Credit10, CountsFromWhatTheClientHadSeen) {
    declare("q");
    for (int i = 0; i < 5; ++i) channel().publish("", "q", "m");
    session().attach_receiver(0, "/queues/q");
    session().credit(0, 2);
    session().credit(0, 3);  // from 0 again: one more than before
    for (int i = 0; i < 3; ++i) session().expect_message("m");
    session().expect_nothing();
}

// Links share a queue according to their credit.
TEST_P(Credit10, OfOneLinkIsNotThatOfAnother) {
    declare("q");
    session().attach_receiver(0, "/queues/q", 1);
    session().attach_receiver(1, "/queues/q", 2);
    for (int i = 0; i < 4; ++i) channel().publish("", "q", "m");
    std::size_t first = 0;
    for (int i = 0; i < 3; ++i) first += session().expect_message("m").handle == 0 ? 1 : 0;
    EXPECT_EQ(first, 1U);
    session().expect_nothing();
    EXPECT_EQ(channel().count("q"), 1U);
}

}  // namespace
}  // namespace revenant::amqp10
