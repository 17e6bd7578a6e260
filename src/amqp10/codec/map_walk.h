// MapWalk: the entries of a section that is a map, one after the other, unread.
#pragma once

#include "amqp10/codec/type_reader.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace revenant::amqp10 {

class MapWalk {
  public:
    // A section with its descriptor; an empty one has no entries. Null counts as an empty map.
    explicit MapWalk(std::string_view section);
    // A map that stands alone.
    static MapWalk of_value(Raw map);

    struct Entry {
        Raw key;
        Raw value;
    };
    // The next one; nothing at the end and behind what is wrong.
    std::optional<Entry> next();
    bool failed() const { return in_.failed(); }

  private:
    MapWalk() : in_(std::string_view{}) {}
    void enter(Raw map);

    TypeReader in_;
    std::uint32_t left_ = 0;
};

// The text of a symbol or a string; nothing for any other value.
std::optional<std::string_view> symbol_in(Raw value);
std::optional<std::string_view> string_in(Raw value);

}  // namespace revenant::amqp10
