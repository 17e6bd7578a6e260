// Message: what a client published, as it arrived, and a small head that needs no protocol.
//
// A stub is a message whose properties and body are left on the disk: it can wait, be counted, be
// routed by its keys and die, but not be delivered before it was made whole again.
//
// One allocation holds head and bytes: exchange, routing key, properties (in the dialect of the
// protocol that brought it) and body lie behind each other. It never changes after MessageBuilder
// has finished it; what the broker adds later stands in an Envelope beside it.
#pragma once

#include "base/check.h"
#include "base/ids.h"
#include "base/ref.h"
#include "message/value.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace revenant {

class Message;
struct DeathHistory;
struct PortableMessage;
using MessageRef = Ref<const Message>;

// What the engine may ask of a protocol about bytes it does not understand itself.
struct MessageFormat {
    std::uint8_t number = 0;  // in files; never changes
    // The headers (0-9-1) or application properties (1.0), for a headers exchange.
    Table (*headers)(const Message& message);
    // correlation_id, message_id or timestamp as text, for a consistent-hash exchange.
    std::string (*property)(const Message& message, std::string_view name);
    // What its publisher says of earlier deaths. Only RabbitMQ 3.x takes it for history (DL-109).
    std::optional<DeathHistory> (*claimed_history)(const Message& message);
    // For a consumer of another protocol.
    PortableMessage (*portable)(const Message& message) = nullptr;
    // Whether a message is as large as all of it, or only as its body.
    bool size_includes_properties = false;
};

// Further routing keys of a message (sender-selected distribution). Rare, so it stands apart.
struct ExtraKeys {
    std::vector<std::string> cc;
    std::vector<std::string> bcc;
    std::size_t memory_bytes = 0;  // about; counted when they become part of a message
};

struct MessageHead {
    const MessageFormat* format = nullptr;
    bool persistent = false;
    std::optional<std::uint8_t> priority;
    std::optional<std::int64_t> ttl_ms;
    ExtraKeys extra_keys;
};

struct StubSizes;

class Message {
  public:
    std::string_view exchange() const { return {bytes(), exchange_size_}; }
    std::string_view routing_key() const { return {bytes() + exchange_size_, routing_key_size_}; }
    bool is_loaded() const { return whole_; }
    // Of a whole one. In the dialect of format(); 0-9-1: property flags and list as on the wire.
    std::string_view properties() const {
        CHECK(whole_);
        return {bytes() + exchange_size_ + routing_key_size_, properties_size_};
    }
    std::string_view body() const {
        CHECK(whole_);
        return {bytes() + exchange_size_ + routing_key_size_ + properties_size_, body_size_};
    }
    std::uint32_t body_size() const { return body_size_; }
    std::uint32_t properties_size() const { return properties_size_; }
    // As those who publish it count: in AMQP 1.0 all of its sections, in AMQP 0-9-1 its body.
    std::uint64_t published_size() const {
        const std::uint64_t body_bytes = body_size_;
        return format_->size_includes_properties ? properties_size_ + body_bytes : body_bytes;
    }
    // About what it takes in memory.
    std::size_t memory_bytes() const {
        return sizeof(Message) + exchange_size_ + routing_key_size_ +
               (whole_ ? std::size_t{properties_size_} + body_size_ : 0) +
               (extra_keys_ != nullptr ? extra_keys_->memory_bytes : 0);
    }
    bool persistent() const { return persistent_; }
    std::optional<std::uint8_t> priority() const {
        return has_priority_ ? std::optional{priority_} : std::nullopt;
    }
    std::optional<std::int64_t> ttl_ms() const {
        return ttl_ms_ >= 0 ? std::optional{ttl_ms_} : std::nullopt;
    }
    // nullptr for a message without CC and BCC.
    const ExtraKeys* extra_keys() const { return extra_keys_; }
    const MessageFormat& format() const { return *format_; }
    // Where a journal keeps it; nowhere before it was first written. Only for the thread at whose
    // vhost it is.
    std::optional<Lsn> stored_at() const {
        return stored_at_.value == nowhere ? std::nullopt : std::optional{stored_at_};
    }
    void set_stored_at(Lsn at) const { stored_at_ = at; }
    // Of a whole one.
    Table headers() const { return format_->headers(*this); }

    void retain() const { refs_.fetch_add(1, std::memory_order_relaxed); }
    void release() const {
        if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
    }
    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;

  private:
    friend class MessageBuilder;
    friend MessageRef make_stub(std::string_view, std::string_view, StubSizes, MessageHead, Lsn);
    Message() = default;
    ~Message() = default;
    void destroy() const;
    const char* bytes() const { return reinterpret_cast<const char*>(this + 1); }
    char* bytes() { return reinterpret_cast<char*>(this + 1); }

    mutable std::atomic<std::uint32_t> refs_{1};
    std::uint32_t properties_size_ = 0;
    std::uint32_t body_size_ = 0;
    std::uint8_t exchange_size_ = 0;
    std::uint8_t routing_key_size_ = 0;
    std::uint8_t priority_ = 0;
    bool has_priority_ : 1 = false;
    bool persistent_ : 1 = false;
    bool whole_ : 1 = true;
    std::int64_t ttl_ms_ = -1;
    const MessageFormat* format_ = nullptr;
    const ExtraKeys* extra_keys_ = nullptr;
    static constexpr std::uint64_t nowhere = UINT64_MAX;
    mutable Lsn stored_at_{nowhere};
};

// Builds one message while its frames arrive. Memory grows with what was really received, so that
// an announced but never sent body costs nothing.
class MessageBuilder {
  public:
    MessageBuilder() = default;
    MessageBuilder(const MessageBuilder&) = delete;
    MessageBuilder& operator=(const MessageBuilder&) = delete;
    ~MessageBuilder() { discard(); }

    // exchange and routing_key have at most 255 bytes.
    void start(std::string_view exchange, std::string_view routing_key, std::string_view properties,
               std::uint32_t body_size, MessageHead head);
    void append_body(std::string_view part);
    bool started() const { return message_ != nullptr; }
    std::uint32_t body_bytes_left() const { return declared_bytes_ - message_->body_size_; }
    // All announced bytes must have been appended.
    MessageRef finish();
    void discard();

  private:
    friend MessageRef make_stub(std::string_view, std::string_view, StubSizes, MessageHead, Lsn);
    Message* message_ = nullptr;
    std::uint32_t declared_bytes_ = 0;
    std::uint32_t capacity_ = 0;
};

// A message that is kept at `stored_at`, without its properties and body.
struct StubSizes {
    std::uint32_t properties = 0;
    std::uint32_t body = 0;
};
MessageRef make_stub(std::string_view exchange, std::string_view routing_key, StubSizes sizes,
                     MessageHead head, Lsn stored_at);
// The stub of a message that is kept somewhere.
MessageRef make_stub(const Message& message);

// A whole message at once.
MessageRef make_message(std::string_view exchange, std::string_view routing_key,
                        std::string_view properties, std::string_view body, MessageHead head);

}  // namespace revenant
