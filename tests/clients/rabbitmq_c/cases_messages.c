// Messages: bodies of all sizes, properties and headers.

#include "cases.h"
#include "peer.h"

#include <stdlib.h>
#include <string.h>

enum { body_bytes_max = 16 * 1024 * 1024 };

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

static const struct test_case cases[] = {
    CASE(large_bodies),    CASE(too_large_body_406), CASE(empty_body),
    CASE(properties_echo), CASE(header_types_echo),
};

const struct case_group message_cases = GROUP(cases);
