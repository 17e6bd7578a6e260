#include "message/message.h"

#include "base/check.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace revenant {
namespace {

// Bodies up to this size are allocated immediately; larger ones grow as they arrive. Untouched
// pages take no memory, so a body grows in large steps: small steps would copy it more often.
constexpr std::uint32_t eager_body_bytes = 128 * 1024;
constexpr std::size_t body_growth = 16;

std::size_t memory_of(const ExtraKeys& keys) {
    std::size_t bytes = sizeof keys;
    for (const auto* list : {&keys.cc, &keys.bcc}) {
        for (const std::string& key : *list) bytes += sizeof key + key.size();
    }
    return bytes;
}

}  // namespace

void Message::destroy() const {
    delete extra_keys_;
    this->~Message();
    std::free(const_cast<Message*>(this));
}

void MessageBuilder::start(std::string_view exchange, std::string_view routing_key,
                           std::string_view properties, std::uint32_t body_size, MessageHead head) {
    CHECK(message_ == nullptr);
    CHECK(exchange.size() <= 255 && routing_key.size() <= 255);
    declared_bytes_ = body_size;
    capacity_ = std::min(body_size, eager_body_bytes);
    const std::size_t before_body = exchange.size() + routing_key.size() + properties.size();
    void* memory = std::malloc(sizeof(Message) + before_body + capacity_);
    CHECK(memory != nullptr);
    message_ = new (memory) Message;
    message_->properties_size_ = static_cast<std::uint32_t>(properties.size());
    message_->exchange_size_ = static_cast<std::uint8_t>(exchange.size());
    message_->routing_key_size_ = static_cast<std::uint8_t>(routing_key.size());
    message_->has_priority_ = head.priority.has_value();
    message_->priority_ = head.priority.value_or(0);
    message_->persistent_ = head.persistent;
    message_->ttl_ms_ = head.ttl_ms.value_or(-1);
    message_->format_ = head.format;
    if (!head.extra_keys.cc.empty() || !head.extra_keys.bcc.empty()) {
        head.extra_keys.memory_bytes = memory_of(head.extra_keys);
        message_->extra_keys_ = new ExtraKeys(std::move(head.extra_keys));
    }
    char* at = message_->bytes();
    at = std::copy(exchange.begin(), exchange.end(), at);
    at = std::copy(routing_key.begin(), routing_key.end(), at);
    std::copy(properties.begin(), properties.end(), at);
}

void MessageBuilder::append_body(std::string_view part) {
    CHECK(part.size() <= body_bytes_left());
    const std::size_t size = message_->body_size_ + part.size();
    const std::size_t before_body =
        static_cast<std::size_t>(message_->exchange_size_ + message_->routing_key_size_) +
        message_->properties_size_;
    if (size > capacity_) {
        capacity_ = static_cast<std::uint32_t>(std::min<std::size_t>(
            declared_bytes_, std::max<std::size_t>(size, std::size_t{capacity_} * body_growth)));
        // There is no other reference to the message yet, and its members can be moved bytewise.
        void* memory =
            std::realloc(static_cast<void*>(message_), sizeof(Message) + before_body + capacity_);
        CHECK(memory != nullptr);
        message_ = static_cast<Message*>(memory);
    }
    std::memcpy(message_->bytes() + before_body + message_->body_size_, part.data(), part.size());
    message_->body_size_ = static_cast<std::uint32_t>(size);
}

MessageRef MessageBuilder::finish() {
    CHECK(message_ != nullptr && body_bytes_left() == 0);
    return MessageRef::adopt(std::exchange(message_, nullptr));
}

void MessageBuilder::discard() {
    if (message_ != nullptr) std::exchange(message_, nullptr)->release();
}

MessageRef make_stub(std::string_view exchange, std::string_view routing_key, StubSizes sizes,
                     MessageHead head, Lsn stored_at) {
    MessageBuilder builder;
    builder.start(exchange, routing_key, {}, 0, std::move(head));
    Message* const stub = std::exchange(builder.message_, nullptr);
    stub->properties_size_ = sizes.properties;
    stub->body_size_ = sizes.body;
    stub->whole_ = false;
    stub->stored_at_ = stored_at;
    return MessageRef::adopt(stub);
}

MessageRef make_stub(const Message& message) {
    MessageHead head{.format = &message.format(),
                     .persistent = message.persistent(),
                     .priority = message.priority(),
                     .ttl_ms = message.ttl_ms(),
                     .extra_keys = {}};
    if (message.extra_keys() != nullptr) head.extra_keys = *message.extra_keys();
    return make_stub(message.exchange(), message.routing_key(),
                     {.properties = message.properties_size(), .body = message.body_size()},
                     std::move(head), *message.stored_at());
}

MessageRef make_message(std::string_view exchange, std::string_view routing_key,
                        std::string_view properties, std::string_view body, MessageHead head) {
    MessageBuilder builder;
    builder.start(exchange, routing_key, properties, static_cast<std::uint32_t>(body.size()),
                  std::move(head));
    if (!body.empty()) builder.append_body(body);
    return builder.finish();
}

}  // namespace revenant
