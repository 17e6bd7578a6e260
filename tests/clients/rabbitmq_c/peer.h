// The client that the cases work with: connections, declarations, messages and expected closes.
//
// Every case runs on a fresh connection with channel 1 open. A case that finds something wrong
// calls fail(), which jumps back to the loop over all cases.

#pragma once

#include <amqp.h>
#include <amqp_framing.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { patience_seconds = 10, name_bytes_max = 128 };

extern const char* host;
extern int port;
extern amqp_connection_state_t connection;
extern jmp_buf case_failed;
extern char failure[1024];
extern char last_return[256];  // Code, text, exchange and body of the last basic.return.

__attribute__((noreturn, format(printf, 1, 2))) void fail(const char* format, ...);

#define CHECK(condition) \
    ((condition) ? (void)0 : fail("%s, line %d: %s", __FILE_NAME__, __LINE__, #condition))

#define TABLE(...)                                                                       \
    ((amqp_table_t){                                                                     \
        (int)(sizeof((amqp_table_entry_t[]){__VA_ARGS__}) / sizeof(amqp_table_entry_t)), \
        (amqp_table_entry_t[]){__VA_ARGS__}})

amqp_bytes_t text(const char* value);
bool same(amqp_bytes_t bytes, const char* expected);
bool contains(amqp_bytes_t bytes, const char* part);

// The names of one case live in a few static buffers.
const char* name_of(const char* suffix);

amqp_table_entry_t text_entry(const char* key, const char* value);
amqp_table_entry_t number_entry(const char* key, int32_t value);
const amqp_field_value_t* find(const amqp_table_t* table, const char* key);
bool has_text(const amqp_table_t* table, const char* key, const char* expected);
void require_ok(amqp_rpc_reply_t reply);
void require_last_ok(void);

// The last call made the broker close the channel with this code; the connection survives.
void check_channel_close(amqp_channel_t channel, const amqp_method_t* method, int code,
                         const char* reply_text);

void expect_close(amqp_channel_t channel, int code, const char* reply_text);
amqp_rpc_reply_t connect_with(amqp_connection_state_t* state, const char* vhost,
                              const char* password, int heartbeat);
amqp_connection_state_t connect_to_broker(void);
void disconnect(amqp_connection_state_t state);
void open_channel(amqp_channel_t channel);
const char* declare_queue(const char* suffix, amqp_table_t arguments);
const char* declare_exchange(const char* suffix, const char* type, amqp_table_t arguments);
void bind_queue(const char* queue, const char* exchange, const char* key, amqp_table_t arguments);
void select_confirms(amqp_channel_t channel);
amqp_frame_t wait_for_frame(const char* what);
bool publish_with(amqp_channel_t channel, const char* exchange, const char* key, amqp_bytes_t body,
                  const amqp_basic_properties_t* properties);

// Publishes one message on channel 1, which must be in confirm mode, and waits for the confirm.
void publish(const char* exchange, const char* key, const char* body);

// Gets one message. The caller destroys it.
bool get(amqp_channel_t channel, const char* queue, bool no_ack, amqp_message_t* message,
         amqp_basic_get_ok_t* got);

void check_bodies(const char* queue, const char* expected);
uint32_t ready_count(amqp_channel_t channel, const char* queue);
void consume(amqp_channel_t channel, const char* queue, const char* tag, bool no_ack);
amqp_envelope_t next_delivery(void);

// Waits for one message through a consumer and acknowledges it. The caller destroys it.
amqp_envelope_t next_message(const char* queue);

void check_usable(void);
const amqp_table_t* check_death(const amqp_envelope_t* envelope, const char* queue,
                                const char* reason, const char* exchange, const char* key);

// Deletes all queues and exchanges that the case declared, through a new connection.
void clean_up(void);
