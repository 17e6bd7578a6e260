#include "peer.h"

#include <amqp_tcp_socket.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sys/time.h>

const char* host;
int port;
amqp_connection_state_t connection;
jmp_buf case_failed;
char failure[1024];
static char created_queues[16][name_bytes_max];
static int created_queue_count;
static char created_exchanges[16][name_bytes_max];
static int created_exchange_count;
char last_return[256];

void fail(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(failure, sizeof failure, format, arguments);
    va_end(arguments);
    longjmp(case_failed, 1);
}

amqp_bytes_t text(const char* value) { return amqp_cstring_bytes(value); }

bool same(amqp_bytes_t bytes, const char* expected) {
    return bytes.len == strlen(expected) && memcmp(bytes.bytes, expected, bytes.len) == 0;
}

bool contains(amqp_bytes_t bytes, const char* part) {
    return memmem(bytes.bytes, bytes.len, part, strlen(part)) != NULL;
}

const char* name_of(const char* suffix) {
    static char names[8][name_bytes_max];
    static unsigned next;
    char* name = names[next++ % 8];
    snprintf(name, name_bytes_max, "clients.rabbitmq_c.%s", suffix);
    return name;
}

amqp_table_entry_t text_entry(const char* key, const char* value) {
    return (amqp_table_entry_t){text(key), {AMQP_FIELD_KIND_UTF8, {.bytes = text(value)}}};
}

amqp_table_entry_t number_entry(const char* key, int32_t value) {
    return (amqp_table_entry_t){text(key), {AMQP_FIELD_KIND_I32, {.i32 = value}}};
}

const amqp_field_value_t* find(const amqp_table_t* table, const char* key) {
    for (int index = 0; index < table->num_entries; index++) {
        if (same(table->entries[index].key, key)) return &table->entries[index].value;
    }
    fail("no field %s", key);
}

bool has_text(const amqp_table_t* table, const char* key, const char* expected) {
    const amqp_field_value_t* value = find(table, key);
    return value->kind == AMQP_FIELD_KIND_UTF8 && same(value->value.bytes, expected);
}

void require_ok(amqp_rpc_reply_t reply) {
    if (reply.reply_type == AMQP_RESPONSE_NORMAL) return;
    if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION) {
        fail("%s", amqp_error_string2(reply.library_error));
    }
    if (reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD) {
        const amqp_channel_close_t* close = reply.reply.decoded;
        fail("channel closed: %d %.*s", close->reply_code, (int)close->reply_text.len,
             (const char*)close->reply_text.bytes);
    }
    fail("no normal reply");
}

void require_last_ok(void) { require_ok(amqp_get_rpc_reply(connection)); }

void check_channel_close(amqp_channel_t channel, const amqp_method_t* method, int code,
                         const char* reply_text) {
    CHECK(method->id == AMQP_CHANNEL_CLOSE_METHOD);
    const amqp_channel_close_t* close = method->decoded;
    if (close->reply_code != code || !contains(close->reply_text, reply_text)) {
        fail("closed with %d %.*s", close->reply_code, (int)close->reply_text.len,
             (const char*)close->reply_text.bytes);
    }
    amqp_channel_close_ok_t close_ok = {0};
    CHECK(amqp_send_method(connection, channel, AMQP_CHANNEL_CLOSE_OK_METHOD, &close_ok) == 0);
}

void expect_close(amqp_channel_t channel, int code, const char* reply_text) {
    amqp_rpc_reply_t reply = amqp_get_rpc_reply(connection);
    if (reply.reply_type != AMQP_RESPONSE_SERVER_EXCEPTION) fail("no channel close %d", code);
    check_channel_close(channel, &reply.reply, code, reply_text);
}

amqp_rpc_reply_t connect_with(amqp_connection_state_t* state, const char* vhost,
                              const char* password, int heartbeat) {
    *state = amqp_new_connection();
    amqp_socket_t* socket = amqp_tcp_socket_new(*state);
    CHECK(socket != NULL);
    CHECK(amqp_socket_open(socket, host, port) == AMQP_STATUS_OK);
    // The library does not announce the capability consumer_cancel_notify by default.
    amqp_table_t capabilities =
        TABLE({text("consumer_cancel_notify"), {AMQP_FIELD_KIND_BOOLEAN, {.boolean = 1}}});
    amqp_table_t properties =
        TABLE({text("capabilities"), {AMQP_FIELD_KIND_TABLE, {.table = capabilities}}});
    return amqp_login_with_properties(*state, vhost, 0, AMQP_DEFAULT_FRAME_SIZE, heartbeat,
                                      &properties, AMQP_SASL_METHOD_PLAIN, "guest", password);
}

