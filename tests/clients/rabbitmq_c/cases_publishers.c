// Publishers: confirms, returns and transactions.

#include "cases.h"
#include "peer.h"

#include <stdio.h>
#include <string.h>

static void confirms_one_by_one(void) {
    const char* queue = declare_queue("queue", amqp_empty_table);
    amqp_basic_properties_t properties = {._flags = AMQP_BASIC_DELIVERY_MODE_FLAG};
    properties.delivery_mode = AMQP_DELIVERY_PERSISTENT;
    select_confirms(1);
    for (int index = 0; index < 100; index++) {
        char body[16];
        snprintf(body, sizeof body, "%d", index);
        CHECK(publish_with(1, "", queue, text(body), &properties));
    }
    CHECK(ready_count(1, queue) == 100);
}

static void confirms_of_a_burst(void) {
    enum { count = 5000 };
    const char* queue = declare_queue("queue", amqp_empty_table);
    select_confirms(1);
    for (int index = 0; index < count; index++) {
        char body[16];
        snprintf(body, sizeof body, "%d", index);
        CHECK(amqp_basic_publish(connection, 1, text(""), text(queue), 0, 0, NULL, text(body)) ==
              AMQP_STATUS_OK);
    }
    static bool confirmed[count + 1];
    memset(confirmed, 0, sizeof confirmed);
    for (int confirmed_count = 0; confirmed_count < count;) {
        amqp_frame_t frame = wait_for_frame("a confirm");
        CHECK(frame.payload.method.id == AMQP_BASIC_ACK_METHOD);
        const amqp_basic_ack_t ack = *(amqp_basic_ack_t*)frame.payload.method.decoded;
        CHECK(ack.delivery_tag >= 1 && ack.delivery_tag <= count);
        for (uint64_t tag = ack.multiple ? 1 : ack.delivery_tag; tag <= ack.delivery_tag; tag++) {
            confirmed_count += !confirmed[tag];
            confirmed[tag] = true;
        }
        amqp_maybe_release_buffers(connection);
    }
    CHECK(ready_count(1, queue) == count);
    consume(1, queue, "all", true);
    for (int index = 0; index < count; index++) {
        char body[16];
        snprintf(body, sizeof body, "%d", index);
        amqp_envelope_t envelope = next_delivery();
        CHECK(same(envelope.message.body, body));
        amqp_destroy_envelope(&envelope);
    }
}

static void reject_publish_is_nacked(void) {
    const char* queue = declare_queue("queue", TABLE(number_entry("x-max-length", 1),
                                                     text_entry("x-overflow", "reject-publish")));
    select_confirms(1);
    publish("", queue, "fits");
    CHECK(!publish_with(1, "", queue, text("does not fit"), NULL));
    check_bodies(queue, "fits");
}

static void mandatory_return(void) {
    select_confirms(1);
    last_return[0] = '\0';
    CHECK(publish_with(1, "amq.direct", name_of("nobody"), text("lost"), NULL));
    CHECK(strcmp(last_return, "312 NO_ROUTE amq.direct lost") == 0);
}

static void transaction_commit(void) {
    const char* queue = declare_queue("queue", amqp_empty_table);
    open_channel(2);
    amqp_tx_select(connection, 2);
    require_last_ok();
    for (int index = 0; index < 2; index++) {
        CHECK(amqp_basic_publish(connection, 2, text(""), text(queue), 0, 0, NULL,
                                 text(index == 0 ? "1" : "2")) == AMQP_STATUS_OK);
    }
    CHECK(ready_count(2, queue) == 0);
    amqp_tx_commit(connection, 2);
    require_last_ok();
    check_bodies(queue, "1 2");
}

static void transaction_rollback(void) {
    const char* queue = declare_queue("queue", amqp_empty_table);
    select_confirms(1);
    publish("", queue, "kept");
    open_channel(2);
    amqp_tx_select(connection, 2);
    require_last_ok();
    CHECK(amqp_basic_publish(connection, 2, text(""), text(queue), 0, 0, NULL, text("discarded")) ==
          AMQP_STATUS_OK);
    amqp_message_t message;
    amqp_basic_get_ok_t got;
    CHECK(get(2, queue, false, &message, &got));
    amqp_destroy_message(&message);
    CHECK(amqp_basic_ack(connection, 2, got.delivery_tag, 0) == AMQP_STATUS_OK);
    amqp_tx_rollback(connection, 2);
    require_last_ok();
    require_ok(amqp_channel_close(connection, 2, AMQP_REPLY_SUCCESS));
    check_bodies(queue, "kept");
}

static const struct test_case cases[] = {
    CASE(confirms_one_by_one), CASE(confirms_of_a_burst), CASE(reject_publish_is_nacked),
    CASE(mandatory_return),    CASE(transaction_commit),  CASE(transaction_rollback),
};

const struct case_group publisher_cases = GROUP(cases);
