// The hash of arguments that RabbitMQ shows in the properties_key of a binding: erlang:phash2 of
// the table as Erlang terms. Tools keep it as the identity of the binding, so it must be the same.
#pragma once

#include "message/value.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace revenant {

// Fields are taken in the order of their names, whatever their order in the table.
std::uint32_t erlang_hash(const Table& table);
// Of a list of binaries.
std::uint32_t erlang_hash(std::span<const std::string_view> binaries);
// Its four bytes in base64 for URLs.
std::string arguments_hash(const Table& table);

}  // namespace revenant
