// Raw fields: functions for performative fields that are stored as bytes.
#pragma once

#include "amqp10/codec/performatives.gen.h"
#include "amqp10/codec/type_reader.h"
#include "message/value.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::amqp10 {

// A map with symbols or strings as keys; entries without a 0-9-1 equivalent are omitted.
Table table_in(Raw map);
// A symbol or an array of symbols (amqp10 B.1).
std::vector<std::string> symbols_in(Raw field);
// The value for that symbol, if any.
std::optional<Datum> entry_in(Raw map, std::string_view key);
// A value of any type; nothing if it is absent or malformed.
std::optional<Datum> datum_in(Raw field);
// The string of an address.
std::optional<std::string> string_of(Raw field);
// Whether the field is null or missing.
bool is_absent(Raw field);
// A described list of that type; nothing for null and for any other value.
template <typename Composite>
std::optional<Composite> composite_in(Raw field) {
    if (is_absent(field)) return std::nullopt;
    TypeReader in(field);
    const auto code = in.descriptor();
    if (in.failed() || !code || *code != Composite::descriptor_code) return std::nullopt;
    const auto items = in.list();
    if (in.failed() || !items) return std::nullopt;
    return Composite::decode(*items);
}
// The descriptor of a described value.
std::optional<std::uint64_t> descriptor_in(Raw field);

}  // namespace revenant::amqp10
