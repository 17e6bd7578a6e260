// MapWalk: iterates over the undecoded entries of a map section.
#pragma once

#include "amqp10/codec/type_reader.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace revenant::amqp10 {

class MapWalk {
  public:
    // Takes a section with its descriptor; an empty one has no entries. Null is an empty map.
    explicit MapWalk(std::string_view section);
    // Takes a map without a descriptor.
    static MapWalk of_value(Raw map);

    struct Entry {
        Raw key;
        Raw value;
    };
    // The next entry; nothing at the end or after an error.
    std::optional<Entry> next();
    bool failed() const { return in_.failed(); }

  private:
    MapWalk() : in_(std::string_view{}) {}
    void enter(Raw map);

    TypeReader in_;
    std::uint32_t left_ = 0;
};

// The text of a symbol or a string; nothing for any other type.
std::optional<std::string_view> symbol_in(Raw value);
std::optional<std::string_view> string_in(Raw value);

}  // namespace revenant::amqp10
