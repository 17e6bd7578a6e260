// AMQP 1.0 bytes for tests: frames, terminuses and messages as clients write them, and decoded
// received messages.
#pragma once

#include "amqp10/codec/fault.h"
#include "amqp10/codec/frame.h"
#include "amqp10/codec/performatives.gen.h"
#include "tests/support/amqp10_message.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace revenant::amqp10 {

constexpr std::string_view sasl_greeting{"AMQP\x03\x01\x00\x00", 8};
constexpr std::string_view amqp_greeting{"AMQP\x00\x01\x00\x00", 8};

constexpr std::uint8_t unsettled_mode = 0;
constexpr std::uint8_t settled_mode = 1;
constexpr std::uint8_t mixed_mode = 2;

std::string frame10(FrameType type, std::uint16_t channel, std::string_view body);
template <typename Performative>
std::string frame10(std::uint16_t channel, const Performative& performative,
                    std::string_view payload = {}) {
    return frame10(FrameType::amqp, channel, encoded(performative) + std::string(payload));
}
template <typename Performative>
std::string sasl_frame(const Performative& performative) {
    return frame10(FrameType::sasl, 0, encoded(performative));
}
// A described list of any fields.
std::string described_list(std::uint64_t code, const Data& fields);
// Terminuses; null without an address.
std::string source_of(std::optional<std::string> address);
std::string target_of(std::optional<std::string> address);
// A Source or Target that requests a temporary queue (amqp10 4.6).
template <typename Terminus>
std::string temporary_queue() {
    const std::string capability = encoded(Datum::symbol("temporary-queue"));
    Terminus asked;
    asked.dynamic = true;
    asked.capabilities = capability;
    return encoded(asked);
}

// The bytes of a message, section by section.
class MessageBytes {
  public:
    explicit MessageBytes(std::string_view body = "body") : body_(data(body)) {}
    MessageBytes& header(const Header& header);
    MessageBytes& annotation(std::string_view name, const Datum& value);
    MessageBytes& properties(const Properties& properties);
    MessageBytes& to(std::string_view address);
    MessageBytes& property(std::string_view name, const Datum& value);  // an application property
    MessageBytes& body(std::string sections);
    // NOLINTNEXTLINE(google-explicit-constructor): it represents the bytes
    operator std::string() const { return bytes(); }
    std::string bytes() const;

  private:
    std::string header_;
    DataMap annotations_;
    std::string properties_;
    DataMap application_properties_;
    std::string body_;
};

// A complete received message.
struct TakenMessage {
    std::uint32_t handle = 0;
    std::uint32_t delivery_id = 0;
    std::string tag;
    bool settled = false;
    std::size_t frames = 0;
    std::unique_ptr<Delivered> parts;

    std::string body() const;
    bool durable() const { return flag(0); }
    bool first_acquirer() const { return flag(3); }
    std::uint64_t delivery_count() const;
    const Datum* header_field(std::size_t index) const;
    // The text or number of an annotation; "" and -1 if it is absent.
    std::string annotated_text(std::string_view name) const;
    std::int64_t annotated_number(std::string_view name) const;

  private:
    bool flag(std::size_t index) const;
};

struct ErrorText {
    std::string condition;
    std::string description;
    std::string info;
};
// From an error field; all empty if it is absent.
ErrorText error_in(Raw field);

}  // namespace revenant::amqp10
