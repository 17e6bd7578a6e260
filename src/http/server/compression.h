// Compression: gzip responses for clients that accept it. management 1.8
#pragma once

#include "http/server/request.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace revenant::http {

// Compresses the body if the client accepts gzip and the result is smaller.
void compress(const Request& request, Response& response);

// RFC 1952
std::string gzip(std::string_view bytes);
// The content of a file written by gzip() or by the build; empty if it is not exactly `plain_size`
// bytes long.
std::string gunzip(std::string_view bytes, std::size_t plain_size);
// Whether accept-encoding names gzip with a weight above 0.
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace revenant::http
