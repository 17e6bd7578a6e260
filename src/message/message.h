// Message: a published message in the encoding in which it arrived, and a small
// protocol-independent head.
//
// A stub is a message whose properties and body are only on disk. It can be queued, counted, routed
// by its keys and dead-lettered, but it must be loaded before it is delivered.
//
// One allocation contains head and bytes: exchange, routing key, properties (in the encoding of the
// publisher's protocol) and body follow each other. A message is immutable once MessageBuilder has
// finished it. Everything that the broker adds later is in an Envelope.
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

// Functions of a protocol for bytes that the engine cannot interpret.
struct MessageFormat {
    std::uint8_t number = 0;  // stored in files; never changes
    // The headers (0-9-1) or application properties (1.0), for a headers exchange.
    Table (*headers)(const Message& message);
    // correlation_id, message_id or timestamp as text, for a consistent-hash exchange.
    std::string (*property)(const Message& message, std::string_view name);
    // The earlier deaths that the publisher claims. Only RabbitMQ 3.x uses them as history
    // (DL-109).
    std::optional<DeathHistory> (*claimed_history)(const Message& message);
    // For a consumer of another protocol.
    PortableMessage (*portable)(const Message& message) = nullptr;
    // Whether the size of a message includes its properties, or only its body.
    bool size_includes_properties = false;
};

// Additional routing keys of a message (sender-selected distribution). Rare, so stored separately.
struct ExtraKeys {
    std::vector<std::string> cc;
    std::vector<std::string> bcc;
    std::size_t memory_bytes = 0;  // approximate; computed when they are added to a message
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
    // Requires is_loaded(). In the encoding of format(); 0-9-1: property flags and list as on the
    // wire.
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
    // The size as the publisher's protocol defines it: all sections in AMQP 1.0, the body in AMQP
    // 0-9-1.
    std::uint64_t published_size() const {
        const std::uint64_t body_bytes = body_size_;
        return format_->size_includes_properties ? properties_size_ + body_bytes : body_bytes;
    }
    // Approximate memory use.
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
    // Position in the journal; absent until the message is first written. Only for the thread of
    // its home reactor.
    std::optional<Lsn> stored_at() const {
        return stored_at_.value == nowhere ? std::nullopt : std::optional{stored_at_};
    }
    void set_stored_at(Lsn at) const { stored_at_ = at; }
    // Requires is_loaded().
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

// Builds one message while its frames arrive. Memory grows with the bytes received, so a declared
// but never sent body costs nothing.
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
    // Requires that all declared bytes were appended.
    MessageRef finish();
    void discard();

  private:
    friend MessageRef make_stub(std::string_view, std::string_view, StubSizes, MessageHead, Lsn);
    Message* message_ = nullptr;
    std::uint32_t declared_bytes_ = 0;
    std::uint32_t capacity_ = 0;
};

// Sizes of the parts of a stub, which are stored at `stored_at`.
struct StubSizes {
    std::uint32_t properties = 0;
    std::uint32_t body = 0;
};
MessageRef make_stub(std::string_view exchange, std::string_view routing_key, StubSizes sizes,
                     MessageHead head, Lsn stored_at);
// The stub of a message that is stored in a journal.
MessageRef make_stub(const Message& message);

// Builds a complete message in one step.
MessageRef make_message(std::string_view exchange, std::string_view routing_key,
                        std::string_view properties, std::string_view body, MessageHead head);

}  // namespace revenant
