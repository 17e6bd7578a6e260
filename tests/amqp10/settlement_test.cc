// Outcomes of deliveries, and deliveries without an outcome (amqp10, 5.24; dead-lettering, 17 and
// 22).
#include "amqp10/codec/raw_fields.h"
#include "tests/support/peer10.h"

namespace revenant::amqp10 {
namespace {

using namespace std::string_literals;

class Settlement10 : public Wire10Test {
  protected:
    // Takes a message from a queue of that type on a new link.
    TakenMessage take_from(std::string_view type, const std::string& queue,
                           std::uint32_t handle = 0) {
        if (type == "quorum") {
            declare_quorum(queue);
        } else {
            declare(queue);
        }
        channel().publish("", queue, "m");
        session().attach_receiver(handle, "/queues/" + queue, 10);
        TakenMessage taken = session().expect_message("m");
        EXPECT_TRUE(taken.first_acquirer());
        EXPECT_EQ(taken.delivery_count(), 0U);
        EXPECT_EQ(taken.annotated_number("x-acquired-count"), -1);
        EXPECT_EQ(taken.annotated_number("x-delivery-count"), -1);
        return taken;
    }
    void expect_again(PeerSession& where, std::uint64_t failures, std::int64_t acquired,
                      Where line = Where::here()) {
        const testing::ScopedTrace trace(line.file, line.line, "the next delivery");
        const auto again = where.expect_message("m", line);
        EXPECT_FALSE(again.first_acquirer());
        EXPECT_EQ(again.delivery_count(), failures);
        EXPECT_EQ(again.annotated_number("x-acquired-count"), acquired);
        const auto counted = static_cast<std::int64_t>(failures);
        EXPECT_EQ(again.annotated_number("x-delivery-count"),
                  acquired < 0 || failures == 0 ? -1 : counted);
    }
    // Uses a separate connection.
    void expect_in_queue(const std::string& queue, std::uint64_t failures, std::int64_t acquired,
                         Where line = Where::here()) {
        PeerSession other = connect10().begin();
        other.attach_receiver(0, "/queues/" + queue, 1);
        expect_again(other, failures, acquired, line);
    }
    // Takes from the quorum queue "q" and the classic queue "c", on two links.
    void take_from_both() {
        take_from("quorum", "q");
        take_from("classic", "c", 1);
    }
    void expect_failure_in_both(Where line = Where::here()) {
        expect_in_queue("q", 1, 1, line);
        expect_in_queue("c", 1, -1, line);
    }
};
INSTANTIATE_TEST_SUITE_P(Wire, Settlement10, testing::Values(Distance::near, Distance::far),
                         distance_name);

const std::string accepted = encoded(Accepted{});
const std::string released = encoded(Released{});

// amqp10 5.24
TEST_P(Settlement10, AcceptedIsTheEnd) {
    for (const std::string type : {"classic", "quorum"}) {
        const auto taken = take_from(type, type);
        session().settle(taken, Accepted{});
        session().detach(0);
        EXPECT_EQ(channel().count(type), 0U);
    }
}

// amqp10 C.7, DL-150, DL-152
TEST_P(Settlement10, ReleasedComesAgainAndIsNoFailure) {
    const auto classic = take_from("classic", "c");
    session().settle(classic, Released{});
    expect_again(session(), 0, -1);
    const auto quorum = take_from("quorum", "q", 1);
    session().settle(quorum, Released{});
    expect_again(session(), 0, 1);
}

// amqp10 C.7, DL-150, DL-153
TEST_P(Settlement10, ModifiedIsAFailureIfItSaysSo) {
    const auto classic = take_from("classic", "c");
    session().settle(classic, Modified{.delivery_failed = true});
    expect_again(session(), 1, -1);
    const auto quorum = take_from("quorum", "q", 1);
    session().settle(quorum, Modified{.delivery_failed = true});
    expect_again(session(), 1, 1);
}

// DL-150, DL-202: without flags.
TEST_P(Settlement10, ModifiedWithoutFlagsIsLikeReleased) {
    const auto classic = take_from("classic", "c");
    session().settle(classic, Modified{});
    expect_again(session(), 0, -1);
    const auto quorum = take_from("quorum", "q", 1);
    session().settle(quorum, Modified{});
    expect_again(session(), 0, 1);
}

// DL-148, DL-150
TEST_P(Settlement10, FailuresCountUpAndAgainstTheLimit) {
    declare_quorum("q", {{"x-delivery-limit", 2}});
    channel().publish("", "q", "m");
    session().attach_receiver(0, "/queues/q", 10);
    for (std::uint64_t failures = 0; failures < 3; ++failures) {
        const auto taken = session().expect_message("m");
        EXPECT_EQ(taken.delivery_count(), failures);
        session().settle(taken, Released{});
        const auto again = session().expect_message("m");
        EXPECT_EQ(again.delivery_count(), failures);
        EXPECT_EQ(again.annotated_number("x-acquired-count"),
                  static_cast<std::int64_t>(2 * failures + 1));
        session().settle(again, Modified{.delivery_failed = true});
    }
    session().expect_nothing();
    EXPECT_EQ(channel().count("q"), 0U);
}

// DL-202, DL-203
TEST_P(Settlement10, AnnotationsOfModifiedAreKeptByQuorumQueuesOnly) {
    const std::string annotations =
        encoded(Datum::map({{Datum::symbol("x-why"), Datum::string("not now")},
                            {Datum::symbol("x-list"), Datum::list({Datum::uint(1)})}}));
    const auto classic = take_from("classic", "c");
    session().settle(classic, Modified{.message_annotations = annotations});
    EXPECT_EQ(session().expect_message("m").annotated_text("x-why"), "");
    const auto quorum = take_from("quorum", "q", 1);
    session().settle(quorum, Modified{.message_annotations = annotations});
    const auto again = session().expect_message("m");
    EXPECT_EQ(again.annotated_text("x-why"), "not now");
    EXPECT_EQ(again.annotated_text("x-list"), "[1]");
    const std::string newer =
        encoded(Datum::map({{Datum::symbol("x-why"), Datum::string("still not")}}));
    session().settle(again, Modified{.message_annotations = newer});
    const auto third = session().expect_message("m");
    EXPECT_EQ(third.annotated_text("x-why"), "still not");
    EXPECT_EQ(third.annotated_text("x-list"), "[1]");
}

// DL-203
TEST_P(Settlement10, AnnotationsOfModifiedHaveKeysOfTheirOwn) {
    take_from("quorum", "q");
    const std::string annotations =
        encoded(Datum::map({{Datum::symbol("why"), Datum::string("not now")}}));
    session().settle(0, 0, encoded(Modified{.message_annotations = annotations}));
    session().expect_end("amqp:invalid-field",
                         "message-annotations key is not a symbol starting with x-");
    expect_in_queue("q", 1, 1);
}

// amqp10 5.24: a range.
TEST_P(Settlement10, ARangeIsSettledAtOnce) {
    declare("q");
    for (int i = 0; i < 5; ++i) channel().publish("", "q", std::to_string(i));
    session().attach_receiver(0, "/queues/q", 10);
    for (int i = 0; i < 5; ++i) session().expect_message(std::to_string(i));
    session().settle(1, 3, accepted);
    session().detach(0);
    EXPECT_EQ(channel().drain("q"), (std::vector<std::string>{"0", "4"}));
}

// amqp10 5.24: a range beyond the existing deliveries, and one over several links.
TEST_P(Settlement10, ARangeMaySpanLinksAndMore) {
    declare("q");
    declare("r");
    channel().publish("", "q", "one");
    channel().publish("", "r", "two");
    session().attach_receiver(0, "/queues/q", 1);
    session().expect_message("one");
    session().attach_receiver(1, "/queues/r", 1);
    session().expect_message("two");
    session().settle(0, 1000, accepted);
    session().end();
    EXPECT_EQ(channel().count("q"), 0U);
    EXPECT_EQ(channel().count("r"), 0U);
}

// amqp10 5.24, DL-208
TEST_P(Settlement10, UnknownDeliveriesAreIgnored) {
    take_from("classic", "q");
    session().settle(7, 9, accepted);
    session().settle(4294967295, 4294967295, released);
    session().settle(4294967290, 4294967295, released);
    session().settle(9, 7, released);
    session().settle(2147483647, 2147483648, released);
    session().expect_nothing();
    session().settle(0, 0, accepted);
    session().settle(0, 0, released);  // again
    session().expect_nothing();
    session().detach(0);
    EXPECT_EQ(channel().count("q"), 0U);
}

// A disposition for the client's own deliveries, which the broker has already settled.
TEST_P(Settlement10, ADispositionAsASenderMeansNothing) {
    take_from("classic", "q");
    session().send(Disposition{.role = false, .first = 0, .settled = true, .state = accepted});
    session().expect_nothing();
    session().detach(0);
    EXPECT_EQ(channel().count("q"), 1U);
}

// amqp10 5.24
TEST_P(Settlement10, AnOutcomeThatIsNotSettledIsSettledByUs) {
    declare("q");
    for (int i = 0; i < 3; ++i) channel().publish("", "q", "m");
    session().attach_receiver(0, "/queues/q", 3);
    for (int i = 0; i < 3; ++i) session().expect_message("m");
    session().settle(0, 2, accepted, /*settled=*/false);
    const auto told = session().expect<Disposition>();
    EXPECT_FALSE(told.role);
    EXPECT_TRUE(told.settled);
    EXPECT_EQ(told.first, 0U);
    EXPECT_EQ(told.last, 2U);
    EXPECT_EQ(told.state, accepted);
    session().detach(0);
    EXPECT_EQ(channel().count("q"), 0U);
}

// amqp10 5.24: the outcome need not fit in a frame of the client's size.
TEST_P(Settlement10, ALongOutcomeIsEchoedWithoutItsDetails) {
    declare_quorum("q");
    for (int i = 0; i < 2; ++i) channel().publish("", "q", "m");
    session().attach_receiver(0, "/queues/q", 2);
    for (int i = 0; i < 2; ++i) session().expect_message("m");
    const std::string text(50'000, 'w');
    const std::string error = encoded(Error{.condition = "app:why", .description = text});
    session().settle(0, 0, encoded(Rejected{.error = error}), /*settled=*/false);
    EXPECT_EQ(session().expect<Disposition>().state, encoded(Rejected{}));
    const std::string annotations =
        encoded(Datum::map({{Datum::symbol("x-why"), Datum::string(text)}}));
    session().settle(1, 1,
                     encoded(Modified{.delivery_failed = true,
                                      .undeliverable_here = true,
                                      .message_annotations = annotations}),
                     /*settled=*/false);
    EXPECT_EQ(session().expect<Disposition>().state,
              encoded(Modified{.delivery_failed = true, .undeliverable_here = true}));
}

// A disposition that is neither settled nor has an outcome changes nothing.
TEST_P(Settlement10, ADispositionThatSaysNothingChangesNothing) {
    take_from("classic", "q");
    session().send(Disposition{.role = true, .first = 0, .settled = false});
    session().expect_nothing();
    EXPECT_EQ(channel().count("q"), 0U);
}

// DL-207: a settled delivery without an outcome has the default outcome.
TEST_P(Settlement10, SettledWithoutAnOutcomeIsReleased) {
    take_from("classic", "q");
    session().send(Disposition{.role = true, .first = 0, .settled = true});
    expect_again(session(), 0, -1);
}

// amqp10 5.24, DL-206
TEST_P(Settlement10, OtherStatesEndTheSession) {
    int count = 0;
    const auto victim = [&](const std::string& state, std::string_view what) {
        const std::string queue = "q" + std::to_string(count++);
        declare(queue);
        channel().publish("", queue, "m");
        PeerSession fresh = connect10().begin();
        fresh.attach_receiver(0, "/queues/" + queue, 1);
        fresh.expect_message("m");
        fresh.settle(0, 0, state);
        fresh.expect_end("amqp:invalid-field",
                         "Unrecognised state: " + std::string(what) + " in DISPOSITION");
        EXPECT_EQ(channel().count(queue), 1U);
    };
    victim(encoded(Received{.section_number = 1, .section_offset = 2}), "received");
    victim(described_list(0x99, {}), "unknown");
    victim(described_list(0x34, {Datum::binary("tx")}), "unknown");
    victim(encoded(Datum::string("accepted!")), "unknown");
    victim(described_list(0x27, {Datum::string("yes, please")}), "malformed modified");
}

// DL-156: released messages return to their old positions.
TEST_P(Settlement10, ReleasedMessagesComeInTheirOrder) {
    declare("q");
    for (int i = 0; i < 6; ++i) channel().publish("", "q", std::to_string(i));
    session().attach_receiver(0, "/queues/q", 4);
    for (int i = 0; i < 4; ++i) session().expect_message(std::to_string(i));
    session().settle(1, 2, released);
    session().settle(3, 3, released);
    session().settle(0, 0, accepted);
    session().credit(0, 10);
    for (int i = 1; i < 6; ++i) session().expect_message(std::to_string(i));
}

// --- unsettled deliveries when a link, session or connection ends (DL-150)

TEST_P(Settlement10, ADetachedLinkIsNoFailureForAQuorumQueue) {
    take_from("quorum", "q");
    session().detach(0);
    expect_in_queue("q", 0, 1);
    take_from("classic", "c");
    session().detach(0);
    expect_in_queue("c", 1, -1);
}

TEST_P(Settlement10, AnEndedSessionIsAFailure) {
    take_from_both();
    session().end();
    expect_failure_in_both();
}

TEST_P(Settlement10, AClosedConnectionIsAFailure) {
    take_from_both();
    peer10().close();
    expect_failure_in_both();
}

TEST_P(Settlement10, ALostConnectionIsAFailure) {
    take_from_both();
    peer10().disconnect();
    expect_failure_in_both();
}

TEST_P(Settlement10, ASessionThatWeEndedIsAFailure) {
    take_from("quorum", "q");
    session().send(Flow{.handle = 9});
    session().expect_end("amqp:session:unattached-handle", "Unattached link handle: 9");
    expect_in_queue("q", 1, 1);
}

// DL-157: messages are requeued in the order of their delivery.
TEST_P(Settlement10, WhatALinkHeldComesBackInOrder) {
    for (const std::string type : {"classic", "quorum"}) {
        type == "quorum" ? declare_quorum(type) : declare(type);
        for (int i = 0; i < 5; ++i) channel().publish("", type, std::to_string(i));
        session().attach_receiver(0, "/queues/" + type, 4);
        for (int i = 0; i < 4; ++i) session().expect_message(std::to_string(i));
        session().detach(0);
        EXPECT_EQ(channel().drain(type), (std::vector<std::string>{"0", "1", "2", "3", "4"}));
    }
}

// amqp10 5.27: the client is notified, receives nothing more, and continues after it has settled.
TEST_P(Settlement10, WhatIsKeptTooLongIsReleasedByUs) {
    declare_quorum("q", {{"x-consumer-timeout", 1000}});
    for (const char* body : {"a", "b"}) channel().publish("", "q", body);
    session().attach_receiver(0, "/queues/q", 10);
    const auto first = session().expect_message("a");
    const auto second = session().expect_message("b");
    world().advance(milliseconds(1000));
    const auto told = session().expect<Disposition>();
    EXPECT_FALSE(told.role);
    EXPECT_EQ(told.first, first.delivery_id);
    EXPECT_EQ(told.last, second.delivery_id);
    EXPECT_FALSE(told.settled);
    EXPECT_EQ(told.state, released);
    EXPECT_EQ(channel().count("q"), 2U);
    session().settle(first, Released{});
    session().expect_nothing();
    session().settle(second, Accepted{});  // any outcome: the message was requeued
    session().expect_message("a");
    const auto again = session().expect_message("b");
    EXPECT_EQ(again.delivery_count(), 0U);
    EXPECT_EQ(again.annotated_number("x-acquired-count"), 1);
    session().settle(again, Accepted{});
}

// amqp10 5.5, 5.27
TEST_P(Settlement10, AReceiverMaySayHowLongItMayKeepAMessage) {
    declare_quorum("q");
    channel().publish("", "q", "m");
    std::string source;
    TypeWriter(source).string("/queues/q");
    std::string properties;
    TypeWriter(properties)
        .datum(Datum::map({{Datum::symbol("rabbitmq:consumer-timeout"), Datum::uint(500)}}));
    std::string terminus;
    TypeWriter out(terminus);
    Source{.address = source}.encode(out);
    session().send(Attach{.name = "impatient",
                          .handle = 0,
                          .role = true,
                          .source = terminus,
                          .properties = properties});
    session().expect<Attach>();
    session().credit(0, 1);
    session().expect_message("m");
    world().advance(milliseconds(499));
    session().expect_nothing();
    world().advance(milliseconds(1));
    EXPECT_EQ(session().expect<Disposition>().state, released);
}

// amqp10 3.3, 5.27: the timeout is reported with the message.
TEST_P(Settlement10, WhatTimesOutBeforeItIsSentIsToldAfterwards) {
    declare_quorum("q", {{"x-consumer-timeout", 1000}});
    channel().publish("", "q", "m");
    PeerSession shut = peer10().begin(1, 0);
    shut.attach_receiver(0, "/queues/q");
    shut.credit_behind_closed_window(0, 5);
    world().advance(milliseconds(1000));
    EXPECT_EQ(channel().count("q"), 1U);
    shut.expect_nothing();
    shut.send(Flow{.next_incoming_id = 0, .incoming_window = 100});
    const auto late = shut.expect_message("m");
    EXPECT_EQ(shut.expect<Disposition>().first, late.delivery_id);
    shut.settle(late, Released{});
    shut.settle(shut.expect_message("m"), Accepted{});
}

}  // namespace
}  // namespace revenant::amqp10
