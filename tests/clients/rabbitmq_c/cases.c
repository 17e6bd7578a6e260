// AMQP 0-9-1 cases, written as users of rabbitmq-c write them. Usage: cases HOST PORT
//
// Every case runs on a fresh connection with channel 1 open. A case that finds something wrong
// calls fail(), which jumps back to the loop over all cases.

#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_tcp_socket.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sys/time.h>

enum { patience_seconds = 10, body_bytes_max = 16 * 1024 * 1024, name_bytes_max = 128 };

static const char* host;
static int port;
static amqp_connection_state_t connection;
static jmp_buf case_failed;
static char failure[1024];
static char created_queues[16][name_bytes_max];
static int created_queue_count;
static char created_exchanges[16][name_bytes_max];
static int created_exchange_count;
static char last_return[256];  // Code, text, exchange and body of the last basic.return.

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(failure, sizeof failure, format, arguments);
    va_end(arguments);
    longjmp(case_failed, 1);
}

#define CHECK(condition) ((condition) ? (void)0 : fail("line %d: %s", __LINE__, #condition))

static amqp_bytes_t text(const char* value) { return amqp_cstring_bytes(value); }

static bool same(amqp_bytes_t bytes, const char* expected) {
    return bytes.len == strlen(expected) && memcmp(bytes.bytes, expected, bytes.len) == 0;
}

static bool contains(amqp_bytes_t bytes, const char* part) {
    return memmem(bytes.bytes, bytes.len, part, strlen(part)) != NULL;
}

// The names of one case live in a few static buffers.
static const char* name_of(const char* suffix) {
    static char names[8][name_bytes_max];
    static unsigned next;
    char* name = names[next++ % 8];
    snprintf(name, name_bytes_max, "clients.rabbitmq_c.%s", suffix);
    return name;
}

static amqp_table_entry_t text_entry(const char* key, const char* value) {
    return (amqp_table_entry_t){text(key), {AMQP_FIELD_KIND_UTF8, {.bytes = text(value)}}};
}

static amqp_table_entry_t number_entry(const char* key, int32_t value) {
    return (amqp_table_entry_t){text(key), {AMQP_FIELD_KIND_I32, {.i32 = value}}};
}

#define TABLE(...)                                                                       \
    ((amqp_table_t){                                                                     \
        (int)(sizeof((amqp_table_entry_t[]){__VA_ARGS__}) / sizeof(amqp_table_entry_t)), \
        (amqp_table_entry_t[]){__VA_ARGS__}})

static const amqp_field_value_t* find(const amqp_table_t* table, const char* key) {
    for (int index = 0; index < table->num_entries; index++) {
        if (same(table->entries[index].key, key)) return &table->entries[index].value;
    }
    fail("no field %s", key);
}

static bool has_text(const amqp_table_t* table, const char* key, const char* expected) {
    const amqp_field_value_t* value = find(table, key);
    return value->kind == AMQP_FIELD_KIND_UTF8 && same(value->value.bytes, expected);
}

