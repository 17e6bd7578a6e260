// Compression: answers as gzip for clients that take it. management 1.8
#pragma once

#include "http/request.h"

#include <string>
#include <string_view>

namespace revenant::http {

// Replaces the body if the client accepts gzip and the body is large enough to gain by it.
void compress(const Request& request, Response& response);

// The bytes as a gzip file (RFC 1952).
std::string gzip(std::string_view bytes);
// Whether accept-encoding names gzip and does not forbid it.
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace revenant::http
