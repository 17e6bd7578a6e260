// Consumers: prefetch, get, requeueing, cancellation and direct reply-to.

#include "cases.h"
#include "peer.h"

static void consume_with_prefetch(void) {
    enum { count = 20, prefetch = 3 };
    const char* queue = declare_queue("queue", amqp_empty_table);
    select_confirms(1);
    for (int index = 0; index < count; index++) publish("", queue, "x");
    open_channel(2);
    amqp_basic_qos(connection, 2, 0, prefetch, 0);
    require_last_ok();
    consume(2, queue, "worker", false);
    for (int received = 0, acked = 0; received < count; acked++) {
        while (received < acked + prefetch && received < count) {
            amqp_envelope_t envelope = next_delivery();
            CHECK(envelope.delivery_tag == (uint64_t)++received);
            amqp_destroy_envelope(&envelope);
        }
        // The prefetch limit is reached, so the other messages must still be in the queue.
        CHECK(ready_count(1, queue) == (uint32_t)(count - received));
        CHECK(!amqp_frames_enqueued(connection));
        CHECK(amqp_basic_ack(connection, 2, (uint64_t)acked + 1, 0) == AMQP_STATUS_OK);
    }
    CHECK(amqp_basic_ack(connection, 2, count, 1) == AMQP_STATUS_OK);
    require_ok(amqp_channel_close(connection, 2, AMQP_REPLY_SUCCESS));
    CHECK(ready_count(1, queue) == 0);
}

static void get_and_empty_get(void) {
    const char* queue = declare_queue("queue", amqp_empty_table);
    amqp_message_t message;
    amqp_basic_get_ok_t got;
    CHECK(!get(1, queue, false, &message, &got));
    select_confirms(1);
    publish("", queue, "first");
    publish("", queue, "second");
    CHECK(get(1, queue, false, &message, &got));
    CHECK(same(message.body, "first") && got.message_count == 1 && !got.redelivered);
    amqp_destroy_message(&message);
    CHECK(amqp_basic_ack(connection, 1, got.delivery_tag, 0) == AMQP_STATUS_OK);
    check_bodies(queue, "second");
}

static void nack_requeues(void) {
    const char* queue = declare_queue("queue", amqp_empty_table);
    amqp_message_t message;
    amqp_basic_get_ok_t got;
    select_confirms(1);
    publish("", queue, "again");
    CHECK(get(1, queue, false, &message, &got) && !got.redelivered);
    amqp_destroy_message(&message);
    CHECK(amqp_basic_nack(connection, 1, got.delivery_tag, 0, 1) == AMQP_STATUS_OK);
    amqp_envelope_t envelope = next_message(queue);
    CHECK(envelope.redelivered && same(envelope.message.body, "again"));
    amqp_destroy_envelope(&envelope);
}

static void client_cancels_consumer(void) {
    const char* queue = declare_queue("queue", amqp_empty_table);
    consume(1, queue, "worker", false);
    amqp_queue_declare_ok_t* ok =
        amqp_queue_declare(connection, 1, text(queue), 1, 0, 0, 0, amqp_empty_table);
    CHECK(ok != NULL && ok->consumer_count == 1);
    amqp_basic_cancel_ok_t* cancel_ok = amqp_basic_cancel(connection, 1, text("worker"));
    CHECK(cancel_ok != NULL && same(cancel_ok->consumer_tag, "worker"));
    ok = amqp_queue_declare(connection, 1, text(queue), 1, 0, 0, 0, amqp_empty_table);
    CHECK(ok != NULL && ok->consumer_count == 0);
}

static void broker_cancels_consumer(void) {
    const char* queue = declare_queue("queue", amqp_empty_table);
    consume(1, queue, "doomed", false);
    open_channel(2);
    amqp_queue_delete(connection, 2, text(queue), 0, 0);
    require_last_ok();
    amqp_frame_t frame = wait_for_frame("the cancel");
    CHECK(frame.channel == 1 && frame.payload.method.id == AMQP_BASIC_CANCEL_METHOD);
    const amqp_basic_cancel_t* cancel = frame.payload.method.decoded;
    CHECK(same(cancel->consumer_tag, "doomed"));
    check_usable();
}

static void direct_reply_to(void) {
    const char* queue = declare_queue("queue", amqp_empty_table);
    open_channel(2);
    consume(2, "amq.rabbitmq.reply-to", "replies", true);
    amqp_basic_properties_t properties = {
        ._flags = AMQP_BASIC_REPLY_TO_FLAG | AMQP_BASIC_CORRELATION_ID_FLAG,
        .reply_to = text("amq.rabbitmq.reply-to"),
        .correlation_id = text("call-1")};
    CHECK(amqp_basic_publish(connection, 2, text(""), text(queue), 0, 0, &properties,
                             text("ping")) == AMQP_STATUS_OK);
    amqp_envelope_t request = next_message(queue);
    properties._flags = AMQP_BASIC_CORRELATION_ID_FLAG;
    properties.correlation_id = request.message.properties.correlation_id;
    CHECK(amqp_basic_publish(connection, 1, text(""), request.message.properties.reply_to, 0, 0,
                             &properties, text("pong")) == AMQP_STATUS_OK);
    amqp_envelope_t reply = next_delivery();
    CHECK(reply.channel == 2 && same(reply.message.body, "pong"));
    CHECK(same(reply.message.properties.correlation_id, "call-1"));
    amqp_destroy_envelope(&request);
    amqp_destroy_envelope(&reply);
}

static const struct test_case cases[] = {
    CASE(consume_with_prefetch),   CASE(get_and_empty_get),       CASE(nack_requeues),
    CASE(client_cancels_consumer), CASE(broker_cancels_consumer), CASE(direct_reply_to),
};

const struct case_group consumer_cases = GROUP(cases);
