// Conversion between values of 0-9-1 tables and AMQP 1.0 values (amqp10 6.7, 6.12).
#pragma once

#include "amqp10/codec/datum.h"
#include "message/value.h"

#include <optional>
#include <string>
#include <string_view>

namespace revenant::amqp10 {

// Nothing for types without a 0-9-1 equivalent: decimals, characters, described values.
std::optional<Value> to_value(const Datum& datum);
// Whether the value is a string, number or boolean, which a headers exchange can compare (DL-100).
bool is_simple(const Value& value);

// Nothing for a decimal.
std::optional<Datum> to_datum(const Value& value);

// Convert between "urn:uuid:01234567-89ab-cdef-0123-456789abcdef" and its 16 bytes.
std::string uuid_to_urn(std::string_view bytes);
std::optional<std::string> urn_to_uuid(std::string_view text);

// Whether the bytes are valid as an AMQP 1.0 string or symbol.
bool is_string(std::string_view bytes);  // UTF-8 without NUL
bool is_symbol(std::string_view bytes);  // ASCII

constexpr std::size_t short_string_bytes_max = 255;

}  // namespace revenant::amqp10
