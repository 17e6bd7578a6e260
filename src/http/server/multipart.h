// Multipart: the fields of a multipart form (RFC 7578).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace revenant::http {

bool is_multipart_form(std::string_view content_type);
// The content of the field; absent if the form has no such field or is malformed.
std::optional<std::string> form_field(std::string_view content_type, std::string_view body,
                                      std::string_view field);

}  // namespace revenant::http
