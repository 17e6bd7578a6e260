// Sessions: windows, handles and errors (amqp10, section 3).
#include "amqp10/codec/raw_fields.h"
#include "tests/support/peer10.h"

namespace revenant::amqp10 {
namespace {

using namespace std::string_literals;

class Session10 : public Wire10Test {};
INSTANTIATE_TEST_SUITE_P(Wire, Session10, testing::Values(Distance::near, Distance::far),
                         distance_name);

// amqp10 3.1
TEST_P(Session10, BeginIsAnsweredWithOurWindows) {
    peer10().send(
        7,
        Begin{
            .next_outgoing_id = 5, .incoming_window = 10, .outgoing_window = 20, .handle_max = 99});
    const auto begin = peer10().expect<Begin>(7);
    EXPECT_EQ(begin.remote_channel, 7U);
    EXPECT_EQ(begin.next_outgoing_id, 0U);
    EXPECT_EQ(begin.incoming_window, 400U);
    EXPECT_EQ(begin.outgoing_window, 4294967295U);
    EXPECT_EQ(begin.handle_max, 99U);
    peer10().send(8, Begin{.incoming_window = 10, .outgoing_window = 20});
    EXPECT_EQ(peer10().expect<Begin>(8).handle_max, 255U);
}

// amqp10 2.11
TEST_P(Session10, AChannelAboveTheMaximumEndsTheConnection) {
    Peer& client = connect10({.channel_max = 5});
    client.send(5, Begin{});
    client.expect<Begin>(5);
    client.send(6, Begin{});
    client.expect_close("amqp:connection:framing-error",
                        "channel number (6) exceeds maximum channel number (5)");
}

TEST_P(Session10, ASecondBeginOnItsChannelEndsTheSession) {
    session().send(Begin{});
    session().expect_end("amqp:internal-error", "unexpected performative");
    session().end_ok();
    session().begin();
}

TEST_P(Session10, ABeginThatCannotBeReadEndsTheConnection) {
    peer10().send(frame10(FrameType::amqp, 3, described_list(0x11, {Datum::string("x")})));
    peer10().expect_close("amqp:decode-error", "cannot decode begin");
    peer10().send(0, Close{});
    peer10().expect_socket_closed();
}

// amqp10 3.4
TEST_P(Session10, FramesForNoSessionAreIgnored) {
    PeerSession none = peer10().session(9);
    none.send(Flow{.handle = 1});
    none.send(Transfer{.handle = 0, .delivery_id = 0}, "bytes");
    none.send(Disposition{.role = true, .first = 0, .settled = true});
    none.send(Detach{.handle = 0, .closed = true});
    none.send_attach_sender(0, "/queues/q");
    none.send(End{});
    peer10().expect_nothing();
    EXPECT_TRUE(peer10().is_open());
    none.begin();
}

// amqp10 3.4
TEST_P(Session10, AnUnattachedHandleEndsTheSession) {
    session().send(Flow{.handle = 3, .link_credit = 1});
    session().expect_end("amqp:session:unattached-handle", "Unattached link handle: 3");
    PeerSession second = peer10().begin(1);
    second.transfer(4, 0, MessageBytes());
    second.expect_end("amqp:session:unattached-handle", "Unknown link handle: 4");
    peer10().begin(2).end();
}

// A client cannot have seen transfers that were not sent.
TEST_P(Session10, AFlowThatLeadsEndsTheSession) {
    session().send(Flow{.next_incoming_id = 1, .incoming_window = 10});
    session().expect_end("amqp:session:window-violation",
                         "next-incoming-id from FLOW (1) leads next-outgoing-id (0)");
}

// amqp10 3.4: a detach of an unknown handle is ignored.
TEST_P(Session10, ADetachOfNoLinkIsIgnored) {
    session().send(Detach{.handle = 3, .closed = true});
    session().expect_nothing();
    session().end();
}

// amqp10 3.4
TEST_P(Session10, AHandleInUseEndsTheSession) {
    declare("q");
    session().attach_sender(1, "/queues/q");
    session().send_attach_receiver(1, "/queues/q");
    session().expect_end("amqp:session:handle-in-use",
                         "handle 1 is already associated with a link");
}

// amqp10 3.4
TEST_P(Session10, AHandleAboveTheMaximumEndsTheConnection) {
    peer10().send(0, Begin{.incoming_window = 10, .outgoing_window = 20, .handle_max = 5});
    peer10().expect<Begin>();
    peer10().session().send_attach_sender(6, "/queues/q");
    peer10().expect_close("amqp:connection:framing-error",
                          "link handle value (6) exceeds maximum link handle value (5)");
}

// amqp10 3.4: a handle can be reused as soon as the link is detached.
TEST_P(Session10, AHandleMayBeUsedAgainAfterDetach) {
    declare("q");
    for (int i = 0; i < 3; ++i) {
        session().attach_sender(1, "/queues/q");
        session().publish<Accepted>(1, static_cast<std::uint32_t>(i), MessageBytes("m"));
        session().detach(1);
    }
    session().attach_receiver(1, "/queues/q", 1);
    session().expect_message("m");
    session().detach(1);
    EXPECT_EQ(channel().count("q"), 3U);
}

// amqp10 3.4: frames for a handle that the broker has detached are ignored until it is reused.
TEST_P(Session10, AHandleThatWeDetachedIsIgnoredUntilItIsUsedAgain) {
    declare("q");
    session().send_attach_sender(1, "/queues/missing");
    session().expect<Attach>();
    session().expect_detach(1, "amqp:not-found", "no queue 'missing' in vhost '/'");
    session().transfer(1, 0, MessageBytes("late"));
    session().send(Flow{.handle = 1, .link_credit = 1});
    session().expect_nothing();
    session().detach_ok(1);
    session().attach_sender(1, "/queues/q");
    session().publish<Accepted>(1, 1, MessageBytes("right"));
    EXPECT_EQ(channel().drain("q"), std::vector<std::string>{"right"});
}

// amqp10 3.2: the window is renewed when half of it is used.
TEST_P(Session10, TheWindowOpensAgainAtItsHalf) {
    declare("q");
    session().attach_sender(0, "/queues/q", settled_mode);
    for (std::uint32_t i = 0; i < 84; ++i) session().transfer(0, i, MessageBytes(), true);
    session().expect_nothing();
    session().transfer(0, 84, MessageBytes(), true);  // 85 credits are left
    EXPECT_EQ(session().expect<Flow>().link_credit, 170U);
    for (std::uint32_t i = 85; i < 169; ++i) session().transfer(0, i, MessageBytes(), true);
    session().expect_nothing();
    session().transfer(0, 169, MessageBytes(), true);
    EXPECT_EQ(session().expect<Flow>().link_credit, 170U);
    for (std::uint32_t i = 170; i < 199; ++i) session().transfer(0, i, MessageBytes(), true);
    session().expect_nothing();
    session().transfer(0, 199, MessageBytes(), true);
    const Flow flow = session().expect<Flow>();
    EXPECT_EQ(flow.handle, std::nullopt);
    EXPECT_EQ(flow.incoming_window, 400U);
    EXPECT_EQ(flow.next_incoming_id, 200U);
    session().expect_nothing();
}

// amqp10 3.2: only an alarm closes the window; 400 more transfers are then tolerated.
TEST_P(Session10, TheClosedWindowBearsSoManyAndNoMore) {
    declare("q");
    session().attach_sender(0, "/queues/q", settled_mode);
    world().raise_alarm("memory");
    EXPECT_EQ(session().expect<Flow>().incoming_window, 0U);
    const std::string part = "part";
    session().send(Transfer{.handle = 0, .delivery_id = 0, .settled = true, .more = true}, part);
    for (int i = 1; i < 400; ++i) session().send(Transfer{.handle = 0, .more = true}, part);
    session().expect_nothing();
    session().send(Transfer{.handle = 0, .more = true}, part);
    session().expect_end("amqp:session:window-violation",
                         "incoming window violation (tolerated excess tranfers: 400)");
}

// amqp10 C.14, 3.1, 3.2
TEST_P(Session10, AnAlarmClosesTheWindowAndItsEndOpensIt) {
    declare("q");
    session().attach_sender(0, "/queues/q");
    world().raise_alarm("memory");
    const Flow closed = session().expect<Flow>();
    EXPECT_EQ(closed.incoming_window, 0U);
    EXPECT_EQ(closed.handle, std::nullopt);
    session().publish<Accepted>(0, 0, MessageBytes("in spite of it"));
    peer10().send(1, Begin{});
    EXPECT_EQ(peer10().expect<Begin>(1).incoming_window, 0U);
    world().raise_alarm("disk");
    session().expect_nothing();
    world().raise_alarm("");
    const Flow open = session().expect<Flow>();
    EXPECT_EQ(open.incoming_window, 400U);
    EXPECT_EQ(open.next_incoming_id, 1U);
    EXPECT_EQ(peer10().expect<Flow>(1).incoming_window, 400U);
}

TEST_P(Session10, AConnectionThatComesWhileAnAlarmIsOnBeginsClosed) {
    world().raise_alarm("memory");
    Peer& client = connect10();
    client.send(0, Begin{});
    EXPECT_EQ(client.expect<Begin>().incoming_window, 0U);
    world().raise_alarm("");
    EXPECT_EQ(client.expect<Flow>().incoming_window, 400U);
}

// amqp10 3.3
TEST_P(Session10, TheClientsWindowIsRespected) {
    declare("q");
    for (const char* body : {"one", "two", "three"}) channel().publish("", "q", body);
    PeerSession narrow = peer10().begin(1, 2);
    narrow.send_attach_receiver(0, "/queues/q");
    narrow.expect<Attach>();
    narrow.credit_within_window(0, 10, 2);
    narrow.expect_message("one");
    narrow.expect_message("two");
    narrow.expect_nothing();
    narrow.send(Flow{.next_incoming_id = 2, .incoming_window = 0});
    narrow.expect_nothing();
    narrow.send(Flow{.next_incoming_id = 2, .incoming_window = 1});
    narrow.expect_message("three");
}

// amqp10 3.3: transfers that the client had not seen reduce the window.
TEST_P(Session10, AWindowCountsFromWhatTheClientHadSeen) {
    declare("q");
    for (const char* body : {"one", "two", "three", "four"}) channel().publish("", "q", body);
    PeerSession narrow = peer10().begin(1, 1);
    narrow.attach_receiver(0, "/queues/q");
    narrow.credit_within_window(0, 10, 1);
    narrow.expect_message("one");
    narrow.send(Flow{.next_incoming_id = 0, .incoming_window = 3});
    narrow.expect_message("two");
    narrow.expect_message("three");
    narrow.expect_nothing();
    narrow.send(Flow{.next_incoming_id = 3, .incoming_window = 4294967295});
    narrow.expect_message("four");
}

// amqp10 3.3: a large message continues where the window interrupted it.
TEST_P(Session10, AMessageMayWaitForTheWindowInTheMiddle) {
    declare("q");
    const std::string body(2000, 'b');
    channel().publish("", "q", body);
    channel().publish("", "q", "next");
    Peer& client = connect10({.max_frame_size = 512});
    PeerSession narrow = client.begin(0, 1);
    narrow.attach_receiver(0, "/queues/q");
    narrow.credit_within_window(0, 10, 1);
    std::string came;
    std::uint32_t seen = 0;
    for (bool more = true; more;) {
        const Arrival* const arrival = client.take(0, Transfer::descriptor_code, Where::here());
        ASSERT_NE(arrival, nullptr);
        const auto transfer = Transfer::decode(arrival->items()).value();
        EXPECT_EQ(transfer.delivery_id, 0U);
        more = transfer.more;
        came += arrival->payload();
        seen += 1;
        narrow.expect_nothing();
        narrow.send(Flow{.next_incoming_id = seen, .incoming_window = 1});
    }
    EXPECT_EQ(joined_data(split_message(came)->body), body);
    EXPECT_GT(seen, 4U);
    narrow.expect_message("next");
}

// A session flow may request a reply.
TEST_P(Session10, AnEchoOfTheSessionIsAnswered) {
    session().send(Flow{.next_incoming_id = 0, .incoming_window = 5, .echo = true});
    const Flow flow = session().expect<Flow>();
    EXPECT_EQ(flow.handle, std::nullopt);
    EXPECT_EQ(flow.incoming_window, 400U);
    EXPECT_EQ(flow.outgoing_window, 4294967295U);
}

// amqp10 3.6
TEST_P(Session10, ItsEndPutsMessagesBackAndIsAnswered) {
    declare("q");
    channel().publish("", "q", "one");
    session().attach_receiver(0, "/queues/q", 5);
    session().expect_message("one");
    session().end();
    EXPECT_EQ(channel().count("q"), 1U);
    EXPECT_TRUE(channel().get("q").redelivered);
    session().begin();
    session().end();
}

// amqp10 3.5
TEST_P(Session10, OtherSessionsGoOn) {
    declare("q");
    PeerSession other = peer10().begin(1);
    other.attach_sender(0, "/queues/q");
    session().send(Flow{.handle = 3});
    session().expect_end("amqp:session:unattached-handle", "Unattached link handle: 3");
    other.publish<Accepted>(0, 0, MessageBytes());
}

// amqp10 3.5: until the client ends the session too, its frames are ignored.
TEST_P(Session10, AnEndedSessionIgnoresEverythingButItsEnd) {
    declare("q");
    session().send(Flow{.handle = 3});
    session().expect_end("amqp:session:unattached-handle", "Unattached link handle: 3");
    session().send_attach_sender(0, "/queues/q");
    session().transfer(0, 0, MessageBytes("late"), true);
    session().send(Flow{.handle = 4});
    session().expect_nothing();
    session().end_ok();
    session().expect_nothing();
    session().begin();
    session().attach_sender(0, "/queues/q");
    EXPECT_EQ(channel().count("q"), 0U);
}

TEST_P(Session10, PerformativesThatBelongElsewhereEndTheSession) {
    session().send(Open{.container_id = "again"});
    session().expect_end("amqp:internal-error", "unexpected performative");
    PeerSession second = peer10().begin(1);
    second.peer().send(frame10(FrameType::amqp, 1, described_list(0x99, {})));
    second.expect_end("amqp:internal-error", "unexpected performative");
    PeerSession third = peer10().begin(2);
    third.send(SaslOutcome{});
    third.expect_end("amqp:internal-error", "unexpected performative");
}

// Each performative of a session with fields of a wrong type, with too many fields, or without
// mandatory ones.
TEST_P(Session10, PerformativesThatCannotBeReadEndTheSession) {
    const Datum wrong = Datum::list({});
    std::uint16_t channel = 0;
    for (const std::uint64_t code : {0x12U, 0x13U, 0x14U, 0x15U, 0x16U}) {
        for (const Data& fields : {Data{wrong, wrong}, Data{}, Data(40, Datum::uint(1))}) {
            PeerSession victim = peer10().begin(channel);
            peer10().send(frame10(FrameType::amqp, channel, described_list(code, fields)));
            victim.expect_end("amqp:decode-error", "cannot decode the fields of a performative");
            channel += 1;
        }
    }
    EXPECT_TRUE(peer10().is_open());
}

}  // namespace
}  // namespace revenant::amqp10
