// Dead letters: rejected, expired and over the length limit, with their x-death header.

#include "cases.h"
#include "peer.h"

static void reject_dead_letters(void) {
    const char* dead_letter_exchange = declare_exchange("dlx", "fanout", amqp_empty_table);
    const char* dead = declare_queue("dead", amqp_empty_table);
    bind_queue(dead, dead_letter_exchange, "", amqp_empty_table);
    const char* exchange = declare_exchange("exchange", "direct", amqp_empty_table);
    const char* queue =
        declare_queue("queue", TABLE(text_entry("x-dead-letter-exchange", dead_letter_exchange)));
    bind_queue(queue, exchange, "work", amqp_empty_table);
    select_confirms(1);
    amqp_basic_properties_t properties = {._flags = AMQP_BASIC_HEADERS_FLAG};
    properties.headers = TABLE(text_entry("tenant", "blue"));
    CHECK(publish_with(1, exchange, "work", text("poison"), &properties));
    amqp_message_t message;
    amqp_basic_get_ok_t got;
    CHECK(get(1, queue, false, &message, &got));
    amqp_destroy_message(&message);
    CHECK(amqp_basic_reject(connection, 1, got.delivery_tag, 0) == AMQP_STATUS_OK);
    amqp_envelope_t envelope = next_message(dead);
    CHECK(same(envelope.exchange, dead_letter_exchange) && same(envelope.routing_key, "work"));
    CHECK(same(envelope.message.body, "poison"));
    CHECK(has_text(&envelope.message.properties.headers, "tenant", "blue"));
    check_death(&envelope, queue, "rejected", exchange, "work");
    amqp_destroy_envelope(&envelope);
}

static void expired_message_dead_letters(void) {
    const char* dead = declare_queue("dead", amqp_empty_table);
    const char* queue =
        declare_queue("queue", TABLE(text_entry("x-dead-letter-exchange", ""),
                                     text_entry("x-dead-letter-routing-key", dead)));
    select_confirms(1);
    amqp_basic_properties_t properties = {._flags = AMQP_BASIC_EXPIRATION_FLAG};
    properties.expiration = text("50");
    CHECK(publish_with(1, "", queue, text("late"), &properties));
    amqp_envelope_t envelope = next_message(dead);
    CHECK(
        has_text(check_death(&envelope, queue, "expired", "", queue), "original-expiration", "50"));
    CHECK(!(envelope.message.properties._flags & AMQP_BASIC_EXPIRATION_FLAG));
    amqp_destroy_envelope(&envelope);
}

static void overflow_dead_letters(void) {
    const char* dead = declare_queue("dead", amqp_empty_table);
    const char* queue = declare_queue(
        "queue", TABLE(number_entry("x-max-length", 2), text_entry("x-dead-letter-exchange", ""),
                       text_entry("x-dead-letter-routing-key", dead)));
    select_confirms(1);
    publish("", queue, "1");
    publish("", queue, "2");
    publish("", queue, "3");
    amqp_envelope_t envelope = next_message(dead);
    CHECK(same(envelope.message.body, "1"));
    check_death(&envelope, queue, "maxlen", "", queue);
    amqp_destroy_envelope(&envelope);
    check_bodies(queue, "2 3");
}

static const struct test_case cases[] = {
    CASE(reject_dead_letters),
    CASE(expired_message_dead_letters),
    CASE(overflow_dead_letters),
};

const struct case_group dead_letter_cases = GROUP(cases);
