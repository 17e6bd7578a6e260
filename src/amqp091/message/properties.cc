#include "amqp091/message/properties.h"

#include "amqp091/codec/table.h"
#include "amqp091/message/added_headers.h"
#include "amqp091/message/death_headers.h"
#include "amqp091/message/foreign_content.h"
#include "amqp091/message/spliced_properties.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace revenant::amqp091 {
namespace {

constexpr std::string_view direct_reply_to = "amq.rabbitmq.reply-to";
constexpr std::size_t short_string_bytes_max = 255;
// For CC and BCC together: a stored message has 16 bits for their size.
constexpr std::size_t extra_keys_bytes_max = 60'000;

Unexpected<PropertiesError> malformed(std::string text) {
    return Unexpected{PropertiesError{PropertiesError::Kind::malformed, std::move(text)}};
}

Unexpected<PropertiesError> refused(std::string text) {
    return Unexpected{PropertiesError{PropertiesError::Kind::refused, std::move(text)}};
}

Table headers_of(const Message& message) {
    const auto properties = decode_properties(message.properties());
    if (!properties || !properties->has(Property::headers)) return {};
    auto table = decode_table(properties->headers);
    return table ? std::move(table).value() : Table{};
}

std::string property_of(const Message& message, std::string_view name) {
    const auto properties = decode_properties(message.properties());
    if (!properties) return {};
    if (name == "correlation_id" && properties->has(Property::correlation_id)) {
        return std::string(properties->correlation_id);
    }
    if (name == "message_id" && properties->has(Property::message_id)) {
        return std::string(properties->message_id);
    }
    if (name == "timestamp" && properties->has(Property::timestamp)) {
        return std::to_string(properties->timestamp);
    }
    return {};
}

std::optional<DeathHistory> claimed_history_of(const Message& message) {
    return history_in_headers(headers_of(message));
}

// An optional sign and digits, nothing else (DL-124).
Result<std::int64_t, PropertiesError> parse_expiration(std::string_view text) {
    const auto invalid = [&](const std::string& detail) {
        return refused("invalid expiration '" + std::string(text) + "': " + detail);
    };
    std::string_view digits = text;
    const bool negative = !digits.empty() && digits.front() == '-';
    if (negative || (!digits.empty() && digits.front() == '+')) digits.remove_prefix(1);
    const std::size_t length = std::min(digits.find_first_not_of("0123456789"), digits.size());
    if (length == 0) return invalid("no_integer");
    const std::string_view rest = digits.substr(length);
    if (!rest.empty()) return invalid("{leftover_string,\"" + std::string(rest) + "\"}");
    std::string_view significant = digits.substr(std::min(digits.find_first_not_of('0'), length));
    const std::string shown = significant.empty() ? "0" : std::string(significant);
    if (negative && shown != "0") return invalid("{value_negative,-" + shown + "}");
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(shown.data(), shown.data() + shown.size(), value);
    if (error != std::errc{} || value > duration_ms_max)
        return invalid("{value_too_large," + shown + "}");
    return value;
}

Result<void, PropertiesError> read_keys(std::string_view name, char type_tag, std::string_view raw,
                                        std::vector<std::string>& keys) {
    if (type_tag != 'A') {
        const auto value = decode_value(type_tag, raw);
        const std::string_view type = value ? type_name(value->type) : "unknown";
        return refused("invalid message: {unacceptable_type_in_header,\"" + std::string(name) +
                       "\"," + std::string(type) + "}");
    }
    const auto elements = decode_array(raw);
    if (!elements) return malformed(describe(elements.error()));
    for (const Value& element : *elements) {
        // A key that does not fit in a short string cannot be bound.
        if (const std::string* key = element.as_string();
            key != nullptr && key->size() <= short_string_bytes_max) {
            keys.push_back(*key);
        }
    }
    return {};
}

std::size_t size_of(const ExtraKeys& keys) {
    std::size_t size = 0;
    for (const std::string& key : keys.cc) size += key.size() + 1;
    for (const std::string& key : keys.bcc) size += key.size() + 1;
    return size;
}

}  // namespace

const MessageFormat& message_format() {
    static constexpr MessageFormat format{message_format_number, headers_of, property_of,
                                          claimed_history_of, portable_message};
    return format;
}

Result<PublishedProperties, PropertiesError> read_published(std::string_view bytes,
                                                            std::string_view reply_name,
                                                            ExpirationForm form) {
    auto decoded = decode_properties(bytes);
    if (!decoded) return malformed(std::string(describe(decoded.error())));
    BasicProperties properties = *decoded;
    PublishedProperties published;
    published.head.format = &message_format();
    published.head.persistent =
        properties.has(Property::delivery_mode) && properties.delivery_mode == 2;
    if (properties.has(Property::priority)) published.head.priority = properties.priority;
    if (properties.has(Property::user_id)) {
        published.has_user_id = true;
        published.user_id = properties.user_id;
    }
    bool rewrite = false;
    if (properties.has(Property::reply_to) && properties.reply_to == direct_reply_to) {
        if (reply_name.empty()) return refused("fast reply consumer does not exist");
        properties.reply_to = reply_name;
        rewrite = true;
    }
    std::string plain_expiration;
    if (properties.has(Property::expiration)) {
        REVENANT_TRY(published.head.ttl_ms, parse_expiration(properties.expiration));
        // The number has no sign and no leading zeros.
        if (form == ExpirationForm::number && properties.expiration.front() < '1' &&
            properties.expiration != "0") {
            plain_expiration = std::to_string(*published.head.ttl_ms);
            properties.expiration = plain_expiration;
            rewrite = true;
        }
    }
    bool has_bcc = false;
    std::string headers_without_bcc;
    if (properties.has(Property::headers)) {
        FieldWalk walk(properties.headers);
        while (const auto field = walk.next()) {
            if (field->name == "CC") {
                REVENANT_TRY_VOID(read_keys(field->name, field->type_tag, field->raw,
                                            published.head.extra_keys.cc));
            } else if (field->name == "BCC") {
                REVENANT_TRY_VOID(read_keys(field->name, field->type_tag, field->raw,
                                            published.head.extra_keys.bcc));
                has_bcc = rewrite = true;
            }
        }
        if (walk.error()) return malformed(describe(*walk.error()));
        if (size_of(published.head.extra_keys) > extra_keys_bytes_max) {
            return refused("invalid message: more than 60000 bytes of keys in CC and BCC");
        }
        if (has_bcc) {
            Table table = decode_table(properties.headers).value();
            std::erase_if(table, [](const Field& field) { return field.name == "BCC"; });
            encode_table(table, headers_without_bcc);
            properties.headers = headers_without_bcc;
        }
    }
    if (rewrite) {
        published.rewritten.emplace();
        encode_properties(properties, *published.rewritten);
    }
    return published;
}

std::string render_properties(const Message& message, const EnvelopeRef& envelope,
                              engine::ShownCounts counts) {
    AddedHeadersRef scratch;
    const AddedHeaders& added = *added_headers(envelope, scratch);
    return SplicedProperties(message.properties(), added, counts).text();
}

}  // namespace revenant::amqp091
