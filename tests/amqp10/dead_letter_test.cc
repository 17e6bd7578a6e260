// Dead letters from and for AMQP 1.0 clients (dead-lettering, 10, 11, 17 and 22).
#include "tests/support/peer10.h"

namespace revenant::amqp10 {
namespace {

using namespace std::string_literals;

class DeadLetters10 : public Wire10Test {
  protected:
    void declare_typed(std::string_view type, std::string_view queue,
                       std::initializer_list<Argument> arguments = {},
                       Where where = Where::here()) {
        if (type == "quorum") {
            declare_quorum(queue, arguments, where);
        } else {
            declare(queue, arguments, where);
        }
    }
    // Settles the next message of that queue on a separate link, which is then detached.
    template <typename Outcome>
    TakenMessage take_and_settle(const std::string& queue, const Outcome& outcome,
                                 Where where = Where::here()) {
        session().attach_receiver(9, "/queues/" + queue, 1, unsettled_mode, where);
        TakenMessage taken = session().expect_message(where);
        session().settle(taken, outcome);
        session().detach(9, where);
        return taken;
    }
    void expect_counts(const TakenMessage& taken, std::uint64_t failures, bool first = false,
                       Where where = Where::here()) {
        const testing::ScopedTrace trace(where.file, where.line, "the counts");
        EXPECT_EQ(taken.delivery_count(), failures);
        EXPECT_EQ(taken.first_acquirer(), first);
    }
    // Peeks at the next message of that queue.
    TakenMessage look(const std::string& queue, Where where = Where::here()) {
        return take_and_settle(queue, Released{}, where);
    }
};
INSTANTIATE_TEST_SUITE_P(Wire, DeadLetters10, testing::Values(Distance::near, Distance::far),
                         distance_name);

const std::string types[] = {"classic", "quorum"};

// DL-150, DL-153, DL-155, DL-96: one message goes through a queue and its dead-letter queue and
// back.
TEST_P(DeadLetters10, FailuresAreCountedThroughAllDeaths) {
    for (const std::string& type : types) {
        const std::string source = type + ".source";
        const std::string dead = type + ".dead";
        declare_typed(type, source,
                      {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", dead}});
        declare_typed(type, dead,
                      {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", source}});
        channel().publish("", source, "m");
        expect_counts(take_and_settle(source, Released{}), 0, true);
        expect_counts(take_and_settle(source, Modified{}), 0);
        expect_counts(take_and_settle(source, Modified{.delivery_failed = true}), 0);
        expect_counts(take_and_settle(source, Modified{.undeliverable_here = true}), 1);
        expect_counts(take_and_settle(dead, Modified{}), 1);
        expect_counts(take_and_settle(dead, Rejected{}), 1);
        expect_counts(
            take_and_settle(source, Modified{.delivery_failed = true, .undeliverable_here = true}),
            2);
        expect_counts(take_and_settle(dead, Accepted{}), 3);
    }
}

// DL-155: deaths without a delivery do not change the count.
TEST_P(DeadLetters10, ExpiryAndLengthAreNoFailures) {
    for (const std::string& type : types) {
        const std::string source = type + ".source";
        const std::string dead = type + ".dead";
        declare_typed(type, source,
                      {{"x-dead-letter-exchange", ""},
                       {"x-dead-letter-routing-key", dead},
                       {"x-message-ttl", 1000}});
        declare_typed(type, dead,
                      {{"x-dead-letter-exchange", ""},
                       {"x-dead-letter-routing-key", type},
                       {"x-max-length", 1}});
        declare_typed(type, type);
        channel().publish("", source, "m");
        expect_counts(take_and_settle(source, Modified{.delivery_failed = true}), 0, true);
        world().advance(milliseconds(1100));
        expect_counts(look(dead), 1);
        channel().publish("", dead, "pushes it out");
        const auto last = take_and_settle(type, Accepted{});
        EXPECT_EQ(last.body(), "m");
        expect_counts(last, 1);
        EXPECT_EQ(last.annotated_text("x-last-death-reason"), "maxlen");
        EXPECT_EQ(last.annotated_text("x-first-death-reason"), "expired");
    }
}

// DL-150, DL-155, DL-208: a 0-9-1 client settles, a 1.0 client observes.
TEST_P(DeadLetters10, A091RejectIsAFailureAndANackIsNone) {
    for (const std::string& type : types) {
        const std::string source = type + ".source";
        const std::string dead = type + ".dead";
        declare_typed(type, source,
                      {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", dead}});
        declare_typed(type, dead);
        channel().publish("", source, "m");
        auto other = peer().open_channel(7);
        other.reject(other.get(source).delivery_tag, true);
        expect_counts(look(source), 1);
        other.nack(other.get(source).delivery_tag, false, true);
        expect_counts(look(source), 1);
        other.get(source);
        other.nack(0, true, true);
        expect_counts(look(source), 1);
        other.nack(other.get(source).delivery_tag, true, false);
        expect_counts(look(dead), 1);
        other.reject(other.get(dead).delivery_tag, true);
        expect_counts(look(dead), 2);
        channel().publish("", source, "n");
        other.reject(other.get(source).delivery_tag, false);
        other.close();
        other.open();
        take_and_settle(dead, Accepted{});
        expect_counts(take_and_settle(dead, Accepted{}), 1);
        other.close();
    }
}

// DL-140, DL-144, DL-141: a quorum queue accepts one message more than its limit.
TEST_P(DeadLetters10, AFullQuorumQueueRejectsAndIsNamed) {
    declare_quorum("q", {{"x-max-length", 1}, {"x-overflow", "reject-publish"}});
    session().attach_sender(0, "/queues/q");
    std::uint32_t accepted = 0;
    std::uint32_t id = 0;
    ErrorText error;
    for (; id < 4; ++id) {
        session().transfer(0, id, MessageBytes());
        const auto told = session().expect<Disposition>();
        TypeReader in(told.state);
        if (in.descriptor() == Accepted::descriptor_code) {
            accepted += 1;
            continue;
        }
        error = error_in(Rejected::decode(*in.list())->error);
    }
    EXPECT_GE(accepted, 1U);
    EXPECT_LE(accepted, 2U);
    EXPECT_EQ(error.condition, "amqp:resource-limit-exceeded");
    EXPECT_EQ(error.description, "queue 'q' exceeded maximum length");
    EXPECT_EQ(error.info, "{'queue': 'q', 'reason': 'maxlen'}");
}

// DL-144: of two targets, the one that refuses is named.
TEST_P(DeadLetters10, OneFullTargetOfTwoRejects) {
    declare("full", {{"x-max-length", 1}, {"x-overflow", "reject-publish"}});
    declare("free");
    for (const char* queue : {"full", "free"}) channel().bind(queue, "amq.fanout");
    session().attach_sender(0, "/exchanges/amq.fanout");
    session().publish<Accepted>(0, 0, MessageBytes("one"));
    const auto rejected = session().publish<Rejected>(0, 1, MessageBytes("two"));
    EXPECT_EQ(error_in(rejected.error).info, "{'queue': 'full', 'reason': 'maxlen'}");
    EXPECT_EQ(channel().count("full"), 1U);
}

// DL-136, DL-137, DL-142: a detach requeues messages to the head of the queue, which exceeds its
// limit.
TEST_P(DeadLetters10, ADetachMayMakeAQueueTooLong) {
    declare("q", {{"x-max-length", 1},
                  {"x-dead-letter-exchange", ""},
                  {"x-dead-letter-routing-key", "dead"}});
    declare("dead");
    channel().publish("", "q", "one");
    session().attach_receiver(0, "/queues/q", 1);
    session().expect_message("one");
    channel().publish("", "q", "two");
    EXPECT_EQ(channel().count("dead"), 0U);
    session().detach(0);
    EXPECT_EQ(channel().drain("q"), std::vector<std::string>{"two"});
    const auto dead = take_and_settle("dead", Accepted{});
    EXPECT_EQ(dead.body(), "one");
    EXPECT_EQ(dead.annotated_text("x-first-death-reason"), "maxlen");
}

// DL-16: messages of a detached link are available to another.
TEST_P(DeadLetters10, ADetachLeavesTheMessagesToOthers) {
    for (const std::string& type : types) {
        declare_typed(type, type, {{"x-dead-letter-exchange", "amq.fanout"}});
        for (int i = 0; i < 4; ++i) channel().publish("", type, std::to_string(i));
        for (const std::uint32_t handle : {0U, 1U}) {
            session().attach_receiver(handle, "/queues/" + type, 2);
            for (int i = 0; i < 2; ++i) session().expect_message();
        }
        Peer& client = connect10();
        PeerSession elsewhere = client.begin();
        elsewhere.attach_receiver(0, "/queues/" + type, 10);
        session().detach(0);
        for (int i = 0; i < 2; ++i) EXPECT_FALSE(elsewhere.expect_message().first_acquirer());
        elsewhere.expect_nothing();
        session().detach(1);
        for (int i = 0; i < 2; ++i) elsewhere.expect_message();
        elsewhere.detach(0);
        client.close();
        EXPECT_EQ(channel().count(type), 4U);
    }
}

// DL-202, DL-153, DL-96
TEST_P(DeadLetters10, ModifiedByAConsumerOfAClassicQueue) {
    declare("q");
    for (const char* body : {"gone", "m"}) channel().publish("", "q", body);
    const std::string annotations =
        encoded(Datum::map({{Datum::symbol("x-mine"), Datum::string("v")}}));
    expect_counts(take_and_settle("q", Modified{.undeliverable_here = true}), 0, true);
    expect_counts(take_and_settle("q", Modified{}), 0, true);
    expect_counts(
        take_and_settle("q", Modified{.delivery_failed = true, .message_annotations = annotations}),
        0);
    const auto last = take_and_settle("q", Accepted{});
    expect_counts(last, 1);
    EXPECT_EQ(last.body(), "m");
    EXPECT_EQ(last.annotated_text("x-mine"), "");
    EXPECT_EQ(channel().count("q"), 0U);
}

// DL-203, DL-100, DL-152
TEST_P(DeadLetters10, ModifiedByAConsumerOfAQuorumQueue) {
    declare_quorum("q");
    channel().publish("", "q", "m");
    const auto with = [](DataMap entries) { return encoded(Datum::map(std::move(entries))); };
    const std::string first = with({{Datum::symbol("x-text"), Datum::string("old")},
                                    {Datum::symbol("x-number"), Datum::long_int(7)},
                                    {Datum::symbol("x-flag"), Datum::boolean(true)}});
    const std::string second =
        with({{Datum::symbol("x-text"), Datum::string("new")},
              {Datum::symbol("x-list"), Datum::list({Datum::uint(1), Datum::string("a")})},
              {Datum::symbol("x-map"), Datum::map({{Datum::string("k"), Datum::string("v")}})},
              {Datum::symbol("x-array"), Datum::array({Datum::symbol("a"), Datum::symbol("b")})}});
    take_and_settle("q", Released{});
    take_and_settle("q", Modified{.message_annotations = first});
    const auto third =
        take_and_settle("q", Modified{.delivery_failed = true, .message_annotations = second});
    EXPECT_EQ(third.annotated_text("x-text"), "old");
    EXPECT_EQ(third.annotated_number("x-acquired-count"), 2);
    EXPECT_EQ(third.annotated_number("x-delivery-count"), -1);
    const auto fourth = take_and_settle("q", Modified{.delivery_failed = true});
    EXPECT_EQ(fourth.annotated_text("x-text"), "new");
    EXPECT_EQ(fourth.annotated_number("x-number"), 7);
    EXPECT_EQ(fourth.annotated_text("x-list"), "[1, 'a']");
    EXPECT_EQ(fourth.annotated_text("x-map"), "{'k': 'v'}");
    EXPECT_EQ(fourth.annotated_text("x-array"), "array['a', 'b']");
    EXPECT_EQ(fourth.annotated_number("x-acquired-count"), 3);
    EXPECT_EQ(fourth.annotated_number("x-delivery-count"), 1);
    take_and_settle("q", Released{});
    const auto seen = channel().get("q", true);
    EXPECT_EQ(seen.headers(), (Table{{"x-acquired-count", Value::int64(5)},
                                     {"x-delivery-count", Value::int64(2)},
                                     {"x-flag", Value::boolean(true)},
                                     {"x-number", Value::int64(7)},
                                     {"x-text", Value::string("new")}}));
}

// DL-164
TEST_P(DeadLetters10, ADeliveryTimeOfModifiedDelaysTheMessage) {
    declare_quorum("q");
    const auto at = [this](Duration from_now, auto as_type) {
        return encoded(Datum::map({{Datum::symbol("x-opt-delivery-time"),
                                    as_type((world().now() + from_now).whole_ms())}}));
    };
    channel().publish("", "q", "m");
    session().attach_receiver(0, "/queues/q", 10);
    const std::string past = at(seconds(-5), Datum::long_int);
    session().settle(session().expect_message("m"), Modified{.message_annotations = past});
    const std::string future = at(seconds(5), Datum::timestamp);
    session().settle(session().expect_message("m"), Modified{.message_annotations = future});
    world().advance(milliseconds(4900));
    session().expect_nothing();
    world().advance(milliseconds(200));
    session().expect_message("m");
}

// DL-53, DL-54, DL-155, DL-203: the consumer chooses the route.
TEST_P(DeadLetters10, AnnotationsOfModifiedRouteTheDeadLetter) {
    channel().declare_exchange("by headers", "headers", {{"alternate-exchange", "others"}});
    channel().declare_exchange("others", "fanout");
    declare("apples");
    declare("rest");
    channel().bind("apples", "by headers", "", {{"x-fruit", "apple"}, {"x-match", "any-with-x"}});
    channel().bind("rest", "others");
    declare_quorum("q", {{"x-dead-letter-exchange", "by headers"},
                         {"x-dead-letter-strategy", "at-least-once"},
                         {"x-overflow", "reject-publish"}});
    for (const char* body : {"one", "two"}) channel().publish("", "q", body);
    const std::string apple =
        encoded(Datum::map({{Datum::symbol("x-fruit"), Datum::string("apple")}}));
    const std::string pear =
        encoded(Datum::map({{Datum::symbol("x-fruit"), Datum::string("pear")}}));
    take_and_settle("q", Modified{.delivery_failed = true,
                                  .undeliverable_here = true,
                                  .message_annotations = apple});
    take_and_settle("q", Modified{.undeliverable_here = true, .message_annotations = pear});
    const auto one = take_and_settle("apples", Accepted{});
    EXPECT_EQ(one.body(), "one");
    expect_counts(one, 1);
    EXPECT_EQ(one.annotated_text("x-fruit"), "apple");
    const auto two = take_and_settle("rest", Accepted{});
    EXPECT_EQ(two.body(), "two");
    expect_counts(two, 0);
}

// DL-203, DL-155, DL-118: annotations by consumers are kept from queue to queue and back.
TEST_P(DeadLetters10, AnnotationsOfModifiedAreKeptAcrossDeaths) {
    declare_quorum("q", {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", "r"}});
    declare_quorum("r", {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", "q"}});
    channel().publish("", "q", "m");
    const auto history = [](Data seen) {
        return encoded(Datum::map({{Datum::symbol("x-history"), Datum::list(std::move(seen))}}));
    };
    const std::string once = history({Datum::string("q")});
    take_and_settle(
        "q",
        Modified{.delivery_failed = true, .undeliverable_here = true, .message_annotations = once});
    const std::string twice = history({Datum::string("q"), Datum::string("r")});
    const auto in_r = take_and_settle("r", Modified{.delivery_failed = true,
                                                    .undeliverable_here = true,
                                                    .message_annotations = twice});
    EXPECT_EQ(in_r.annotated_text("x-history"), "['q']");
    expect_counts(in_r, 1);
    const auto back = take_and_settle("q", Accepted{});
    EXPECT_EQ(back.annotated_text("x-history"), "['q', 'r']");
    expect_counts(back, 2);
}

// DL-91 to DL-96, DL-52: the exact contents of a dead letter.
TEST_P(DeadLetters10, ADeadLetterShowsItsDeath) {
    channel().declare_exchange("by headers", "headers");
    declare("dead");
    channel().bind("dead", "by headers", "",
                   {{"my key", "my value"}, {"x-mine", "also"}, {"x-match", "all-with-x"}});
    declare("q", {{"x-message-ttl", 0}, {"x-dead-letter-exchange", "by headers"}});
    session().attach_sender(0, "/queues/q");
    const std::string died = std::to_string(world().now().whole_ms());
    session().publish<Accepted>(0, 0,
                                MessageBytes("found")
                                    .annotation("x-mine", Datum::string("also"))
                                    .property("my key", Datum::string("my value")));
    session().publish<Accepted>(0, 1,
                                MessageBytes("lost").annotation("x-mine", Datum::string("also")));
    session().publish<Accepted>(0, 2,
                                MessageBytes("lost").property("my key", Datum::string("my value")));
    const auto dead = take_and_settle("dead", Accepted{});
    EXPECT_EQ(dead.body(), "found");
    EXPECT_EQ(dead.annotated_text("x-opt-deaths"),
              "array[{'queue': 'q', 'reason': 'expired', 'count': 1, 'first-time': " + died +
                  ", 'last-time': " + died + ", 'exchange': '', 'routing-keys': array['q']}]");
    EXPECT_EQ(dead.annotated_text("x-first-death-queue"), "q");
    EXPECT_EQ(dead.annotated_text("x-first-death-reason"), "expired");
    EXPECT_EQ(dead.annotated_text("x-first-death-exchange"), "");
    EXPECT_EQ(dead.annotated_text("x-last-death-queue"), "q");
    EXPECT_EQ(dead.annotated_text("x-last-death-reason"), "expired");
    EXPECT_EQ(dead.annotated_text("x-last-death-exchange"), "");
    EXPECT_EQ(dead.annotated_text("x-exchange"), "by headers");
    EXPECT_EQ(dead.annotated_text("x-routing-key"), "q");
    EXPECT_EQ(dead.annotated_text("x-mine"), "also");
    expect_counts(dead, 0, false);
    EXPECT_EQ(channel().count("dead"), 0U);
}

// DL-75, DL-76, DL-155: a cycle of three queues.
TEST_P(DeadLetters10, DeathsAreCountedAroundACircle) {
    declare_quorum("q1", {{"x-dead-letter-exchange", ""},
                          {"x-dead-letter-routing-key", "q2"},
                          {"x-dead-letter-strategy", "at-least-once"},
                          {"x-overflow", "reject-publish"},
                          {"x-message-ttl", 20}});
    declare_quorum("q2", {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", "q3"}});
    declare("q3", {{"x-dead-letter-exchange", ""},
                   {"x-dead-letter-routing-key", "q1"},
                   {"x-message-ttl", 20}});
    channel().publish("", "q1", "m");
    const std::string note =
        encoded(Datum::map({{Datum::symbol("x-note"), Datum::string("kept")}}));
    world().advance(milliseconds(30));  // q1 to q2
    expect_counts(take_and_settle("q2", Rejected{}), 0);
    world().advance(milliseconds(60));  // q3, q1 and again q2
    const auto second = take_and_settle(
        "q2",
        Modified{.delivery_failed = true, .undeliverable_here = true, .message_annotations = note});
    expect_counts(second, 1);
    world().advance(milliseconds(60));
    const auto third = take_and_settle("q2", Accepted{});
    expect_counts(third, 2);
    EXPECT_EQ(third.annotated_text("x-note"), "kept");
    const Datum* const deaths = third.parts->annotation("x-opt-deaths");
    ASSERT_NE(deaths, nullptr);
    std::string told;
    for (const Datum& death : *deaths->as_elements()) {
        const DataMap& map = *death.as_map();
        told += text_of(*find(map, "queue")) + " " + text_of(*find(map, "count")) + " ";
        EXPECT_LT(*find(map, "first-time")->as_signed(), *find(map, "last-time")->as_signed());
    }
    EXPECT_EQ(told, "'q1' 3 'q3' 2 'q2' 2 ");
    EXPECT_EQ(third.annotated_text("x-first-death-queue"), "q1");
    EXPECT_EQ(third.annotated_text("x-last-death-queue"), "q1");
}

// DL-5: messages rejected out of order are dead-lettered in the order of settlement.
TEST_P(DeadLetters10, RejectedMessagesDieInTheOrderOfTheirSettlement) {
    for (const std::string& type : types) {
        const std::string dead = type + ".dead";
        declare_typed(type, type,
                      {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", dead}});
        declare(dead);
        for (int i = 0; i < 8; ++i) channel().publish("", type, std::to_string(i));
        session().attach_receiver(0, "/queues/" + type, 8);
        std::uint32_t first = 0;
        for (int i = 0; i < 8; ++i) {
            const auto taken = session().expect_message(std::to_string(i));
            if (i == 0) first = taken.delivery_id;
        }
        const std::string rejected = encoded(Rejected{});
        session().settle(first + 4, first + 5, rejected);
        session().settle(first + 1, first + 2, rejected);
        session().settle(first + 0, first + 0, rejected);
        session().settle(first + 7, first + 7, rejected);
        session().settle(first + 3, first + 6, rejected);
        EXPECT_EQ(channel().drain(dead),
                  (std::vector<std::string>{"4", "5", "1", "2", "0", "7", "3", "6"}));
        session().detach(0);
    }
}

// DL-5
TEST_P(DeadLetters10, ManyRejectedMessagesKeepTheirOrder) {
    for (const std::string& type : types) {
        const std::string dead = type + ".dead";
        declare_typed(type, type,
                      {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", dead}});
        declare(dead);
        std::vector<std::string> wanted;
        for (int i = 0; i < 150; ++i) {
            wanted.push_back(std::to_string(i));
            channel().publish("", type, wanted.back());
        }
        session().attach_receiver(0, "/queues/" + type, 150);
        std::uint32_t last = 0;
        for (int i = 0; i < 150; ++i) last = session().expect_message().delivery_id;
        session().settle(last - 149, last, encoded(Rejected{}));
        EXPECT_EQ(channel().drain(dead), wanted);
        session().detach(0);
    }
}

// DL-125: the TTL in the header.
TEST_P(DeadLetters10, TheHeadersTimeToLiveExpires) {
    for (const std::string& type : types) {
        const std::string dead = type + ".dead";
        declare_typed(type, type,
                      {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", dead}});
        declare(dead);
        session().attach_sender(0, "/queues/" + type);
        Header soon;
        soon.ttl = 1;
        Header late;
        late.ttl = 60000;
        session().publish<Accepted>(0, 0, MessageBytes("soon").header(soon));
        session().publish<Accepted>(0, 1, MessageBytes("late").header(late));
        world().advance(milliseconds(50));
        EXPECT_EQ(channel().count(type), 1U);
        const auto gone = take_and_settle(dead, Accepted{});
        EXPECT_EQ(gone.body(), "soon");
        // DL-78, DL-91: recorded in the history and no longer effective.
        EXPECT_TRUE(gone.annotated_text("x-opt-deaths").starts_with("array[{'ttl': 1, 'queue'"))
            << gone.annotated_text("x-opt-deaths");
        EXPECT_TRUE(gone.header_field(2)->is_null());
        const auto kept = take_and_settle(type, Accepted{});
        EXPECT_EQ(kept.body(), "late");
        EXPECT_EQ(text_of(*kept.header_field(2)), "60000");
        session().detach(0);
    }
}

// DL-156: ranges out of order settle exactly those messages.
TEST_P(DeadLetters10, AcceptedRangesOutOfOrderLeaveTheOthers) {
    for (const std::string& type : types) {
        declare_typed(type, type);
        for (int i = 0; i < 8; ++i) channel().publish("", type, std::to_string(i));
        session().attach_receiver(0, "/queues/" + type, 8);
        std::uint32_t last = 0;
        for (int i = 0; i < 8; ++i) last = session().expect_message().delivery_id;
        const std::uint32_t first = last - 7;
        session().settle(first + 5, first + 6, encoded(Accepted{}));
        session().settle(first + 1, first + 2, encoded(Accepted{}));
        session().settle(first + 4, first + 4, encoded(Accepted{}));
        session().detach(0);
        EXPECT_EQ(channel().drain(type), (std::vector<std::string>{"0", "3", "7"}));
    }
}

// DL-156: messages released out of order are delivered in their old order, or in that of their
// release.
TEST_P(DeadLetters10, ReleasedRangesOutOfOrderComeAgain) {
    for (const std::string& type : types) {
        declare_typed(type, type);
        for (int i = 0; i < 6; ++i) channel().publish("", type, std::to_string(i));
        session().attach_receiver(0, "/queues/" + type, 6);
        std::uint32_t last = 0;
        for (int i = 0; i < 6; ++i) last = session().expect_message().delivery_id;
        const std::uint32_t first = last - 5;
        session().settle(first + 3, first + 5, encoded(Released{}));
        session().settle(first + 0, first + 0, encoded(Released{}));
        session().settle(first + 1, first + 2, encoded(Released{}));
        session().credit(0, 6);
        std::vector<std::string> came;
        for (int i = 0; i < 6; ++i) came.push_back(session().expect_message().body());
        const std::vector<std::string> in_order = {"0", "1", "2", "3", "4", "5"};
        const std::vector<std::string> as_returned = {"3", "4", "5", "0", "1", "2"};
        EXPECT_EQ(came, type == "quorum" ? as_returned : in_order);
        session().detach(0);
    }
}

// DL-98, DL-99: published in one protocol, consumed in the other.
TEST_P(DeadLetters10, AHistoryIsReadInBothProtocols) {
    declare("q", {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", "dead"}});
    declare("dead");
    session().attach_sender(0, "/queues/q");
    session().publish<Accepted>(0, 0, MessageBytes("of 1.0"));
    channel().publish("", "q", "of 0-9-1");
    take_and_settle("q", Rejected{});
    take_and_settle("q", Rejected{});
    const auto first = channel().get("dead", true);
    EXPECT_EQ(first.body, "of 1.0");
    bool found = false;
    for (const Field& field : first.headers()) found = found || field.name == "x-death";
    EXPECT_TRUE(found);
    const auto second = take_and_settle("dead", Accepted{});
    EXPECT_EQ(second.body(), "of 0-9-1");
    EXPECT_NE(second.parts->annotation("x-opt-deaths"), nullptr);
    EXPECT_EQ(second.annotated_text("x-first-death-reason"), "rejected");
}

}  // namespace
}  // namespace revenant::amqp10
