// Messages as JSON: the properties a client writes into its request and reads from an answer, and
// the payload, which JSON can carry as text or as base64. management 4.18, 4.21
#pragma once

#include "base/result.h"
#include "engine/view/query.h"
#include "http/api/json.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace revenant::http {

// What is wrong, as the JSON value that becomes the reason: "payload_not_string",
// ["not_int","priority"].
using PropertyError = json::value;

// The property bytes of AMQP 0-9-1. Names that are no property are ignored.
Result<std::string, PropertyError> properties_from_json(const json::object& properties);
Result<std::string, PropertyError> payload_from_json(const json::value& payload,
                                                     const json::value& encoding);

enum class PayloadEncoding : std::uint8_t {
    automatic,  // text if it is well-formed UTF-8, else base64
    base64,
};
struct PayloadForm {
    PayloadEncoding encoding = PayloadEncoding::automatic;
    std::optional<std::size_t> truncate;  // to so many bytes
};
json::object message_to_json(const engine::GetAnswer& got, const PayloadForm& form);

}  // namespace revenant::http
