// Base64 with the standard alphabet and padding (RFC 4648, section 4).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace revenant {

std::string base64_encode(std::string_view bytes);
// Strict: only what base64_encode can produce is accepted, so that decoding and encoding again
// gives the same text. No line breaks, no missing padding, no set bits behind the last byte.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace revenant
