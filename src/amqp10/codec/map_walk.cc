#include "amqp10/codec/map_walk.h"

#include "amqp10/codec/sections.h"

namespace revenant::amqp10 {

MapWalk::MapWalk(std::string_view section) : MapWalk() {
    if (!section.empty()) enter(content_of(section));
}

MapWalk MapWalk::of_value(Raw map) {
    MapWalk walk;
    if (!map.empty()) walk.enter(map);
    return walk;
}

void MapWalk::enter(Raw map) {
    TypeReader outer(map);
    const auto items = outer.map();
    in_ = TypeReader(items ? items->bytes : std::string_view{});
    left_ = items ? items->count : 0;
    if (outer.failed() || !outer.at_end() || left_ % 2 != 0) in_.fail();
}

std::optional<MapWalk::Entry> MapWalk::next() {
    if (in_.failed()) return std::nullopt;
    if (left_ == 0) {
        if (!in_.at_end()) in_.fail();
        return std::nullopt;
    }
    left_ -= 2;
    Entry entry;
    entry.key = in_.raw();
    entry.value = in_.raw();
    if (in_.failed()) return std::nullopt;
    return entry;
}

std::optional<std::string_view> symbol_in(Raw value) {
    if (value.empty() || (value.front() != '\xa3' && value.front() != '\xb3')) return std::nullopt;
    TypeReader in(value);
    return in.symbol();
}

std::optional<std::string_view> string_in(Raw value) {
    if (value.empty() || (value.front() != '\xa1' && value.front() != '\xb1')) return std::nullopt;
    TypeReader in(value);
    return in.string();
}

}  // namespace revenant::amqp10