amqp_connection_state_t connect_to_broker(void) {
    amqp_connection_state_t state;
    require_ok(connect_with(&state, "/", "guest", 0));
    CHECK(amqp_set_rpc_timeout(state, &(struct timeval){patience_seconds, 0}) == AMQP_STATUS_OK);
    return state;
}

void disconnect(amqp_connection_state_t state) {
    amqp_connection_close(state, AMQP_REPLY_SUCCESS);
    amqp_destroy_connection(state);
}

void open_channel(amqp_channel_t channel) {
    amqp_channel_open(connection, channel);
    require_last_ok();
}

const char* declare_queue(const char* suffix, amqp_table_t arguments) {
    const char* name = name_of(suffix);
    strcpy(created_queues[created_queue_count++], name);
    amqp_queue_delete(connection, 1, text(name), 0, 0);  // An interrupted run may have left it.
    require_last_ok();
    amqp_queue_declare(connection, 1, text(name), 0, 1, 0, 0, arguments);
    require_last_ok();
    return name;
}

const char* declare_exchange(const char* suffix, const char* type, amqp_table_t arguments) {
    const char* name = name_of(suffix);
    strcpy(created_exchanges[created_exchange_count++], name);
    amqp_exchange_delete(connection, 1, text(name), 0);
    require_last_ok();
    amqp_exchange_declare(connection, 1, text(name), text(type), 0, 1, 0, 0, arguments);
    require_last_ok();
    return name;
}

void bind_queue(const char* queue, const char* exchange, const char* key, amqp_table_t arguments) {
    amqp_queue_bind(connection, 1, text(queue), text(exchange), text(key), arguments);
    require_last_ok();
}

void select_confirms(amqp_channel_t channel) {
    amqp_confirm_select(connection, channel);
    require_last_ok();
}

amqp_frame_t wait_for_frame(const char* what) {
    amqp_frame_t frame;
    struct timeval timeout = {patience_seconds, 0};
    int status = amqp_simple_wait_frame_noblock(connection, &frame, &timeout);
    if (status != AMQP_STATUS_OK) fail("waiting for %s: %s", what, amqp_error_string2(status));
    if (frame.frame_type != AMQP_FRAME_METHOD) fail("waiting for %s: no method", what);
    return frame;
}

// Waits for the confirm of one message, taking in a basic.return that comes before it.
static bool wait_for_confirm(void) {
    for (;;) {
        amqp_frame_t frame = wait_for_frame("a confirm");
        switch (frame.payload.method.id) {
            case AMQP_BASIC_ACK_METHOD:
                return true;
            case AMQP_BASIC_NACK_METHOD:
                return false;
            case AMQP_BASIC_RETURN_METHOD: {
                const amqp_basic_return_t* returned = frame.payload.method.decoded;
                amqp_message_t message;
                require_ok(amqp_read_message(connection, frame.channel, &message, 0));
                snprintf(last_return, sizeof last_return, "%d %.*s %.*s %.*s", returned->reply_code,
                         (int)returned->reply_text.len, (char*)returned->reply_text.bytes,
                         (int)returned->exchange.len, (char*)returned->exchange.bytes,
                         (int)message.body.len, (char*)message.body.bytes);
                amqp_destroy_message(&message);
                break;
            }
            default:
                fail("unexpected %s", amqp_method_name(frame.payload.method.id));
        }
    }
}

bool publish_with(amqp_channel_t channel, const char* exchange, const char* key, amqp_bytes_t body,
                  const amqp_basic_properties_t* properties) {
    CHECK(amqp_basic_publish(connection, channel, text(exchange), text(key), 1, 0, properties,
                             body) == AMQP_STATUS_OK);
    bool acked = wait_for_confirm();
    amqp_maybe_release_buffers(connection);
    return acked;
}

void publish(const char* exchange, const char* key, const char* body) {
    CHECK(publish_with(1, exchange, key, text(body), NULL));
}

bool get(amqp_channel_t channel, const char* queue, bool no_ack, amqp_message_t* message,
         amqp_basic_get_ok_t* got) {
    amqp_rpc_reply_t reply = amqp_basic_get(connection, channel, text(queue), no_ack);
    require_ok(reply);
    if (reply.reply.id == AMQP_BASIC_GET_EMPTY_METHOD) return false;
    *got = *(amqp_basic_get_ok_t*)reply.reply.decoded;
    require_ok(amqp_read_message(connection, channel, message, 0));
    return true;
}

// The bodies of all messages in the queue, separated by spaces.
static const char* bodies_in(amqp_channel_t channel, const char* queue) {
    static char found[1024];
    size_t length = 0;
    amqp_message_t message;
    amqp_basic_get_ok_t got;
    while (get(channel, queue, true, &message, &got)) {
        CHECK(length + message.body.len + 2 < sizeof found);
        if (length > 0) found[length++] = ' ';
        memcpy(found + length, message.body.bytes, message.body.len);
        length += message.body.len;
        amqp_destroy_message(&message);
    }
    found[length] = '\0';
    amqp_maybe_release_buffers(connection);
    return found;
}

