// Base64 with the standard alphabet and padding (RFC 4648, section 4).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace revenant {

std::string base64_encode(std::string_view bytes);
// Strict: accepts only texts that base64_encode can produce, so encoding the result gives the same
// text again. Line breaks, missing padding and set bits after the last byte are errors.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace revenant
