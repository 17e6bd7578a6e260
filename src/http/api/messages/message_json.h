// Messages as JSON: the properties, and the payload as text or base64. management 4.18, 4.21
#pragma once

#include "base/result.h"
#include "engine/view/query.h"
#include "http/api/json.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace revenant::http {

// The reason of an error response: "payload_not_string", ["not_int","priority"].
using PropertyError = json::value;

// The encoded AMQP 0-9-1 properties. Unknown names are ignored.
Result<std::string, PropertyError> properties_from_json(const json::object& properties);
Result<std::string, PropertyError> payload_from_json(const json::value& payload,
                                                     const json::value& encoding);

enum class PayloadEncoding : std::uint8_t {
    automatic,  // text if the payload is valid UTF-8, otherwise base64
    base64,
};
struct PayloadForm {
    PayloadEncoding encoding = PayloadEncoding::automatic;
    std::optional<std::size_t> truncate;  // maximum number of bytes
};
json::object message_to_json(const engine::GetAnswer& got, const PayloadForm& form);

}  // namespace revenant::http
