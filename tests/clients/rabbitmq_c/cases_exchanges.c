// Exchanges: bindings of every type, alternate exchanges, CC and BCC.

#include "cases.h"
#include "peer.h"

static void bind_direct(void) {
    const char* exchange = declare_exchange("exchange", "direct", amqp_empty_table);
    const char* queue = declare_queue("queue", amqp_empty_table);
    bind_queue(queue, exchange, "wanted", amqp_empty_table);
    select_confirms(1);
    publish(exchange, "other", "1");
    publish(exchange, "wanted", "2");
    amqp_envelope_t envelope = next_message(queue);
    CHECK(same(envelope.exchange, exchange));
    CHECK(same(envelope.routing_key, "wanted"));
    CHECK(same(envelope.message.body, "2"));
    amqp_destroy_envelope(&envelope);
}

static void bind_topic(void) {
    const char* exchange = declare_exchange("exchange", "topic", amqp_empty_table);
    const char* one_word = declare_queue("one_word", amqp_empty_table);
    const char* any_words = declare_queue("any_words", amqp_empty_table);
    bind_queue(one_word, exchange, "order.*.paid", amqp_empty_table);
    bind_queue(any_words, exchange, "order.#", amqp_empty_table);
    select_confirms(1);
    publish(exchange, "order.eu.paid", "1");
    publish(exchange, "order.eu.north.paid", "2");
    publish(exchange, "order", "3");
    publish(exchange, "invoice.eu.paid", "4");
    check_bodies(one_word, "1");
    check_bodies(any_words, "1 2 3");
}

static void bind_fanout(void) {
    const char* exchange = declare_exchange("exchange", "fanout", amqp_empty_table);
    const char* first = declare_queue("copy_1", amqp_empty_table);
    const char* second = declare_queue("copy_2", amqp_empty_table);
    bind_queue(first, exchange, "", amqp_empty_table);
    bind_queue(second, exchange, "", amqp_empty_table);
    select_confirms(1);
    publish(exchange, "ignored", "news");
    check_bodies(first, "news");
    check_bodies(second, "news");
}

static void bind_headers(void) {
    const char* exchange = declare_exchange("exchange", "headers", amqp_empty_table);
    const char* both = declare_queue("both", amqp_empty_table);
    const char* either = declare_queue("either", amqp_empty_table);
    bind_queue(
        both, exchange, "",
        TABLE(text_entry("x-match", "all"), text_entry("kind", "pdf"), number_entry("pages", 2)));
    bind_queue(
        either, exchange, "",
        TABLE(text_entry("x-match", "any"), text_entry("kind", "pdf"), number_entry("pages", 2)));
    select_confirms(1);
    amqp_basic_properties_t properties = {._flags = AMQP_BASIC_HEADERS_FLAG};
    properties.headers = TABLE(text_entry("kind", "pdf"), number_entry("pages", 2));
    CHECK(publish_with(1, exchange, "", text("1"), &properties));
    properties.headers = TABLE(text_entry("kind", "pdf"));
    CHECK(publish_with(1, exchange, "", text("2"), &properties));
    properties.headers = TABLE(text_entry("kind", "txt"));
    CHECK(publish_with(1, exchange, "", text("3"), &properties));
    check_bodies(both, "1");
    check_bodies(either, "1 2");
}

static void bind_exchange_to_exchange(void) {
    const char* source = declare_exchange("source", "topic", amqp_empty_table);
    const char* destination = declare_exchange("destination", "fanout", amqp_empty_table);
    const char* queue = declare_queue("queue", amqp_empty_table);
    amqp_exchange_bind(connection, 1, text(destination), text(source), text("a.#"),
                       amqp_empty_table);
    require_last_ok();
    bind_queue(queue, destination, "", amqp_empty_table);
    select_confirms(1);
    publish(source, "a.b", "through");
    amqp_exchange_unbind(connection, 1, text(destination), text(source), text("a.#"),
                         amqp_empty_table);
    require_last_ok();
    publish(source, "a.b", "cut-off");
    check_bodies(queue, "through");
}

static const struct test_case cases[] = {
    CASE(bind_direct),
    CASE(bind_topic),
    CASE(bind_fanout),
    CASE(bind_headers),
    CASE(bind_exchange_to_exchange),
};

const struct case_group exchange_cases = GROUP(cases);
