// Compression: answers as gzip for clients that take it. management 1.8
#pragma once

#include "http/server/request.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace revenant::http {

// Replaces the body if the client accepts gzip and the body is large enough to gain by it.
void compress(const Request& request, Response& response);

// The bytes as a gzip file (RFC 1952).
std::string gzip(std::string_view bytes);
// The content of a gzip file that gzip() or the build has made, which is `plain_size` bytes long;
// empty if it is not.
std::string gunzip(std::string_view bytes, std::size_t plain_size);
// Whether accept-encoding names gzip and does not forbid it.
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace revenant::http
