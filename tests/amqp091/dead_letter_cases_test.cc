// RabbitMQ's dead-letter test cases that concern the wire format. tools/dead_letter_cases.txt maps
// its cases to tests.
#include "tests/support/peer.h"

#include <gmock/gmock.h>

namespace revenant::amqp091 {
namespace {

using ::testing::Contains;
using ::testing::Not;

// Each source is tested as a classic queue, a quorum queue and an at-least-once quorum queue.
constexpr const char* kinds[] = {"classic", "quorum", "guarded"};

Value list_of(std::initializer_list<const char*> texts) {
    Array elements;
    for (const char* text : texts) elements.push_back(Value::string(text));
    return Value::array(std::move(elements));
}

class ProtocolDeadLetters : public WireTest {
  protected:
    // Declares a source of this kind under its own name.
    void declare_source(std::string kind, std::initializer_list<Argument> given) {
        Table fields = engine::arguments(given);
        const auto add = [&](const Argument& argument) { fields.push_back(argument.field); };
        if (kind != "classic") add({"x-queue-type", "quorum"});
        if (kind == "guarded") {
            add({"x-dead-letter-strategy", "at-least-once"});
            add({"x-overflow", "reject-publish"});
        }
        const std::string encoded = table(fields);
        channel().send(QueueDeclare{.queue = kind, .durable = true, .arguments = encoded});
        channel().expect<QueueDeclareOk>();
    }
    void declare_source_to_dead(const std::string& kind) {
        declare_source(kind,
                       {{"x-dead-letter-exchange", ""}, {"x-dead-letter-routing-key", "dead"}});
    }
    void nack_head(std::string_view queue) {
        channel().nack(channel().get(queue).delivery_tag, false, false);
    }
    Received take(std::string_view queue) { return channel().get(queue, /*no_ack=*/true); }
    // Checks the headers of a first death.
    static void expect_marks(const Table& headers, const std::string& queue, const char* reason) {
        for (const std::string mark : {"x-first-death-", "x-last-death-"}) {
            EXPECT_THAT(headers, Contains(Field{mark + "queue", Value::string(queue)}));
            EXPECT_THAT(headers, Contains(Field{mark + "reason", Value::string(reason)}));
            EXPECT_THAT(headers, Contains(Field{mark + "exchange", Value::string("")}));
        }
    }
    Table record_of(const std::string& queue, const char* reason) {
        const auto seconds = static_cast<std::uint64_t>(world().now().whole_seconds());
        return {{"count", Value::int64(1)},      {"reason", Value::string(reason)},
                {"queue", Value::string(queue)}, {"time", Value::timestamp(seconds)},
                {"exchange", Value::string("")}, {"routing-keys", list_of({queue.c_str()})}};
    }
    static Value history(Table record) { return Value::array({Value::table(std::move(record))}); }
};
INSTANTIATE_TEST_SUITE_P(Wire, ProtocolDeadLetters, testing::Values(Distance::near, Distance::far),
                         distance_name);

// DL-85, DL-86, DL-88, DL-172
TEST_P(ProtocolDeadLetters, ARecordHasItsFieldsAndTypes) {
    channel().declare("dead");
    for (const std::string kind : kinds) {
        declare_source_to_dead(kind);
        channel().publish("", kind, "body");
        nack_head(kind);
        const Table headers = take("dead").headers();
        EXPECT_THAT(headers, Contains(Field{"x-death", history(record_of(kind, "rejected"))}));
        expect_marks(headers, kind, "rejected");
    }
}

// DL-70, DL-78, DL-90, DL-172
TEST_P(ProtocolDeadLetters, ARecordHasTheExpirationThatTheMessageLoses) {
    channel().declare("dead");
    for (const std::string kind : kinds) {
        declare_source_to_dead(kind);
        channel().publish("", kind, "body", Properties().expiration("1"));
        world().advance(milliseconds(1));
        const auto letter = take("dead");
        Table record = record_of(kind, "expired");
        record.insert(record.begin(), {"original-expiration", Value::string("1")});
        EXPECT_THAT(letter.headers(), Contains(Field{"x-death", history(record)}));
        EXPECT_EQ(letter.decoded().expiration, "");
        expect_marks(letter.headers(), kind, "expired");
    }
}

// DL-106
TEST_P(ProtocolDeadLetters, AHistoryPublishedAgainIsNotContinued) {
    channel().declare("dead");
    for (const std::string kind : kinds) {
        declare_source_to_dead(kind);
        channel().publish("", kind, "body");
        nack_head(kind);
        const Table old_headers = take("dead").headers();
        channel().publish("", kind, "body", Properties().headers(old_headers).expiration("1"));
        world().advance(milliseconds(1));
        Table record = record_of(kind, "expired");
        record.insert(record.begin(), {"original-expiration", Value::string("1")});
        EXPECT_THAT(take("dead").headers(), Contains(Field{"x-death", history(record)}));
    }
}

// DL-65, DL-66, DL-68; RabbitMQ also keeps CC with a dead-letter routing key
// (docs/compatibility.md).
TEST_P(ProtocolDeadLetters, CarbonCopiesAreShownUnlessAKeyReplacedThem) {
    for (const char* name : {"dead", "copy", "blind"}) channel().declare(name);
    channel().declare_exchange("dlx", "fanout");
    channel().bind("dead", "dlx");
    const Properties copies =
        Properties().headers({{"CC", list_of({"copy"})}, {"BCC", list_of({"blind"})}});
    const auto names = [](const Table& headers) {
        std::vector<std::string> all;
        for (const Field& field : headers) all.push_back(field.name);
        return all;
    };
    for (const std::string kind : kinds) {
        declare_source(kind, {{"x-dead-letter-exchange", "dlx"}});
        channel().publish("", kind, "body", copies);
        nack_head(kind);
        Table record = record_of(kind, "rejected");
        record.back().value = list_of({kind.c_str(), "copy"});
        const Table headers = take("dead").headers();
        EXPECT_THAT(headers, Contains(Field{"CC", list_of({"copy"})}));
        EXPECT_THAT(headers, Contains(Field{"x-death", history(record)}));
        EXPECT_THAT(names(headers), Not(Contains("BCC")));
    }
    declare_source("keyed",
                   {{"x-dead-letter-exchange", "dlx"}, {"x-dead-letter-routing-key", "k"}});
    channel().publish("", "keyed", "body", copies);
    nack_head("keyed");
    EXPECT_THAT(names(take("dead").headers()), Not(Contains("CC")));
}

// DL-143, DL-211: a body of two bytes, and four bytes for an expiration of one digit.
TEST_P(ProtocolDeadLetters, WaitingLettersCountTheirProperties) {
    channel().declare_exchange("dlx", "direct");
    declare_source("guarded", {{"x-dead-letter-exchange", "dlx"}});
    for (int i = 0; i < 10; ++i)
        channel().publish("", "guarded", "m1", Properties().expiration("0"));
    world().advance(milliseconds(1));
    const engine::Queue& queue = *world().engine().state().find_queue("guarded");
    EXPECT_EQ(queue.outbox(), (engine::MessageTotals{10, 60}));
    channel().declare("dead");
    channel().bind("dead", "dlx", "guarded");
    EXPECT_EQ(queue.outbox(), engine::MessageTotals{});
    EXPECT_EQ(channel().drain("dead").size(), 10U);
}

// DL-60
TEST_P(ProtocolDeadLetters, APropertyGoesThroughAQuorumQueueUnchanged) {
    declare_source("quorum", {});
    const Properties properties =
        Properties()
            .headers({{"x-first", "text"}, {"second", 2L}, {"third", list_of({"a", "b"})}})
            .delivery_mode(2)
            .priority(3)
            .timestamp(99)
            .expiration("60000");
    channel().publish("", "quorum", "body", properties);
    EXPECT_EQ(take("quorum").properties, properties.encode());
}

}  // namespace
}  // namespace revenant::amqp091
