// Raw fields: what stands in the fields of performatives that are kept as bytes.
#pragma once

#include "amqp10/codec/performatives.gen.h"
#include "amqp10/codec/type_reader.h"
#include "message/value.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::amqp10 {

// A field whose map has symbols or strings for keys; entries without a form in 0-9-1 are left out.
Table table_in(Raw map);
// One symbol or an array of them (amqp10 B.1).
std::vector<std::string> symbols_in(Raw field);
// The value under that symbol; nothing if there is none.
std::optional<Datum> entry_in(Raw map, std::string_view key);
// Any value; nothing if there is none or it cannot be read.
std::optional<Datum> datum_in(Raw field);
// The string of an address.
std::optional<std::string> string_of(Raw field);
// Is it null, or not there?
bool is_absent(Raw field);
// A described list of that kind; nothing for null and for anything else.
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
