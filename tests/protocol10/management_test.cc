// Requests to /management (amqp10, section 7).
#include "amqp10/raw_fields.h"
#include "tests/support/peer10.h"

namespace revenant::amqp10 {
namespace {

using namespace std::string_literals;

struct Answer {
    std::string status;
    std::string body;  // as text
    std::string correlation;
    std::string http;
};

class Management10 : public Wire10Test {
  protected:
    static constexpr std::uint32_t requests = 0;
    static constexpr std::uint32_t responses = 1;

    void send_attach(PeerSession& on, bool receives, std::string_view client_address = "$me",
                     std::optional<Datum> paired = Datum::boolean(true)) {
        const std::string here = receives ? target_of(std::string(client_address))
                                          : source_of(std::string(client_address));
        const std::string there = receives ? source_of("/management") : target_of("/management");
        const std::string properties =
            paired ? encoded(Datum::map({{Datum::symbol("paired"), *paired}})) : std::string();
        Attach attach{.name = "management-link-pair",
                      .handle = receives ? responses : requests,
                      .role = receives,
                      .snd_settle_mode = settled_mode,
                      .properties = properties};
        attach.source = receives ? there : here;
        attach.target = receives ? here : there;
        if (!receives) attach.initial_delivery_count = 0;
        on.send(attach);
    }
    void attach_pair(PeerSession& on, std::uint32_t credit = 100) {
        send_attach(on, false);
        const auto sender = on.expect<Attach>();
        EXPECT_FALSE(is_absent(sender.target));
        const auto flow = on.expect<Flow>();
        EXPECT_EQ(flow.link_credit, 8U);
        send_attach(on, true);
        EXPECT_FALSE(is_absent(on.expect<Attach>().source));
        if (credit > 0) on.credit(responses, credit);
    }
    static std::string request(std::string_view verb, std::string_view to,
                               const Datum& body = Datum::null()) {
        Properties properties;
        const std::string id = encoded(Datum::string("id of it"));
        properties.message_id = id;
        properties.to = to;
        properties.subject = verb;
        properties.reply_to = "$me";
        return encoded(properties) + section(descriptor::value, body);
    }
    // The pair of this test, made when it is needed.
    PeerSession& pair() {
        if (!pair_) {
            pair_ = peer10().begin(5);
            attach_pair(*pair_);
        }
        return *pair_;
    }
    void send_request(std::string_view verb, std::string_view to,
                      const Datum& body = Datum::null()) {
        pair().transfer(requests, next_id_++, request(verb, to, body), true);
    }
    Answer expect_answer(Where where = Where::here()) {
        // Credit for requests is renewed now and then.
        pair();
        Answer answer;
        std::string bytes;
        while (true) {
            const Arrival* const arrival = peer10().next(5);
            if (arrival == nullptr) {
                ADD_FAILURE_AT(where.file, where.line) << "no answer";
                return answer;
            }
            if (arrival->code() == Flow::descriptor_code) continue;
            if (arrival->code() != Transfer::descriptor_code) {
                ADD_FAILURE_AT(where.file, where.line) << "instead: " << arrival->describe();
                return answer;
            }
            const auto transfer = Transfer::decode(arrival->items()).value();
            EXPECT_EQ(transfer.settled, true);
            EXPECT_EQ(transfer.delivery_tag, "");
            bytes = std::string(arrival->payload());
            break;
        }
        peer10().note_deliveries(5, responses, 1);
        const auto sections = split_message(bytes).value();
        const auto properties = composite_in<Properties>(sections.properties).value();
        answer.status = std::string(properties.subject.value_or(""));
        answer.correlation = string_of(properties.correlation_id).value_or("none");
        answer.http = text_of(content_in(sections.application_properties));
        answer.body = text_of(content_in(sections.body));
        return answer;
    }
    Answer ask(std::string_view verb, std::string_view to, const Datum& body = Datum::null(),
               Where where = Where::here()) {
        send_request(verb, to, body);
        return expect_answer(where);
    }
    void expect_status(std::string_view status, std::string_view verb, std::string_view to,
                       const Datum& body = Datum::null(), Where where = Where::here()) {
        const testing::ScopedTrace trace(where.file, where.line, "the answer");
        const Answer answer = ask(verb, to, body, where);
        EXPECT_EQ(answer.status, status) << answer.body;
    }
    void expect_refusal(std::string_view status, std::string_view text, std::string_view verb,
                        std::string_view to, const Datum& body = Datum::null(),
                        Where where = Where::here()) {
        const testing::ScopedTrace trace(where.file, where.line, "the refusal");
        const Answer answer = ask(verb, to, body, where);
        EXPECT_EQ(answer.status, status);
        EXPECT_EQ(answer.body, "'" + std::string(text) + "'");
    }
    static Datum with_arguments(DataMap arguments) {
        return Datum::map({{Datum::string("arguments"), Datum::map(std::move(arguments))}});
    }

