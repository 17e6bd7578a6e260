// PortableMessage: a protocol-independent message, for delivery to a consumer whose protocol is not
// the publisher's. It has the shape of the 0-9-1 basic properties, to which every other protocol
// has a defined mapping.
#pragma once

#include "message/death.h"
#include "message/value.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace revenant {

// Strings and the names in tables have at most 255 bytes.
struct PortableMessage {
    std::optional<std::string> content_type;
    std::optional<std::string> content_encoding;
    Table headers;
    std::optional<std::uint8_t> delivery_mode;
    std::optional<std::uint8_t> priority;
    std::optional<std::string> correlation_id;
    std::optional<std::string> reply_to;
    std::optional<std::string> expiration;
    std::optional<std::string> message_id;
    std::optional<std::uint64_t> timestamp;  // in seconds
    std::optional<std::string> type;
    std::optional<std::string> user_id;
    std::optional<std::string> app_id;
    std::optional<std::string> cluster_id;
    // Earlier deaths claimed by the publisher in a form other than a header (DL-103).
    std::vector<Death> claimed_deaths;
    std::optional<std::string> body;  // absent: the body of the message, unchanged

    friend bool operator==(const PortableMessage&, const PortableMessage&) = default;
};

// The `type` of a message whose body consists of AMQP 1.0 sections (amqp10 6.9).
constexpr std::string_view encoded_sections_type = "amqp-1.0";

}  // namespace revenant
