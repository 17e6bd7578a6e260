// Fields of tables, numbers and word lists, as used by the model.
#pragma once

#include "message/value.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::model {

inline std::string text(std::int64_t number) { return std::to_string(number); }

template <typename Container, typename Value>
bool contains(const Container& container, const Value& value) {
    return std::find(container.begin(), container.end(), value) != container.end();
}

inline std::string text_of(const Table& table, std::string_view key) {
    const Value* const value = revenant::find(table, key);
    return value == nullptr ? std::string() : display(*value);
}
inline std::optional<std::string> string_in(const Table& table, std::string_view key) {
    if (revenant::find(table, key) == nullptr) return std::nullopt;
    return text_of(table, key);
}
inline std::optional<std::int64_t> number_in(const Table& table, std::string_view key) {
    if (revenant::find(table, key) == nullptr) return std::nullopt;
    return std::stoll(text_of(table, key));
}

inline std::string joined(const std::vector<std::string>& words) {
    std::string all;
    for (const std::string& word : words) all += (all.empty() ? "" : ",") + word;
    return all;
}

using Number = std::optional<std::int64_t>;

inline Number smaller(Number a, Number b) {
    if (!a || !b) return a ? a : b;
    return std::min(*a, *b);
}

}  // namespace revenant::model
