// PortableMessage: a message in no protocol's bytes, on its way from the protocol that brought it
// to a consumer of another one. It has the shape of 0-9-1's basic properties, into which every
// other protocol has a known mapping.
#pragma once

#include "message/death.h"
#include "message/value.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace revenant {

// Texts have at most 255 bytes, as have the names in tables.
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
    // Deaths of which its publisher says that they were, in a form that is no header (DL-103).
    std::vector<Death> claimed_deaths;
    std::optional<std::string> body;  // nothing: the body of the message as it stands

    friend bool operator==(const PortableMessage&, const PortableMessage&) = default;
};

// The `type` of a message whose body is sections of AMQP 1.0 (amqp10 6.9).
constexpr std::string_view encoded_sections_type = "amqp-1.0";

}  // namespace revenant
