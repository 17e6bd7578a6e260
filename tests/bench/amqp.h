// The subset of AMQP 0-9-1 that a load generator needs: encoding of methods and prepared publishes,
// and parsing of frames. It is deliberately independent of the broker's codec, so that a bug in one
// is not hidden by the same bug in the other.
#pragma once

#include "outcome.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

enum class FrameType : uint8_t { method = 1, header = 2, body = 3, heartbeat = 8 };

inline constexpr size_t frame_head_bytes = 7;
inline constexpr size_t frame_overhead_bytes = 8;  // header and frame-end octet

struct MethodId {
    uint16_t class_id = 0;
    uint16_t method_id = 0;

    bool operator==(const MethodId&) const = default;
};

inline constexpr MethodId connection_start{10, 10};
inline constexpr MethodId connection_start_ok{10, 11};
inline constexpr MethodId connection_tune{10, 30};
inline constexpr MethodId connection_tune_ok{10, 31};
inline constexpr MethodId connection_open{10, 40};
inline constexpr MethodId connection_open_ok{10, 41};
inline constexpr MethodId connection_close{10, 50};
inline constexpr MethodId channel_open{20, 10};
inline constexpr MethodId channel_open_ok{20, 11};
inline constexpr MethodId channel_close{20, 40};
inline constexpr MethodId exchange_declare{40, 10};
inline constexpr MethodId exchange_declare_ok{40, 11};
inline constexpr MethodId queue_declare{50, 10};
inline constexpr MethodId queue_declare_ok{50, 11};
inline constexpr MethodId queue_bind{50, 20};
inline constexpr MethodId queue_bind_ok{50, 21};
inline constexpr MethodId queue_delete{50, 40};
inline constexpr MethodId queue_delete_ok{50, 41};
inline constexpr MethodId basic_qos{60, 10};
inline constexpr MethodId basic_qos_ok{60, 11};
inline constexpr MethodId basic_consume{60, 20};
inline constexpr MethodId basic_consume_ok{60, 21};
inline constexpr MethodId basic_cancel{60, 30};
inline constexpr MethodId basic_publish{60, 40};
inline constexpr MethodId basic_deliver{60, 60};
inline constexpr MethodId basic_ack{60, 80};
inline constexpr MethodId basic_nack{60, 120};
inline constexpr MethodId confirm_select{85, 10};
inline constexpr MethodId confirm_select_ok{85, 11};

uint16_t load_u16(const char* at);
uint32_t load_u32(const char* at);
uint64_t load_u64(const char* at);

// Appends big-endian fields to a string.
class Writer {
  public:
    Writer& u8(uint8_t value);
    Writer& u16(uint16_t value);
    Writer& u32(uint32_t value);
    Writer& u64(uint64_t value);
    Writer& short_string(std::string_view text);
    Writer& long_string(std::string_view text);
    Writer& raw(std::string_view bytes);

    const std::string& bytes() const { return bytes_; }

  private:
    std::string bytes_;
};

// Builds a field table. Supports only the types needed for queue arguments and client properties.
class Table {
  public:
    Table& text(std::string_view key, std::string_view value);
    Table& number(std::string_view key, int64_t value);
    Table& boolean(std::string_view key, bool value);
    Table& table(std::string_view key, const Table& value);

    std::string encoded() const;  // with its length

  private:
    Writer fields_;
};

std::string method_frame(uint16_t channel, MethodId id, std::string_view arguments);

// Appends basic.ack or basic.nack (requeue = false) for a delivery tag to the output.
enum class Reach { one, all_up_to };
void append_settlement(std::string& output, uint64_t delivery_tag, Outcome outcome, Reach reach);

struct Frame {
    FrameType type = FrameType::heartbeat;
    uint16_t channel = 0;
    std::string_view payload;

    size_t wire_bytes() const { return payload.size() + frame_overhead_bytes; }
    MethodId method() const { return {load_u16(payload.data()), load_u16(payload.data() + 2)}; }
    std::string_view arguments() const { return payload.substr(4); }
};

// The frame at the start of the input; nothing if it is incomplete. Throws Failure if the frame end
// is invalid.
std::optional<Frame> next_frame(std::string_view input);

// Reply text and code of connection.close and channel.close.
std::string close_reason(std::string_view arguments);

// The contents of a publish. All messages of a load are identical, so they are encoded once.
struct MessageShape {
    std::string exchange;
    std::string routing_key;
    size_t body_bytes = 100;
    bool persistent = false;
    std::string expiration;  // empty: not set
    uint64_t header_count = 0;
    uint32_t frame_bytes_max = 131072;
};

struct PreparedMessage {
    std::string bytes;
    size_t expiration_offset = 0;
    size_t body_offset = 0;  // payload of the first body frame
};

PreparedMessage prepare_publish(const MessageShape& shape);

}  // namespace bench
