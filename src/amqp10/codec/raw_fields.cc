#include "amqp10/codec/raw_fields.h"

#include "amqp10/codec/value_conversion.h"

namespace revenant::amqp10 {
std::optional<Datum> datum_in(Raw field) {
    if (field.empty()) return std::nullopt;
    TypeReader in(field);
    Datum datum = in.datum();
    if (in.failed()) return std::nullopt;
    return datum;
}

namespace {

const std::string* text_of(const Datum& datum) {
    const std::string* const symbol = datum.as_symbol();
    return symbol != nullptr ? symbol : datum.as_string();
}

}  // namespace

Table table_in(Raw map) {
    Table table;
    const auto datum = datum_in(map);
    if (!datum || datum->as_map() == nullptr) return table;
    for (const MapEntry& entry : *datum->as_map()) {
        const std::string* const key = text_of(entry.key);
        auto value = to_value(entry.value);
        if (key == nullptr || key->size() > short_string_bytes_max || !value) continue;
        table.push_back({*key, std::move(*value)});
    }
    return table;
}

std::vector<std::string> symbols_in(Raw field) {
    std::vector<std::string> symbols;
    const auto datum = datum_in(field);
    if (!datum) return symbols;
    if (const std::string* const one = datum->as_symbol()) symbols.push_back(*one);
    if (datum->type == Type::array) {
        for (const Datum& element : *datum->as_elements()) {
            if (const std::string* const one = element.as_symbol()) symbols.push_back(*one);
        }
    }
    return symbols;
}

std::optional<Datum> entry_in(Raw map, std::string_view key) {
    const auto datum = datum_in(map);
    if (!datum || datum->as_map() == nullptr) return std::nullopt;
    const Datum* const found = find(*datum->as_map(), key);
    if (found == nullptr) return std::nullopt;
    return *found;
}

std::optional<std::string> string_of(Raw field) {
    const auto datum = datum_in(field);
    if (!datum || datum->as_string() == nullptr) return std::nullopt;
    return *datum->as_string();
}

bool is_absent(Raw field) { return field.empty() || field[0] == '\x40'; }

std::optional<std::uint64_t> descriptor_in(Raw field) {
    if (is_absent(field)) return std::nullopt;
    TypeReader in(field);
    const auto code = in.descriptor();
    return in.failed() ? std::nullopt : code;
}

}  // namespace revenant::amqp10
