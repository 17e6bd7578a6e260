// The hash of arguments in the properties_key of a binding: erlang:phash2 of the table as Erlang
// terms. Tools store it as the identity of a binding, so it must equal RabbitMQ's.
#pragma once

#include "message/value.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace revenant {

// Hashes the fields in the order of their names.
std::uint32_t erlang_hash(const Table& table);
// Hashes a list of binaries.
std::uint32_t erlang_hash(std::span<const std::string_view> binaries);
// The four bytes of the hash in URL-safe base64.
std::string arguments_hash(const Table& table);

}  // namespace revenant