static void require_ok(amqp_rpc_reply_t reply) {
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

static void require_last_ok(void) { require_ok(amqp_get_rpc_reply(connection)); }

// The last call made the broker close the channel with this code; the connection survives.
static void check_channel_close(amqp_channel_t channel, const amqp_method_t* method, int code,
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

static void expect_close(amqp_channel_t channel, int code, const char* reply_text) {
    amqp_rpc_reply_t reply = amqp_get_rpc_reply(connection);
    if (reply.reply_type != AMQP_RESPONSE_SERVER_EXCEPTION) fail("no channel close %d", code);
    check_channel_close(channel, &reply.reply, code, reply_text);
}

static amqp_rpc_reply_t connect_with(amqp_connection_state_t* state, const char* vhost,
                                     const char* password, int heartbeat) {
    *state = amqp_new_connection();
    amqp_socket_t* socket = amqp_tcp_socket_new(*state);
    CHECK(socket != NULL);
    CHECK(amqp_socket_open(socket, host, port) == AMQP_STATUS_OK);
    // The library itself asks for no notice of cancelled consumers.
    amqp_table_t capabilities =
        TABLE({text("consumer_cancel_notify"), {AMQP_FIELD_KIND_BOOLEAN, {.boolean = 1}}});
    amqp_table_t properties =
        TABLE({text("capabilities"), {AMQP_FIELD_KIND_TABLE, {.table = capabilities}}});
    return amqp_login_with_properties(*state, vhost, 0, AMQP_DEFAULT_FRAME_SIZE, heartbeat,
                                      &properties, AMQP_SASL_METHOD_PLAIN, "guest", password);
}

static amqp_connection_state_t connect_to_broker(void) {
    amqp_connection_state_t state;
    require_ok(connect_with(&state, "/", "guest", 0));
    CHECK(amqp_set_rpc_timeout(state, &(struct timeval){patience_seconds, 0}) == AMQP_STATUS_OK);
    return state;
}

static void disconnect(amqp_connection_state_t state) {
    amqp_connection_close(state, AMQP_REPLY_SUCCESS);
    amqp_destroy_connection(state);
}

static void open_channel(amqp_channel_t channel) {
    amqp_channel_open(connection, channel);
    require_last_ok();
}

static const char* declare_queue(const char* suffix, amqp_table_t arguments) {
    const char* name = name_of(suffix);
    strcpy(created_queues[created_queue_count++], name);
    amqp_queue_delete(connection, 1, text(name), 0, 0);  // An earlier run may have left it behind.
    require_last_ok();
    amqp_queue_declare(connection, 1, text(name), 0, 1, 0, 0, arguments);
    require_last_ok();
    return name;
}

static const char* declare_exchange(const char* suffix, const char* type, amqp_table_t arguments) {
    const char* name = name_of(suffix);
    strcpy(created_exchanges[created_exchange_count++], name);
    amqp_exchange_delete(connection, 1, text(name), 0);
    require_last_ok();
    amqp_exchange_declare(connection, 1, text(name), text(type), 0, 1, 0, 0, arguments);
    require_last_ok();
    return name;
}

static void bind_queue(const char* queue, const char* exchange, const char* key,
                       amqp_table_t arguments) {
    amqp_queue_bind(connection, 1, text(queue), text(exchange), text(key), arguments);
    require_last_ok();
}

static void select_confirms(amqp_channel_t channel) {
    amqp_confirm_select(connection, channel);
    require_last_ok();
}

static amqp_frame_t wait_for_frame(const char* what) {
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

static bool publish_with(amqp_channel_t channel, const char* exchange, const char* key,
                         amqp_bytes_t body, const amqp_basic_properties_t* properties) {
    CHECK(amqp_basic_publish(connection, channel, text(exchange), text(key), 1, 0, properties,
                             body) == AMQP_STATUS_OK);
    bool acked = wait_for_confirm();
    amqp_maybe_release_buffers(connection);
    return acked;
}

// Publishes one message on channel 1, which must be in confirm mode, and waits for the confirm.
static void publish(const char* exchange, const char* key, const char* body) {
    CHECK(publish_with(1, exchange, key, text(body), NULL));
}

// Gets one message. The caller destroys it.
static bool get(amqp_channel_t channel, const char* queue, bool no_ack, amqp_message_t* message,
                amqp_basic_get_ok_t* got) {
    amqp_rpc_reply_t reply = amqp_basic_get(connection, channel, text(queue), no_ack);
    require_ok(reply);
    if (reply.reply.id == AMQP_BASIC_GET_EMPTY_METHOD) return false;
    *got = *(amqp_basic_get_ok_t*)reply.reply.decoded;
    require_ok(amqp_read_message(connection, channel, message, 0));
    return true;
}

// The bodies of all messages in the queue, separated by blanks.
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

static void check_bodies(const char* queue, const char* expected) {
    const char* found = bodies_in(1, queue);
    if (strcmp(found, expected) != 0) fail("%s holds '%s', not '%s'", queue, found, expected);
}

static uint32_t ready_count(amqp_channel_t channel, const char* queue) {
    amqp_queue_declare_ok_t* ok =
        amqp_queue_declare(connection, channel, text(queue), 1, 0, 0, 0, amqp_empty_table);
    require_last_ok();
    return ok->message_count;
}

static void consume(amqp_channel_t channel, const char* queue, const char* tag, bool no_ack) {
    amqp_basic_consume(connection, channel, text(queue), text(tag), 0, no_ack, 0, amqp_empty_table);
    require_last_ok();
}

static amqp_envelope_t next_delivery(void) {
    amqp_envelope_t envelope;
    struct timeval timeout = {patience_seconds, 0};
    amqp_maybe_release_buffers(connection);
    require_ok(amqp_consume_message(connection, &envelope, &timeout, 0));
    return envelope;
}

// Waits for one message through a consumer and acknowledges it. The caller destroys it.
static amqp_envelope_t next_message(const char* queue) {
    amqp_basic_qos(connection, 1, 0, 1, 0);  // The messages behind it stay in the queue.
    require_last_ok();
    consume(1, queue, "next", false);
    amqp_envelope_t envelope = next_delivery();
    amqp_basic_cancel(connection, 1, text("next"));
    require_last_ok();
    CHECK(amqp_basic_ack(connection, 1, envelope.delivery_tag, 0) == AMQP_STATUS_OK);
    return envelope;
}

static void check_usable(void) {
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

static const amqp_table_t* check_death(const amqp_envelope_t* envelope, const char* queue,
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
        // The queue has given out all it may: the rest must still lie there.
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

static void missing_queue_404(void) {
    amqp_queue_declare(connection, 1, text(name_of("missing")), 1, 0, 0, 0, amqp_empty_table);
    expect_close(1, 404, "no queue 'clients.rabbitmq_c.missing' in vhost '/'");
    check_usable();
}

static void inequivalent_argument_406(void) {
    const char* queue = declare_queue("queue", TABLE(number_entry("x-max-length", 5)));
    amqp_queue_declare(connection, 1, text(queue), 0, 1, 0, 0,
                       TABLE(number_entry("x-max-length", 6)));
    expect_close(1, 406, "inequivalent arg 'x-max-length' for queue 'clients.rabbitmq_c.queue'");
    check_usable();
}

static void reserved_name_403(void) {
    amqp_queue_declare(connection, 1, text("amq.clients.rabbitmq_c"), 0, 1, 0, 0, amqp_empty_table);
    expect_close(1, 403, "contains reserved prefix 'amq.*'");
    check_usable();
}

static void closed_channel_can_be_reopened(void) {
    amqp_queue_declare(connection, 1, text(name_of("missing")), 1, 0, 0, 0, amqp_empty_table);
    expect_close(1, 404, "no queue");
    open_channel(1);
    check_bodies(declare_queue("queue", amqp_empty_table), "");
}

static void exclusive_queue_405(void) {
    const char* queue = name_of("exclusive");
    amqp_queue_declare(connection, 1, text(queue), 0, 0, 1, 0, amqp_empty_table);
    require_last_ok();
    amqp_connection_state_t owner = connection;
    connection = connect_to_broker();
    open_channel(1);
    amqp_queue_declare(connection, 1, text(queue), 1, 0, 0, 0, amqp_empty_table);
    expect_close(1, 405, "cannot obtain exclusive access to locked queue");
    disconnect(owner);
    open_channel(1);
    amqp_queue_declare(connection, 1, text(queue), 1, 0, 0, 0, amqp_empty_table);
    expect_close(1, 404, "no queue");
}

static void large_bodies(void) {
    const char* queue = declare_queue("queue", amqp_empty_table);
    select_confirms(1);
    const size_t sizes[] = {body_bytes_max - 7, body_bytes_max};
    for (int index = 0; index < 2; index++) {
        amqp_bytes_t body = amqp_bytes_malloc(sizes[index]);
        for (size_t at = 0; at < body.len; at++) ((char*)body.bytes)[at] = (char)(at % 251);
        CHECK(publish_with(1, "", queue, body, NULL));
        amqp_envelope_t envelope = next_message(queue);
        CHECK(envelope.message.body.len == body.len);
        CHECK(memcmp(envelope.message.body.bytes, body.bytes, body.len) == 0);
        amqp_destroy_envelope(&envelope);
        amqp_bytes_free(body);
    }
}

static void too_large_body_406(void) {
    const char* queue = declare_queue("queue", amqp_empty_table);
    amqp_bytes_t body = amqp_bytes_malloc(body_bytes_max + 1);
    memset(body.bytes, 'x', body.len);
    CHECK(amqp_basic_publish(connection, 1, text(""), text(queue), 0, 0, NULL, body) ==
          AMQP_STATUS_OK);
    amqp_bytes_free(body);
    amqp_frame_t frame = wait_for_frame("the close");
    check_channel_close(1, &frame.payload.method, 406,
                        "message size 16777217 is larger than configured max size 16777216");
    check_usable();
}

static void empty_body(void) {
    const char* queue = declare_queue("queue", amqp_empty_table);
    select_confirms(1);
    amqp_basic_properties_t properties = {._flags = AMQP_BASIC_MESSAGE_ID_FLAG};
    properties.message_id = text("empty");
    CHECK(publish_with(1, "", queue, amqp_empty_bytes, &properties));
    amqp_envelope_t envelope = next_message(queue);
    CHECK(envelope.message.body.len == 0);
    CHECK(same(envelope.message.properties.message_id, "empty"));
    amqp_destroy_envelope(&envelope);
}

static void properties_echo(void) {
    const char* queue = declare_queue("queue", amqp_empty_table);
    select_confirms(1);
    amqp_basic_properties_t sent = {
        ._flags = AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_CONTENT_ENCODING_FLAG |
                  AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_PRIORITY_FLAG |
                  AMQP_BASIC_CORRELATION_ID_FLAG | AMQP_BASIC_REPLY_TO_FLAG |
                  AMQP_BASIC_EXPIRATION_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG |
                  AMQP_BASIC_TIMESTAMP_FLAG | AMQP_BASIC_TYPE_FLAG | AMQP_BASIC_USER_ID_FLAG |
                  AMQP_BASIC_APP_ID_FLAG | AMQP_BASIC_CLUSTER_ID_FLAG,
        .content_type = text("text/plain"),
        .content_encoding = text("utf-8"),
        .delivery_mode = 2,
        .priority = 7,
        .correlation_id = text("c1"),
        .reply_to = text("r1"),
        .expiration = text("600000"),
        .message_id = text("m1"),
        .timestamp = 1700000000,
        .type = text("kind"),
        .user_id = text("guest"),
        .app_id = text("app"),
        .cluster_id = text("cluster")};
    CHECK(publish_with(1, "", queue, text("x"), &sent));
    amqp_envelope_t envelope = next_message(queue);
    const amqp_basic_properties_t* received = &envelope.message.properties;
    CHECK(received->_flags == sent._flags);
    CHECK(same(received->content_type, "text/plain") && same(received->content_encoding, "utf-8"));
    CHECK(received->delivery_mode == 2 && received->priority == 7);
    CHECK(same(received->correlation_id, "c1") && same(received->reply_to, "r1"));
    CHECK(same(received->expiration, "600000") && same(received->message_id, "m1"));
    CHECK(received->timestamp == 1700000000 && same(received->type, "kind"));
    CHECK(same(received->user_id, "guest") && same(received->app_id, "app"));
    CHECK(same(received->cluster_id, "cluster"));
    amqp_destroy_envelope(&envelope);
}

static void header_types_echo(void) {
    const char* queue = declare_queue("queue", amqp_empty_table);
    select_confirms(1);
    amqp_field_value_t items[] = {{AMQP_FIELD_KIND_I32, {.i32 = 1}},
                                  {AMQP_FIELD_KIND_UTF8, {.bytes = text("two")}},
                                  {AMQP_FIELD_KIND_VOID, {0}}};
    amqp_table_t sent =
        TABLE({text("array"), {AMQP_FIELD_KIND_ARRAY, {.array = {3, items}}}},
              {text("boolean"), {AMQP_FIELD_KIND_BOOLEAN, {.boolean = 1}}},
              {text("bytes"), {AMQP_FIELD_KIND_BYTES, {.bytes = {3, "\0\xff\x80"}}}},
              {text("decimal"), {AMQP_FIELD_KIND_DECIMAL, {.decimal = {2, 314}}}},
              {text("f32"), {AMQP_FIELD_KIND_F32, {.f32 = 0.5F}}},
              {text("f64"), {AMQP_FIELD_KIND_F64, {.f64 = 0.125}}},
              {text("i16"), {AMQP_FIELD_KIND_I16, {.i16 = -3000}}},
              {text("i32"), {AMQP_FIELD_KIND_I32, {.i32 = -123456}}},
              {text("i64"), {AMQP_FIELD_KIND_I64, {.i64 = -(1LL << 40)}}},
              {text("i8"), {AMQP_FIELD_KIND_I8, {.i8 = -5}}},
              {text("table"), {AMQP_FIELD_KIND_TABLE, {.table = TABLE(number_entry("deep", 1))}}},
              {text("time"), {AMQP_FIELD_KIND_TIMESTAMP, {.u64 = 1700000000}}},
              {text("u16"), {AMQP_FIELD_KIND_U16, {.u16 = 60000}}},
              {text("u32"), {AMQP_FIELD_KIND_U32, {.u32 = 4000000000U}}},
              {text("u8"), {AMQP_FIELD_KIND_U8, {.u8 = 200}}},
              {text("utf8"), {AMQP_FIELD_KIND_UTF8, {.bytes = text("caf\xc3\xa9")}}},
              {text("void"), {AMQP_FIELD_KIND_VOID, {0}}});
    amqp_basic_properties_t properties = {._flags = AMQP_BASIC_HEADERS_FLAG, .headers = sent};
    CHECK(publish_with(1, "", queue, text("x"), &properties));
    amqp_envelope_t envelope = next_message(queue);
    amqp_table_t* received = &envelope.message.properties.headers;
    // The keys above are sorted, so equal tables have equal encodings.
    qsort(received->entries, (size_t)received->num_entries, sizeof *received->entries,
          amqp_table_entry_cmp);
    char sent_bytes[1024], received_bytes[1024];
    size_t sent_length = 0, received_length = 0;
    CHECK(amqp_encode_table((amqp_bytes_t){sizeof sent_bytes, sent_bytes}, &sent, &sent_length) ==
          0);
    CHECK(amqp_encode_table((amqp_bytes_t){sizeof received_bytes, received_bytes}, received,
                            &received_length) == 0);
    CHECK(sent_length == received_length);
    CHECK(memcmp(sent_bytes, received_bytes, sent_length) == 0);
    amqp_destroy_envelope(&envelope);
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
    // Waiting for a frame sends and checks heartbeats; a silent broker ends it with another status.
    amqp_frame_t frame;
    struct timeval timeout = {3, 500000};
    CHECK(amqp_simple_wait_frame_noblock(connection, &frame, &timeout) == AMQP_STATUS_TIMEOUT);
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

// Opening a connection like this is refused by a connection.close with this code and text.
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

static void priority_order(void) {
    const char* queue = declare_queue("queue", TABLE(number_entry("x-max-priority", 5)));
    select_confirms(1);
    const char* priorities[] = {"1", "5", "3", "5", "0"};
    for (int index = 0; index < 5; index++) {
        amqp_basic_properties_t properties = {._flags = AMQP_BASIC_PRIORITY_FLAG,
                                              .priority = (uint8_t)atoi(priorities[index])};
        CHECK(publish_with(1, "", queue, text(priorities[index]), &properties));
    }
    check_bodies(queue, "5 5 3 1 0");
}

#define CASE(function) \
    { #function, function }

static const struct {
    const char* name;
    void (*run)(void);
} cases[] = {
    CASE(connection_properties),
    CASE(bind_direct),
    CASE(bind_topic),
    CASE(bind_fanout),
    CASE(bind_headers),
    CASE(bind_exchange_to_exchange),
    CASE(confirms_one_by_one),
    CASE(confirms_of_a_burst),
    CASE(reject_publish_is_nacked),
    CASE(mandatory_return),
    CASE(consume_with_prefetch),
    CASE(get_and_empty_get),
    CASE(nack_requeues),
    CASE(reject_dead_letters),
    CASE(expired_message_dead_letters),
    CASE(overflow_dead_letters),
    CASE(client_cancels_consumer),
    CASE(broker_cancels_consumer),
    CASE(transaction_commit),
    CASE(transaction_rollback),
    CASE(missing_queue_404),
    CASE(inequivalent_argument_406),
    CASE(reserved_name_403),
    CASE(closed_channel_can_be_reopened),
    CASE(exclusive_queue_405),
    CASE(large_bodies),
    CASE(too_large_body_406),
    CASE(empty_body),
    CASE(properties_echo),
    CASE(header_types_echo),
    CASE(many_channels),
    CASE(heartbeat_keeps_idle_connection),
    CASE(direct_reply_to),
    CASE(wrong_password_403),
    CASE(unknown_vhost_530),
    CASE(priority_order),
};

static void clean_up(void) {
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

static bool run_case(void (*run)(void)) {
    if (setjmp(case_failed) != 0) return false;
    connection = connect_to_broker();
    open_channel(1);
    run();
    disconnect(connection);
    clean_up();
    return true;
}

static void clean_up_after_failure(void) {
    // The connection is in an unknown state; closing its socket ends it for the broker too.
    amqp_destroy_connection(connection);
    if (setjmp(case_failed) == 0) clean_up();
}

int main(int argument_count, char** arguments) {
    if (argument_count != 3) return 2;
    host = arguments[1];
    port = atoi(arguments[2]);
    const size_t case_count = sizeof cases / sizeof *cases;
    bool passed = true;
    setlinebuf(stdout);
    printf("1..%zu\n", case_count);
    for (size_t index = 0; index < case_count; index++) {
        if (run_case(cases[index].run)) {
            printf("ok %s\n", cases[index].name);
            continue;
        }
        printf("not ok %s: %s\n", cases[index].name, failure);
        passed = false;
        clean_up_after_failure();
    }
    return passed ? 0 : 1;
}