  private:
    std::optional<PeerSession> pair_;
    std::uint32_t next_id_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Wire, Management10, testing::Values(Distance::near, Distance::far),
                         distance_name);

const Datum quorum_body =
    Datum::map({{Datum::string("durable"), Datum::boolean(true)},
                {Datum::string("arguments"),
                 Datum::map({{Datum::string("x-queue-type"), Datum::string("quorum")}})}});

// amqp10 C.10, 7.3, 7.5, 7.6, 7.7
TEST_P(Management10, AQueueIsMadeShownAndDeleted) {
    const Answer made = ask("PUT", "/queues/q1", quorum_body);
    EXPECT_EQ(made.status, "201");
    EXPECT_EQ(made.correlation, "id of it");
    EXPECT_EQ(made.http, "{'http:response': '1.1'}");
    EXPECT_EQ(made.body,
              "{'name': 'q1', 'vhost': '/', 'durable': true, 'auto_delete': false, 'exclusive': "
              "false, 'type': 'quorum', 'arguments': {'x-queue-type': 'quorum'}, "
              "'message_count': 0, 'consumer_count': 0, 'leader': 'rabbit@localhost', "
              "'replicas': array['rabbit@localhost']}");
    expect_status("200", "PUT", "/queues/q1", quorum_body);
    const Answer other =
        ask("PUT", "/queues/q1",
            with_arguments({{Datum::string("x-queue-type"), Datum::string("classic")}}));
    EXPECT_EQ(other.status, "409");
    EXPECT_TRUE(other.body.find("inequivalent arg 'x-queue-type'") != std::string::npos)
        << other.body;
    channel().publish("", "q1", "m");
    const Answer shown = ask("GET", "/queues/q1");
    EXPECT_EQ(shown.status, "200");
    EXPECT_TRUE(shown.body.find("'message_count': 1") != std::string::npos) << shown.body;
    const Answer deleted = ask("DELETE", "/queues/q1");
    EXPECT_EQ(deleted.status, "200");
    EXPECT_EQ(deleted.body, "{'message_count': 1}");
    expect_refusal("404", "queue 'q1' in vhost '/' not found", "GET", "/queues/q1");
    EXPECT_EQ(ask("DELETE", "/queues/q1").body, "{'message_count': 0}");
}

// amqp10 7.5: what is not said has a default.
TEST_P(Management10, AQueueHasItsDefaults) {
    const Answer made = ask("PUT", "/queues/a%2Fb%20c");
    EXPECT_EQ(made.status, "201");
    EXPECT_TRUE(
        made.body.starts_with("{'name': 'a/b c', 'vhost': '/', 'durable': true, "
                              "'auto_delete': false, 'exclusive': false, 'type': "
                              "'classic', 'arguments': {}"))
        << made.body;
}

// amqp10 7.7
TEST_P(Management10, AQueueIsPurged) {
    declare("q");
    for (int i = 0; i < 3; ++i) channel().publish("", "q", "m");
    const Answer purged = ask("DELETE", "/queues/q/messages");
    EXPECT_EQ(purged.status, "200");
    EXPECT_EQ(purged.body, "{'message_count': 3}");
    EXPECT_EQ(channel().count("q"), 0U);
    expect_refusal("404", "queue 'none' in vhost '/' not found", "DELETE", "/queues/none/messages");
}

// amqp10 7.4, 7.5
TEST_P(Management10, ABadQueueIsRefused) {
    expect_refusal("400", "bad queue property 'colour'", "PUT", "/queues/q",
                   Datum::map({{Datum::string("colour"), Datum::string("red")}}));
    expect_refusal("400", "bad queue property 'durable'", "PUT", "/queues/q",
                   Datum::map({{Datum::string("durable"), Datum::string("yes")}}));
    expect_refusal("400", "bad queue property ''", "PUT", "/queues/q",
                   Datum::map({{Datum::uint(1), Datum::boolean(true)}}));
    expect_refusal("400", "the body is no map", "PUT", "/queues/q", Datum::string("text"));
    expect_refusal("400", "declare queue with empty name not allowed", "PUT", "/queues/");
    const Answer broken = ask("PUT", "/queues/a%0Ab");
    EXPECT_EQ(broken.status, "400");
    for (const std::string name : {"amq.x", "amq.rabbitmq.reply-to"}) {
        expect_refusal("403",
                       "queue '" + name + "' in vhost '/' starts with reserved prefix 'amq.'",
                       "PUT", "/queues/" + name);
    }
    channel();
    expect_refusal("404", "queue 'q' in vhost '/' not found", "GET", "/queues/q");
}

// amqp10 7.5, DL-40, DL-43
TEST_P(Management10, ABadArgumentIsAConflict) {
    const Answer type =
        ask("PUT", "/queues/q",
            with_arguments({{Datum::string("x-message-ttl"), Datum::string("soon")}}));
    EXPECT_EQ(type.status, "409") << type.body;
    const Answer unknown =
        ask("PUT", "/queues/q",
            with_arguments({{Datum::string("x-queue-type"), Datum::string("odd")}}));
    EXPECT_TRUE(unknown.status == "409" || unknown.status == "400") << unknown.body;
    const Answer key =
        ask("PUT", "/queues/q",
            with_arguments({{Datum::string("x-dead-letter-routing-key"), Datum::string("k")}}));
    EXPECT_EQ(key.status, "409") << key.body;
    expect_status("404", "GET", "/queues/q");
}

// amqp10 7.8
TEST_P(Management10, AnExchangeIsMadeAndDeleted) {
    const Datum fanout = Datum::map({{Datum::string("type"), Datum::string("fanout")},
                                     {Datum::string("durable"), Datum::boolean(false)}});
    const Answer made = ask("PUT", "/exchanges/e", fanout);
    EXPECT_EQ(made.status, "204");
    EXPECT_EQ(made.body, "null");
    expect_status("204", "PUT", "/exchanges/e", fanout);
    expect_status("409", "PUT", "/exchanges/e");
    expect_status("204", "PUT", "/exchanges/plain");
    expect_status("204", "DELETE", "/exchanges/e");
    expect_status("204", "DELETE", "/exchanges/e");
}

// amqp10 7.4, 7.8
TEST_P(Management10, ABadExchangeIsRefused) {
    expect_refusal("400", "bad exchange property 'colour'", "PUT", "/exchanges/e",
                   Datum::map({{Datum::string("colour"), Datum::string("red")}}));
    const Answer type =
        ask("PUT", "/exchanges/e", Datum::map({{Datum::string("type"), Datum::string("odd")}}));
    EXPECT_EQ(type.status, "400") << type.body;
    expect_status("403", "PUT", "/exchanges/amq.mine");
    expect_status("403", "PUT", "/exchanges/");
    expect_status("403", "DELETE", "/exchanges/");
    expect_status("403", "DELETE", "/exchanges/amq.direct");
}

Datum binding(std::string_view source, std::string_view queue, std::string_view key,
              DataMap arguments = {}) {
    return Datum::map({{Datum::string("source"), Datum::string(source)},
                       {Datum::string("binding_key"), Datum::string(key)},
                       {Datum::string("arguments"), Datum::map(std::move(arguments))},
                       {Datum::string("destination_queue"), Datum::string(queue)}});
}

// amqp10 7.9, 7.10
TEST_P(Management10, ABindingIsMadeListedAndTakenAway) {
    declare("q");
    expect_status("204", "POST", "/bindings", binding("amq.direct", "q", "a key"));
    const Answer listed = ask("GET", "/bindings?src=amq.direct&dstq=q&key=a%20key");
    EXPECT_EQ(listed.status, "200");
    EXPECT_EQ(listed.body,
              "[{'source': 'amq.direct', 'destination_queue': 'q', 'binding_key': 'a key', "
              "'arguments': {}, 'location': "
              "'/bindings/src=amq.direct;dstq=q;key=a%20key;args='}]");
    channel().publish("amq.direct", "a key", "m");
    EXPECT_EQ(channel().count("q"), 1U);
    expect_status("204", "DELETE", "/bindings/src=amq.direct;dstq=q;key=a%20key;args=");
    EXPECT_EQ(ask("GET", "/bindings?src=amq.direct&dstq=q&key=a%20key").body, "[]");
    expect_status("204", "DELETE", "/bindings/src=amq.direct;dstq=q;key=a%20key;args=");
}

// amqp10 7.10: with arguments, by its location.
TEST_P(Management10, ABindingWithArgumentsIsFoundByItsLocation) {
    declare("q");
    const DataMap arguments = {{Datum::string("x-match"), Datum::string("any")},
                               {Datum::string("colour"), Datum::string("red")}};
    expect_status("204", "POST", "/bindings", binding("amq.headers", "q", "", arguments));
    expect_status("204", "POST", "/bindings", binding("amq.headers", "q", ""));
    const std::string list = ask("GET", "/bindings?src=amq.headers&dstq=q&key=").body;
    const std::size_t at = list.find(";args=", list.find("'colour'"));
    ASSERT_NE(at, std::string::npos) << list;
    const std::string mark = list.substr(at + 6, list.find('\'', at) - at - 6);
    EXPECT_FALSE(mark.empty());
    expect_status("204", "DELETE", "/bindings/src=amq.headers;dstq=q;key=;args=" + mark);
    EXPECT_EQ(ask("GET", "/bindings?src=amq.headers&dstq=q&key=").body.find("colour"),
              std::string::npos);
    EXPECT_NE(ask("GET", "/bindings?src=amq.headers&dstq=q&key=").body, "[]");
}

// amqp10 7.9, 7.10: between exchanges.
TEST_P(Management10, ExchangesAreBoundAsWell) {
    expect_status("204", "PUT", "/exchanges/e",
                  Datum::map({{Datum::string("type"), Datum::string("fanout")}}));
    declare("q");
    channel().bind("q", "e");
    expect_status("204", "POST", "/bindings",
                  Datum::map({{Datum::string("source"), Datum::string("amq.topic")},
                              {Datum::string("binding_key"), Datum::string("#")},
                              {Datum::string("arguments"), Datum::map({})},
                              {Datum::string("destination_exchange"), Datum::string("e")}}));
    channel().publish("amq.topic", "any", "m");
    EXPECT_EQ(channel().count("q"), 1U);
    EXPECT_NE(ask("GET", "/bindings?src=amq.topic&dste=e&key=%23").body, "[]");
    expect_status("204", "DELETE", "/bindings/src=amq.topic;dste=e;key=%23;args=");
    EXPECT_EQ(ask("GET", "/bindings?src=amq.topic&dste=e&key=%23").body, "[]");
}

// amqp10 7.4, 7.9
TEST_P(Management10, ABadBindingIsRefused) {
    declare("q");
    const std::string needs = "a binding needs a source, a key, and one destination";
    expect_refusal("400", needs, "POST", "/bindings");
    expect_refusal("400", needs, "POST", "/bindings",
                   Datum::map({{Datum::string("source"), Datum::string("amq.direct")}}));
    expect_refusal("400", "bad binding field 'colour'", "POST", "/bindings",
                   Datum::map({{Datum::string("colour"), Datum::string("red")}}));
    expect_refusal("400", needs, "GET", "/bindings?src=amq.direct&key=k");
    expect_refusal("400", needs, "GET", "/bindings?src=amq.direct&dstq=q&dste=e&key=k");
    expect_refusal("400", "no queue 'none' in vhost '/'", "POST", "/bindings",
                   binding("amq.direct", "none", "k"));
    expect_refusal("400", "no exchange 'none' in vhost '/'", "POST", "/bindings",
                   binding("none", "q", "k"));
}

// amqp10 4.2, 7.4: what AMQP 0-9-1 could not carry has no place here either.
TEST_P(Management10, NamesFitIntoShortStrings) {
    const std::string longest(255, 'n');
    const std::string too_long(256, 'n');
    const std::string why = "a name has more than 255 bytes";
    expect_status("201", "PUT", "/queues/" + longest);
    expect_refusal("400", why, "PUT", "/queues/" + too_long);
    expect_refusal("400", why, "PUT", "/exchanges/" + too_long);
    expect_refusal("400", why, "GET", "/bindings?src=amq.direct&dstq=q&key=" + too_long);
    expect_refusal("400", "bad binding field 'binding_key'", "POST", "/bindings",
                   binding("amq.direct", longest, too_long));
    expect_refusal("400", "a name is not UTF-8", "PUT", "/queues/%FF%FE");
}

// amqp10 7.4
TEST_P(Management10, ABadUriIsRefused) {
    expect_refusal("400", "bad URI: queues", "GET", "queues");
    expect_refusal("400", "no two hexadecimal digits behind % in '%zz'", "GET", "/queues/%zz");
    expect_refusal("400", "bad URI: src", "GET", "/bindings?src");
    expect_status("404", "GET", "/");
    expect_refusal("404", "no such thing: GET /nothing", "GET", "/nothing/at/all");
    expect_refusal("404", "no such thing: POST /queues", "POST", "/queues/q");
    expect_refusal("404", "no such thing:  /queues", "", "/queues/q");
    expect_refusal("404", "no such thing: DELETE /queues", "DELETE", "/queues/q/other");
}

// A request that cannot be read is answered all the same.
TEST_P(Management10, AnUnreadableRequestIsABadOne) {
    for (const std::string& bytes :
         {""s, "garbage"s, data("no value"), section(descriptor::value, Datum::null()),
          encoded(Properties{}) + section(descriptor::value, Datum::null()),
          request("GET", "/queues/q").substr(0, 20)}) {
        pair().transfer(requests, 0, bytes, true);
        EXPECT_EQ(expect_answer().status, "400");
    }
    declare("q");
    expect_status("200", "GET", "/queues/q");
}

// amqp10 7.11
TEST_P(Management10, TokensAreTakenNoteOf) {
    expect_status("204", "PUT", "/auth/tokens", Datum::binary("token"));
}

// Requests are answered in their order, also when they come in one piece.
TEST_P(Management10, ManyRequestsAreAnsweredInOrder) {
    depends_on_distance();  // credit for more comes between the answers
    pair();
    peer10().hold();
    for (const char* name : {"a", "b", "c", "d"}) {
        send_request("PUT", "/queues/"s + name);
        send_request("GET", "/queues/none");
    }
    peer10().release();
    for (const char* name : {"a", "b", "c", "d"}) {
        const Answer made = expect_answer();
        EXPECT_EQ(made.status, "201");
        EXPECT_TRUE(made.body.starts_with("{'name': '"s + name + "'")) << made.body;
        EXPECT_EQ(expect_answer().status, "404");
    }
}

// amqp10 3.3, 7.2: a client that asks on and on and lets no answer in.
TEST_P(Management10, AnswersThatWaitForTheWindowHoldRequestsBack) {
    depends_on_distance();
    const std::string name(200, 'q');
    declare(name);
    PeerSession shut = peer10().begin(5, 1);
    attach_pair(shut, 0);
    shut.credit_behind_closed_window(responses, 1'000'000);
    // Each answer tells the arguments again: 60 kB.
    std::uint32_t sent = 0;
    std::uint32_t credit = 8;
    const std::string large(60'000, 'x');
    const std::string to = "/bindings?src=amq.direct&dstq=" + name + "&key=k";
    channel().send(amqp091::QueueBind{.queue = name,
                                      .exchange = "amq.direct",
                                      .routing_key = "k",
                                      .arguments = amqp091::table({{"large", large}})});
    channel().expect<amqp091::QueueBindOk>();
    while (sent < 200 && credit > 0) {
        shut.transfer(requests, sent, request("GET", to), true);
        sent += 1;
        credit -= 1;
        while (peer10().next(5) != nullptr) credit = 8;  // nothing but credit can come
    }
    EXPECT_LT(sent, 60U) << "about a megabyte of answers, and the credit given before";
    EXPECT_EQ(credit, 0U);
    shut.send(Flow{.next_incoming_id = 0, .incoming_window = 100'000});
    peer10().ignore_rest();
}

// amqp10 7.1
TEST_P(Management10, BothHalvesAreAnsweredAsAPairAndStandOnce) {
    for (const bool receives : {false, true}) {
        send_attach(session(), receives);
        EXPECT_EQ(text_in(session().expect<Attach>().properties), "{'paired': true}");
        if (!receives) session().expect<Flow>();
    }
    Attach twin{.name = "management-link-pair", .handle = 7, .role = true};
    const std::string source = source_of("/management");
    const std::string target = target_of("$me");
    const std::string paired =
        encoded(Datum::map({{Datum::symbol("paired"), Datum::boolean(true)}}));
    twin.source = source;
    twin.target = target;
    twin.properties = paired;
    session().send(twin);
    session().expect_refused_attach(
        7, "amqp:precondition-failed",
        "the session has a link 'management-link-pair' of this direction already");
}

// amqp10 7.1
TEST_P(Management10, APairIsDeclaredToBeOne) {
    const std::string text = "Link property 'paired' is not set to boolean value 'true'";
    for (const bool receives : {false, true}) {
        const std::uint32_t handle = receives ? responses : requests;
        send_attach(session(), receives, "$me", std::nullopt);
        session().expect_refused_attach(handle, "amqp:invalid-field", text);
        send_attach(session(), receives, "$me", Datum::boolean(false));
        session().expect_refused_attach(handle, "amqp:invalid-field", text);
        send_attach(session(), receives, "$me", Datum::string("true"));
        session().expect_refused_attach(handle, "amqp:invalid-field", text);
    }
}

// amqp10 7.1
TEST_P(Management10, BothHalvesHaveOneAddress) {
    send_attach(session(), false, "$me");
    session().expect<Attach>();
    session().expect<Flow>();
    send_attach(session(), true, "$you");
    session().expect_refused_attach(responses, "amqp:precondition-failed",
                                    "the two links of the management link pair "
                                    "'management-link-pair' have different addresses at the "
                                    "client");
    send_attach(session(), true, "$me");
    EXPECT_FALSE(is_absent(session().expect<Attach>().source));
}

// amqp10 7.2
TEST_P(Management10, HalfAPairAnswersNothing) {
    send_attach(session(), false);
    session().expect<Attach>();
    session().expect<Flow>();
    session().transfer(requests, 0, request("GET", "/queues/q"), true);
    session().expect_end("amqp:precondition-failed",
                         "received transfer on half open management link pair");
}

// amqp10 7.2
TEST_P(Management10, AnswersNeedCredit) {
    attach_pair(session(), 0);
    session().transfer(requests, 0, request("GET", "/queues/q"), true);
    session().expect_end("amqp:precondition-failed",
                         "insufficient credit (0) for management link from RabbitMQ to client");
}

// amqp10 7.2
TEST_P(Management10, ARequestIsSettledAndWhole) {
    PeerSession unsettled = peer10().begin(1);
    attach_pair(unsettled);
    unsettled.transfer(requests, 0, request("GET", "/queues/q"), false);
    unsettled.expect_end("amqp:not-implemented", "a management request must be settled");
    PeerSession parts = peer10().begin(2);
    attach_pair(parts);
    parts.send(Transfer{.handle = requests, .delivery_id = 0, .settled = true, .more = true},
               "half");
    parts.expect_end("amqp:not-implemented", "a management request must fit into one transfer");
}

// amqp10 7.2: renewed at its half.
TEST_P(Management10, CreditForRequestsIsRenewed) {
    attach_pair(session());
    std::string bytes;
    for (std::uint32_t i = 0; i < 3; ++i) {
        session().transfer(requests, i, request("GET", "/queues/q"), true);
        session().expect_message_bytes(bytes);
    }
    session().expect_nothing();
    session().transfer(requests, 3, request("GET", "/queues/q"), true);
    std::size_t renewed = 0;
    for (int i = 0; i < 2; ++i) {
        const Arrival* const arrival = peer10().next(0);
        ASSERT_NE(arrival, nullptr);
        if (arrival->code() != Flow::descriptor_code) continue;
        renewed += 1;
        EXPECT_EQ(Flow::decode(arrival->items())->link_credit, 8U);
    }
    EXPECT_EQ(renewed, 1U);
    depends_on_distance();
}

// amqp10 7.2: far away, answers that are under way hold the credit back.
TEST_P(Management10, TooManyRequestsEndTheSession) {
    depends_on_distance();
    attach_pair(session());
    peer10().hold();
    for (std::uint32_t i = 0; i < 20; ++i) {
        session().transfer(requests, i, request("GET", "/queues/q"), true);
    }
    peer10().release();
    std::size_t answers = 0;
    ErrorText error;
    while (const Arrival* const arrival = peer10().next(0)) {
        if (arrival->code() == Transfer::descriptor_code) answers += 1;
        if (arrival->code() != End::descriptor_code) continue;
        error = error_in(End::decode(arrival->items())->error);
    }
    if (GetParam() == Distance::near) {
        EXPECT_EQ(answers, 20U);
        EXPECT_EQ(error.condition, "");
    } else {
        EXPECT_EQ(error.condition, "amqp:link:transfer-limit-exceeded");
        EXPECT_EQ(error.description, "insufficient credit for requests");
    }
}

// amqp10 7.2: answers that are under way are counted.
TEST_P(Management10, AnswersUnderWayNeedCreditAsWell) {
    depends_on_distance();
    attach_pair(session(), 1);
    peer10().hold();
    for (std::uint32_t i = 0; i < 2; ++i) {
        session().transfer(requests, i, request("GET", "/queues/q"), true);
    }
    peer10().release();
    if (GetParam() == Distance::near) {
        std::string bytes;
        session().expect_message_bytes(bytes);
    }
    session().expect_end("amqp:precondition-failed",
                         "insufficient credit (0) for management link from RabbitMQ to client");
}

// amqp10 7.12: refused permissions end the session.
TEST_P(Management10, WithoutPermissionTheSessionEnds) {
    declare("q");
    add_user("user", {"^mine", "^mine", "^mine"});
    Peer& user = connect10({.user = "user", .password = "secret"});
    std::uint16_t channel = 0;
    const auto refused = [&](std::string_view verb, std::string_view to, const Datum& body,
                             std::string_view what) {
        PeerSession own = user.begin(channel++);
        attach_pair(own);
        own.transfer(requests, 0, request(verb, to, body), true);
        own.expect_end("amqp:unauthorized-access",
                       std::string(what) + " in vhost '/' refused for user 'user'");
    };
    refused("PUT", "/queues/other", Datum::null(), "configure access to queue 'other'");
    refused("DELETE", "/queues/q", Datum::null(), "configure access to queue 'q'");
    refused("DELETE", "/queues/q/messages", Datum::null(), "read access to queue 'q'");
    refused("PUT", "/exchanges/other", Datum::null(), "configure access to exchange 'other'");
    refused("DELETE", "/exchanges/other", Datum::null(), "configure access to exchange 'other'");
    refused("POST", "/bindings", binding("mine.x", "q", "k"), "write access to queue 'q'");
    refused("POST", "/bindings", binding("amq.direct", "mine", "k"),
            "read access to exchange 'amq.direct'");
    refused("DELETE", "/bindings/src=amq.direct;dstq=mine;key=k;args=", Datum::null(),
            "read access to exchange 'amq.direct'");
}

// DL-33, DL-34, DL-39: a dead-letter exchange needs to be written to, the queue to be read.
TEST_P(Management10, ADeadLetterExchangeNeedsPermissions) {
    add_user("user", {".*", "^allowed$", "^q"});
    Peer& user = connect10({.user = "user", .password = "secret"});
    std::uint16_t channel = 0;
    const auto declare_with = [&](std::string_view queue, const Datum& exchange) {
        PeerSession own = user.begin(channel++);
        attach_pair(own);
        own.transfer(requests, 0,
                     request("PUT", "/queues/" + std::string(queue),
                             with_arguments({{Datum::string("x-dead-letter-exchange"), exchange}})),
                     true);
        return own;
    };
    const auto status_of = [](PeerSession& own) {
        std::string bytes;
        own.expect_message_bytes(bytes);
        const auto sections = split_message(bytes);
        return std::string(composite_in<Properties>(sections->properties)->subject.value_or(""));
    };
    PeerSession granted = declare_with("q1", Datum::string("allowed"));
    EXPECT_EQ(status_of(granted), "201");
    PeerSession not_a_name = declare_with("q2", Datum::uint(7));
    EXPECT_EQ(status_of(not_a_name), "409");
    PeerSession unwritten = declare_with("q3", Datum::string("other"));
    unwritten.expect_end("amqp:unauthorized-access",
                         "write access to exchange 'other' in vhost '/' refused for user 'user'");
    PeerSession unread = declare_with("r", Datum::string("other"));
    unread.expect_end("amqp:unauthorized-access",
                      "read access to queue 'r' in vhost '/' refused for user 'user'");
}

// DL-33: other arguments are not looked at.
TEST_P(Management10, WithoutADeadLetterExchangeNothingIsChecked) {
    add_user("user", {".*", "", ""});
    PeerSession own = connect10({.user = "user", .password = "secret"}).begin();
    attach_pair(own);
    std::string bytes;
    for (const Datum& body :
         {Datum::null(), with_arguments({{Datum::string("x-max-length"), Datum::int32(5)}})}) {
        own.transfer(requests, 0,
                     request("PUT", body.is_null() ? "/queues/plain" : "/queues/short", body),
                     true);
        own.expect_message_bytes(bytes);
        const auto sections = split_message(bytes);
        EXPECT_EQ(composite_in<Properties>(sections->properties)->subject, "201");
    }
}

// amqp10 7.13
TEST_P(Management10, ExclusiveQueuesBelongToTheConnection) {
    expect_status("201", "PUT", "/queues/mine",
                  Datum::map({{Datum::string("exclusive"), Datum::boolean(true)}}));
    PeerSession other = connect10().begin();
    other.send_attach_receiver(0, "/queues/mine");
    other.expect<Attach>();
    EXPECT_EQ(error_in(other.expect<Detach>().error).condition, "amqp:resource-locked");
    peer10().close();
    EXPECT_FALSE(channel().exists("mine"));
}

// Another's exclusive queue is told of, and the pair stays.
TEST_P(Management10, AnothersExclusiveQueueIsNotTouched) {
    channel().send(amqp091::QueueDeclare{.queue = "mine", .exclusive = true});
    channel().expect<amqp091::QueueDeclareOk>();
    expect_status("400", "DELETE", "/queues/mine");
    expect_status("400", "DELETE", "/queues/mine/messages");
    declare("q");
    expect_status("200", "GET", "/queues/q");
}

}  // namespace
}  // namespace revenant::amqp10
