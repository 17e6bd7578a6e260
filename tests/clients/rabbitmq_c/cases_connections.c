// Connections: their properties, channels, heartbeats and refused logins.

#include "cases.h"
#include "peer.h"

#include <stdio.h>

#include <sys/time.h>

static void connection_properties(void) {
    const amqp_table_t* properties = amqp_get_server_properties(connection);
    CHECK(has_text(properties, "product", "RabbitMQ"));
    int major, minor, patch;
    const amqp_bytes_t version = find(properties, "version")->value.bytes;
    char version_text[64];
    snprintf(version_text, sizeof version_text, "%.*s", (int)version.len, (char*)version.bytes);
    CHECK(sscanf(version_text, "%d.%d.%d", &major, &minor, &patch) == 3);
    const amqp_field_value_t* capabilities = find(properties, "capabilities");
    CHECK(capabilities->kind == AMQP_FIELD_KIND_TABLE);
    const char* names[] = {"publisher_confirms", "basic.nack", "consumer_cancel_notify",
                           "exchange_exchange_bindings", "authentication_failure_close"};
    for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
        const amqp_field_value_t* value = find(&capabilities->value.table, names[index]);
        CHECK(value->kind == AMQP_FIELD_KIND_BOOLEAN && value->value.boolean);
    }
    CHECK(amqp_get_frame_max(connection) == 131072);
    CHECK(amqp_get_channel_max(connection) == 2047);
}

static void closed_channel_can_be_reopened(void) {
    amqp_queue_declare(connection, 1, text(name_of("missing")), 1, 0, 0, 0, amqp_empty_table);
    expect_close(1, 404, "no queue");
    open_channel(1);
    check_bodies(declare_queue("queue", amqp_empty_table), "");
}

static void many_channels(void) {
    const char* queue = declare_queue("queue", amqp_empty_table);
    char body[16];
    for (int channel = 2; channel < 202; channel++) {
        open_channel((amqp_channel_t)channel);
        select_confirms((amqp_channel_t)channel);
    }
    for (int channel = 2; channel < 202; channel++) {
        snprintf(body, sizeof body, "%d", channel);
        CHECK(publish_with((amqp_channel_t)channel, "", queue, text(body), NULL));
    }
    for (int channel = 2; channel < 202; channel++) {
        amqp_message_t message;
        amqp_basic_get_ok_t got;
        snprintf(body, sizeof body, "%d", channel);
        CHECK(get((amqp_channel_t)channel, queue, true, &message, &got));
        CHECK(same(message.body, body));
        amqp_destroy_message(&message);
        require_ok(amqp_channel_close(connection, (amqp_channel_t)channel, AMQP_REPLY_SUCCESS));
    }
}

static void heartbeat_keeps_idle_connection(void) {
    disconnect(connection);
    require_ok(connect_with(&connection, "/", "guest", 1));
    CHECK(amqp_get_heartbeat(connection) == 1);
    // Waiting for a frame sends and checks heartbeats; a silent broker causes another status.
    amqp_frame_t frame;
    struct timeval timeout = {3, 500000};
    CHECK(amqp_simple_wait_frame_noblock(connection, &frame, &timeout) == AMQP_STATUS_TIMEOUT);
    check_usable();
}

// Opening such a connection is refused by a connection.close with this code and text.
static void expect_refused(const char* vhost, const char* password, int code, const char* reason) {
    amqp_connection_state_t refused;
    amqp_rpc_reply_t reply = connect_with(&refused, vhost, password, 0);
    CHECK(reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION);
    CHECK(reply.reply.id == AMQP_CONNECTION_CLOSE_METHOD);
    const amqp_connection_close_t* close = reply.reply.decoded;
    CHECK(close->reply_code == code);
    CHECK(contains(close->reply_text, reason));
    amqp_destroy_connection(refused);
}

static void wrong_password_403(void) {
    expect_refused("/", "wrong", 403, "Login was refused using authentication mechanism PLAIN");
}

static void unknown_vhost_530(void) {
    expect_refused("no-such-vhost", "guest", 530, "vhost no-such-vhost not found");
}

static const struct test_case cases[] = {
    CASE(connection_properties), CASE(closed_channel_can_be_reopened),
    CASE(many_channels),         CASE(heartbeat_keeps_idle_connection),
    CASE(wrong_password_403),    CASE(unknown_vhost_530),
};

const struct case_group connection_cases = GROUP(cases);
