#include "amqp10/links/consumer_annotations.h"

#include "amqp10/codec/map_walk.h"
#include "amqp10/codec/value_conversion.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace revenant::amqp10 {
namespace {

// For 0-9-1: strings, integers and booleans (DL-100).
Value simple_form(Raw value) {
    TypeReader in(value);
    auto converted = to_value(in.datum());
    if (in.failed() || !converted) return Value::nothing();
    if (const std::int64_t* number = converted->as_integer()) return Value::int64(*number);
    const bool shown = converted->as_string() != nullptr || converted->as_boolean() != nullptr;
    return shown ? std::move(*converted) : Value::nothing();
}

}  // namespace

Result<std::vector<Annotation>, std::string> read_consumer_annotations(Raw map) {
    std::vector<Annotation> annotations;
    std::unordered_map<std::string_view, std::size_t> places;
    MapWalk walk = MapWalk::of_value(map);
    while (const auto entry = walk.next()) {
        const auto key = symbol_in(entry->key);
        if (!key || !key->starts_with("x-")) {
            return Unexpected{
                std::string("message-annotations key is not a symbol starting with x-")};
        }
        if (!is_well_formed(entry->value)) {
            return Unexpected{"the value of message-annotation " + std::string(*key) +
                              " is malformed"};
        }
        Annotation annotation{std::string(*key), std::string(entry->value),
                              simple_form(entry->value)};
        const auto [place, is_new] = places.try_emplace(*key, annotations.size());
        if (is_new) {
            annotations.push_back(std::move(annotation));
        } else {
            annotations[place->second] = std::move(annotation);
        }
    }
    if (walk.failed()) return Unexpected{std::string("message-annotations is not a map")};
    return annotations;
}

std::optional<Timestamp> delivery_time_in(const std::vector<Annotation>& annotations) {
    constexpr std::int64_t latest_ms = std::int64_t{1} << 43;  // in the year 2248
    for (const Annotation& annotation : annotations) {
        if (annotation.key != "x-opt-delivery-time") continue;
        TypeReader in(annotation.encoded);
        const Datum datum = in.datum();
        const std::int64_t* const ms = datum.as_signed();
        if (ms != nullptr) return Timestamp{std::clamp<std::int64_t>(*ms, 0, latest_ms) * 1000};
    }
    return std::nullopt;
}

}  // namespace revenant::amqp10
