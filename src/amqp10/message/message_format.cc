#include "amqp10/message/message_format.h"

#include "amqp10/codec/map_walk.h"
#include "amqp10/codec/value_conversion.h"
#include "amqp10/message/death_annotations.h"
#include "amqp10/message/portable_message.h"
#include "amqp10/message/stored_sections.h"
#include "message/portable.h"

#include <utility>

namespace revenant::amqp10 {
namespace {

constexpr std::uint8_t message_format_number = 2;

void add_simple(Table& table, std::string_view name, const Datum& datum) {
    auto value = to_value(datum);
    // An application property may be null.
    if (!value || (!is_simple(*value) && !datum.is_null())) return;
    table.push_back({std::string(name), std::move(*value)});
}

// Annotations come first, so that they take precedence over properties of the same name.
Table headers_of(const Message& message) {
    const StoredSections kept = stored_sections(message);
    Table table;
    for_each_value(kept.message_annotations, [&](Raw key, const Datum& datum) {
        if (const auto name = symbol_in(key)) add_simple(table, *name, datum);
    });
    for_each_value(kept.application_properties, [&](Raw key, const Datum& datum) {
        if (const auto name = string_in(key)) add_simple(table, *name, datum);
    });
    return table;
}

std::string property_of(const Message& message, std::string_view name) {
    const Properties properties = properties_in(stored_sections(message).properties);
    if (name == "correlation_id") return id_text(properties.correlation_id).value_or("");
    if (name == "message_id") return id_text(properties.message_id).value_or("");
    if (name == "timestamp" && properties.creation_time) {
        return std::to_string(*properties.creation_time / 1000);
    }
    return {};
}

std::optional<DeathHistory> claimed_history_of(const Message& message) {
    MapWalk walk(stored_sections(message).message_annotations);
    while (const auto entry = walk.next()) {
        if (symbol_in(entry->key) != "x-opt-deaths") continue;
        DeathHistory history;
        history.deaths = read_deaths(entry->value);
        if (history.deaths.empty()) return std::nullopt;
        const Death& oldest = history.deaths.back();
        history.first = {oldest.queue, oldest.reason, oldest.exchange};
        return history;
    }
    return std::nullopt;
}

}  // namespace

const MessageFormat& message_format() {
    static constexpr MessageFormat format{.number = message_format_number,
                                          .headers = headers_of,
                                          .property = property_of,
                                          .claimed_history = claimed_history_of,
                                          .portable = portable_message,
                                          .size_includes_properties = true};
    return format;
}

}  // namespace revenant::amqp10
