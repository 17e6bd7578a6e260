// Requests to /management (amqp10, section 7).
#include "tests/support/management10.h"

namespace revenant::amqp10 {
namespace {

using namespace std::string_literals;

class Management10 : public ManagementTest {};
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

// amqp10 7.5: absent properties have defaults.
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
    expect_refusal("400", "bad queue property {{utf8,<<\"colour\">>},{utf8,<<\"red\">>}}", "PUT",
                   "/queues/q", Datum::map({{Datum::string("colour"), Datum::string("red")}}));
    expect_refusal("400", "bad queue property {{utf8,<<\"durable\">>},{utf8,<<\"yes\">>}}", "PUT",
                   "/queues/q", Datum::map({{Datum::string("durable"), Datum::string("yes")}}));
    expect_refusal("400", "bad queue property {{uint,1},true}", "PUT", "/queues/q",
                   Datum::map({{Datum::uint(1), Datum::boolean(true)}}));
    expect_refusal("400", "the body is not a map", "PUT", "/queues/q", Datum::string("text"));
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
    expect_refusal("400", "bad exchange property {{utf8,<<\"colour\">>},{utf8,<<\"red\">>}}", "PUT",
                   "/exchanges/e", Datum::map({{Datum::string("colour"), Datum::string("red")}}));
    const Answer type =
        ask("PUT", "/exchanges/e", Datum::map({{Datum::string("type"), Datum::string("odd")}}));
    EXPECT_EQ(type.status, "400") << type.body;
    expect_status("403", "PUT", "/exchanges/amq.mine");
    expect_status("403", "PUT", "/exchanges/");
    expect_status("403", "DELETE", "/exchanges/");
    expect_status("403", "DELETE", "/exchanges/amq.direct");
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

// amqp10 7.10: a binding with arguments is addressed by its location.
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

// Clients store locations, so they must equal RabbitMQ's.
TEST_P(Management10, ALocationIsThatOfRabbitmq) {
    declare("q");
    expect_status("204", "POST", "/bindings",
                  binding("amq.headers", "q", "",
                          {{Datum::string("x-match"), Datum::string("any")},
                           {Datum::string("a"), Datum::boolean(true)},
                           {Datum::string("n"), Datum::long_int(5)}}));
    const std::string list = ask("GET", "/bindings?src=amq.headers&dstq=q&key=").body;
    EXPECT_NE(list.find("'/bindings/src=amq.headers;dstq=q;key=;args=pfXicA'"), std::string::npos)
        << list;
}

// amqp10 7.9, 7.10: bindings between exchanges.
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
    const std::string needs = "a binding needs a source, a key and one destination";
    expect_refusal("400", needs, "POST", "/bindings");
    expect_refusal("400", needs, "POST", "/bindings",
                   Datum::map({{Datum::string("source"), Datum::string("amq.direct")}}));
    expect_refusal("400", "bad binding field {{utf8,<<\"colour\">>},{utf8,<<\"red\">>}}", "POST",
                   "/bindings", Datum::map({{Datum::string("colour"), Datum::string("red")}}));
    expect_refusal("400",
                   "missing 'dste' or 'dstq' in query: #{<<\"key\">> => <<\"k\">>,<<\"src\">> => "
                   "<<\"amq.direct\">>}",
                   "GET", "/bindings?src=amq.direct&key=k");
    for (const std::string segment : {"src=amq.direct", "src=amq.direct;key=k;args=", "nothing",
                                      "src=;dstq=q;key=q;args=", "src=amq.direct;dstq=q;key=k"}) {
        expect_refusal("400", "bad binding path segment '" + segment + "'", "DELETE",
                       "/bindings/" + segment);
    }
    const std::string default_exchange = "operation not permitted on the default exchange";
    expect_refusal("403", default_exchange, "POST", "/bindings", binding("", "q", "q"));
    expect_refusal("403", default_exchange, "GET", "/bindings?src=&dstq=q&key=q");
    expect_refusal("400", needs, "GET", "/bindings?src=amq.direct&dstq=q&dste=e&key=k");
    expect_refusal("400", "no queue 'none' in vhost '/'", "POST", "/bindings",
                   binding("amq.direct", "none", "k"));
    expect_refusal("400", "no exchange 'none' in vhost '/'", "POST", "/bindings",
                   binding("none", "q", "k"));
}

// amqp10 4.2, 7.4: names that do not fit in AMQP 0-9-1 are invalid.
TEST_P(Management10, NamesFitIntoShortStrings) {
    const std::string longest(255, 'n');
    const std::string too_long(256, 'n');
    const std::string why = "name is longer than 255 bytes";
    expect_status("201", "PUT", "/queues/" + longest);
    expect_refusal("400", why, "PUT", "/queues/" + too_long);
    expect_refusal("400", why, "PUT", "/exchanges/" + too_long);
    expect_refusal("400", why, "GET", "/bindings?src=amq.direct&dstq=q&key=" + too_long);
    const Answer field = ask("POST", "/bindings", binding("amq.direct", longest, too_long));
    EXPECT_EQ(field.status, "400");
    EXPECT_TRUE(field.body.starts_with("'bad binding field {{utf8,<<\"binding_key\">>},{utf8,<<"))
        << field.body;
    expect_refusal("400", "name is not UTF-8", "PUT", "/queues/%FF%FE");
}

// amqp10 7.4
TEST_P(Management10, ABadUriIsRefused) {
    expect_refusal("400", "bad URI: queues", "GET", "queues");
    expect_refusal("400", "invalid percent-encoding in '%zz'", "GET", "/queues/%zz");
    expect_refusal("400", "bad URI: src", "GET", "/bindings?src");
    expect_status("404", "GET", "/");
    expect_refusal("404", "no such resource: GET /nothing", "GET", "/nothing/at/all");
    expect_refusal("404", "no such resource: POST /queues", "POST", "/queues/q");
    expect_refusal("404", "no such resource:  /queues", "", "/queues/q");
    expect_refusal("404", "no such resource: DELETE /queues", "DELETE", "/queues/q/other");
}

// A malformed request gets a response.
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

// Requests are answered in order, even if they arrive together.
TEST_P(Management10, ManyRequestsAreAnsweredInOrder) {
    depends_on_distance();  // more credit arrives between the responses
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

// amqp10 3.3, 7.2: a client sends requests continuously with a closed window.
TEST_P(Management10, AnswersThatWaitForTheWindowHoldRequestsBack) {
    depends_on_distance();
    const std::string name(200, 'q');
    declare(name);
    PeerSession shut = peer10().begin(5, 1);
    attach_pair(shut, 0);
    shut.credit_behind_closed_window(responses, 1'000'000);
    // Each response repeats the arguments: 60 kB.
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
        while (peer10().next(5) != nullptr) credit = 8;  // only credit can arrive
    }
    EXPECT_LT(sent, 60U) << "about 1 MB of responses, plus the credit granted before";
    EXPECT_EQ(credit, 0U);
    shut.send(Flow{.next_incoming_id = 0, .incoming_window = 100'000});
    peer10().ignore_rest();
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

// Another connection's exclusive queue is refused, and the link pair stays attached.
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
