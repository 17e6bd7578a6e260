// Scenario: messages in the test format, and deliveries.
#include "base/check.h"
#include "tests/support/scenario.h"

#include <utility>

namespace revenant::engine {
namespace {

// The test format: properties = { name NUL type NUL value NUL }. Names of properties start with
// '@', all others are headers.

char type_tag_of(ValueType type) { return static_cast<char>('a' + static_cast<int>(type)); }

void append_field(std::string& out, std::string_view prefix, const Field& field) {
    out += prefix;
    out += field.name;
    out += '\0';
    out += type_tag_of(field.value.type);
    out += '\0';
    out += display(field.value);
    out += '\0';
}

Value parse_value(char letter, const std::string& text) {
    const auto type = static_cast<ValueType>(letter - 'a');
    switch (type) {
        case ValueType::void_value:
            return Value::nothing();
        case ValueType::boolean:
            return Value::boolean(text == "true");
        case ValueType::float32:
        case ValueType::float64:
            return {type, std::stod(text)};
        case ValueType::long_string:
        case ValueType::binary:
            return {type, text};
        case ValueType::decimal:
        case ValueType::array:
        case ValueType::table:
            UNREACHABLE();  // not needed as a header in any engine test
        default:
            return {type, static_cast<std::int64_t>(std::stoll(text))};
    }
}

Table parse_fields(std::string_view properties, bool headers) {
    std::vector<std::string> parts;
    for (std::size_t start = 0; start < properties.size();) {
        const std::size_t end = properties.find('\0', start);
        parts.emplace_back(properties.substr(start, end - start));
        start = end + 1;
    }
    Table table;
    for (std::size_t i = 0; i + 2 < parts.size(); i += 3) {
        const bool is_header = !parts[i].starts_with('@');
        if (is_header != headers) continue;
        table.push_back(
            {parts[i].substr(is_header ? 0 : 1), parse_value(parts[i + 1][0], parts[i + 2])});
    }
    return table;
}

const MessageFormat test_format{
    0,
    [](const Message& message) { return parse_fields(message.properties(), true); },
    [](const Message& message, std::string_view name) {
        const Table properties = parse_fields(message.properties(), false);
        const Value* const value = find(properties, name);
        return value == nullptr ? std::string() : display(*value);
    },
    [](const Message&) { return std::optional<DeathHistory>{}; },
};

}  // namespace

Table arguments(std::initializer_list<Argument> given) {
    Table table;
    for (const Argument& argument : given) table.push_back(argument.field);
    return table;
}

Value real(double number) { return {ValueType::float64, number}; }

const MessageFormat& test_message_format() { return test_format; }

MessageRef make_test_message(std::string_view routing_key, std::string_view body,
                             const PublishOptions& options) {
    std::string properties;
    for (const Field& field : options.headers) append_field(properties, "", field);
    for (const Field& field : options.properties) append_field(properties, "@", field);
    MessageHead head;
    head.format = &test_format;
    head.persistent = options.persistent;
    head.priority = options.priority;
    head.ttl_ms = options.ttl_ms;
    head.extra_keys = {options.cc, options.bcc};
    return make_message(options.exchange, routing_key, properties, body, std::move(head));
}

std::string Delivery::exchange() const {
    return envelope ? envelope->exchange : std::string(message->exchange());
}

std::string Delivery::routing_key() const {
    return envelope ? envelope->routing_keys.front() : std::string(message->routing_key());
}

std::vector<std::string> Delivery::deaths() const {
    std::vector<std::string> told;
    if (!envelope) return told;
    for (const Death& death : envelope->history.deaths) {
        told.push_back(death.queue + ' ' + std::string(to_string(death.reason)) + ' ' +
                       std::to_string(death.count));
    }
    return told;
}

}  // namespace revenant::engine