void check_bodies(const char* queue, const char* expected) {
    const char* found = bodies_in(1, queue);
    if (strcmp(found, expected) != 0) fail("%s holds '%s', not '%s'", queue, found, expected);
}

uint32_t ready_count(amqp_channel_t channel, const char* queue) {
    amqp_queue_declare_ok_t* ok =
        amqp_queue_declare(connection, channel, text(queue), 1, 0, 0, 0, amqp_empty_table);
    require_last_ok();
    return ok->message_count;
}

void consume(amqp_channel_t channel, const char* queue, const char* tag, bool no_ack) {
    amqp_basic_consume(connection, channel, text(queue), text(tag), 0, no_ack, 0, amqp_empty_table);
    require_last_ok();
}

amqp_envelope_t next_delivery(void) {
    amqp_envelope_t envelope;
    struct timeval timeout = {patience_seconds, 0};
    amqp_maybe_release_buffers(connection);
    require_ok(amqp_consume_message(connection, &envelope, &timeout, 0));
    return envelope;
}

amqp_envelope_t next_message(const char* queue) {
    amqp_basic_qos(connection, 1, 0, 1, 0);  // The following messages stay in the queue.
    require_last_ok();
    consume(1, queue, "next", false);
    amqp_envelope_t envelope = next_delivery();
    amqp_basic_cancel(connection, 1, text("next"));
    require_last_ok();
    CHECK(amqp_basic_ack(connection, 1, envelope.delivery_tag, 0) == AMQP_STATUS_OK);
    return envelope;
}

void check_usable(void) {
    open_channel(99);
    amqp_queue_declare_ok_t* ok =
        amqp_queue_declare(connection, 99, amqp_empty_bytes, 0, 0, 1, 0, amqp_empty_table);
    require_last_ok();
    CHECK(ok->queue.len > 8 && memcmp(ok->queue.bytes, "amq.gen-", 8) == 0);
    char queue[name_bytes_max];
    snprintf(queue, sizeof queue, "%.*s", (int)ok->queue.len, (char*)ok->queue.bytes);
    select_confirms(99);
    CHECK(publish_with(99, "", queue, text("still alive"), NULL));
    CHECK(strcmp(bodies_in(99, queue), "still alive") == 0);
    require_ok(amqp_channel_close(connection, 99, AMQP_REPLY_SUCCESS));
}

const amqp_table_t* check_death(const amqp_envelope_t* envelope, const char* queue,
                                const char* reason, const char* exchange, const char* key) {
    const amqp_table_t* headers = &envelope->message.properties.headers;
    const amqp_field_value_t* deaths = find(headers, "x-death");
    CHECK(deaths->kind == AMQP_FIELD_KIND_ARRAY && deaths->value.array.num_entries == 1);
    CHECK(deaths->value.array.entries[0].kind == AMQP_FIELD_KIND_TABLE);
    const amqp_table_t* death = &deaths->value.array.entries[0].value.table;
    CHECK(has_text(death, "queue", queue));
    CHECK(has_text(death, "reason", reason));
    CHECK(has_text(death, "exchange", exchange));
    const amqp_field_value_t* count = find(death, "count");
    CHECK(count->kind == AMQP_FIELD_KIND_I64 && count->value.i64 == 1);
    const amqp_field_value_t* keys = find(death, "routing-keys");
    CHECK(keys->kind == AMQP_FIELD_KIND_ARRAY && keys->value.array.num_entries == 1);
    CHECK(keys->value.array.entries[0].kind == AMQP_FIELD_KIND_UTF8);
    CHECK(same(keys->value.array.entries[0].value.bytes, key));
    const amqp_field_value_t* died_at = find(death, "time");
    CHECK(died_at->kind == AMQP_FIELD_KIND_TIMESTAMP);
    CHECK(llabs((long long)died_at->value.u64 - (long long)time(NULL)) < 60);
    CHECK(has_text(headers, "x-first-death-queue", queue));
    CHECK(has_text(headers, "x-first-death-reason", reason));
    CHECK(has_text(headers, "x-first-death-exchange", exchange));
    return death;
}

void clean_up(void) {
    connection = connect_to_broker();
    open_channel(1);
    while (created_queue_count > 0) {
        amqp_queue_delete(connection, 1, text(created_queues[--created_queue_count]), 0, 0);
        require_last_ok();
    }
    while (created_exchange_count > 0) {
        amqp_exchange_delete(connection, 1, text(created_exchanges[--created_exchange_count]), 0);
        require_last_ok();
    }
    disconnect(connection);
}
