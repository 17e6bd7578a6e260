// StoredSections: the sections of a stored AMQP 1.0 message.
#pragma once

#include "amqp10/codec/map_walk.h"
#include "amqp10/codec/performatives.gen.h"
#include "message/message.h"

#include <optional>
#include <string>
#include <string_view>

namespace revenant::amqp10 {

// Each includes its descriptor; empty if absent.
struct StoredSections {
    std::string_view message_annotations;
    std::string_view properties;
    std::string_view application_properties;
};
StoredSections stored_sections(const Message& message);

// All fields are absent if the section is.
Properties properties_in(std::string_view section);

// A message-id or correlation-id as text (amqp10 6.5); a binary one as its bytes. Nothing for any
// other type.
std::optional<std::string> id_text(Raw id);

// Calls visit(key, datum) for the entries of a map section, until one is malformed or there are
// more values than a reader creates.
template <typename Visit>
void for_each_value(std::string_view section, Visit&& visit) {
    MapWalk walk(section);
    std::uint32_t values_left = values_max;
    while (const auto entry = walk.next()) {
        TypeReader in(entry->value, values_left);
        const Datum datum = in.datum();
        if (in.failed()) return;
        values_left = in.values_left();
        visit(entry->key, datum);
    }
}

}  // namespace revenant::amqp10
