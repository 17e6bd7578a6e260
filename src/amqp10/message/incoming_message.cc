#include "amqp10/message/incoming_message.h"

#include "amqp10/codec/descriptors.h"
#include "amqp10/codec/erlang_term.h"
#include "amqp10/codec/map_walk.h"
#include "amqp10/codec/performatives.gen.h"
#include "amqp10/codec/sections.h"
#include "amqp10/message/message_format.h"

#include <utility>

namespace revenant::amqp10 {
namespace {

constexpr std::size_t key_bytes_max = 255;
// For all keys together: a stored message has 16 bits for their size.
constexpr std::size_t keys_bytes_max = 60'000;

Unexpected<PublishError> unreadable(std::string_view word) {
    return Unexpected{
        PublishError{"amqp:decode-error", "failed to parse message: " + std::string(word)}};
}

Unexpected<PublishError> bad_keys(std::string_view why) {
    return Unexpected{PublishError{"amqp:invalid-field",
                                   "bad value for 'x-cc' message-annotation: " + std::string(why)}};
}

Unexpected<PublishError> bad_keys_in(Raw value) {
    TypeReader in(value);
    return bad_keys(erlang_term(in.datum()));
}

std::string shown_key(Raw key) {
    if (const auto symbol = symbol_in(key)) return "{symbol,<<\"" + std::string(*symbol) + "\">>}";
    if (const auto text = string_in(key)) return "{utf8,<<\"" + std::string(*text) + "\">>}";
    TypeReader in(key);
    const auto number = in.ulong();
    if (number && !in.failed()) return "{ulong," + std::to_string(*number) + "}";
    return "unknown";
}

// Without a durable field, or without a header, a message is transient [3.2.1].
bool read_header(std::string_view section, MessageHead& head) {
    head.persistent = false;
    if (section.empty()) return true;
    TypeReader outer(content_of(section));
    const auto items = outer.list();
    if (!items || outer.failed() || items->count > 5) return false;
    TypeReader in(items->bytes);
    if (items->count > 0) head.persistent = in.boolean().value_or(false);
    if (items->count > 1) head.priority = in.ubyte();
    if (items->count > 2) head.ttl_ms = in.uint();
    if (items->count > 3) in.boolean();
    if (items->count > 4) in.uint();
    return !in.failed() && in.at_end();
}

Result<void, PublishError> read_keys(Raw value, std::vector<std::string>& keys) {
    TypeReader outer(value);
    const auto items = outer.list();
    if (!items || outer.failed()) return bad_keys_in(value);
    TypeReader in(items->bytes);
    std::size_t bytes = 0;
    for (std::uint32_t i = 0; i < items->count; ++i) {
        const auto key = in.string();
        if (!key || in.failed()) return bad_keys_in(value);
        // A binding key cannot be longer.
        if (key->size() > key_bytes_max) continue;
        bytes += key->size() + 1;
        if (bytes > keys_bytes_max) return bad_keys("more than 60000 bytes of keys");
        keys.emplace_back(*key);
    }
    return {};
}

// Stores the keys of x-cc in `keys`; nullptr if x-cc has no meaning.
Result<void, PublishError> check_annotations(std::string_view section,
                                             std::vector<std::string>* keys) {
    MapWalk walk(section);
    while (const auto entry = walk.next()) {
        const auto key = symbol_in(entry->key);
        if (!key || !key->starts_with("x-")) {
            return unreadable("{reserved_annotation_key," + shown_key(entry->key) + "}");
        }
        if (!is_well_formed(entry->value)) return unreadable("malformed_annotations");
        if (keys != nullptr && *key == "x-cc") {
            keys->clear();
            REVENANT_TRY_VOID(read_keys(entry->value, *keys));
        }
    }
    if (walk.failed()) return unreadable("malformed_annotations");
    return {};
}

bool are_application_properties(std::string_view section) {
    if (section.empty()) return true;
    MapWalk walk(section);
    while (const auto entry = walk.next()) {
        if (!string_in(entry->key) || !is_well_formed(entry->value)) return false;
    }
    return !walk.failed();
}

// Checks that data sections contain binary and sequences contain lists. Values may have any type.
bool is_body(const Sections& sections) {
    if (sections.body_kind == descriptor::value) return true;
    TypeReader in(sections.body);
    for (std::uint32_t i = 0; i < sections.body_sections && !in.failed(); ++i) {
        in.descriptor();
        const bool there = sections.body_kind == descriptor::data ? in.binary().has_value()
                                                                  : in.list().has_value();
        if (!there) return false;
    }
    return !in.failed();
}

bool read_properties(std::string_view section, IncomingMessage& published) {
    if (section.empty()) return true;
    TypeReader in(content_of(section));
    const auto items = in.list();
    if (!items || in.failed()) return false;
    const auto properties = Properties::decode(*items);
    if (!properties) return false;
    for (const Raw id : {properties->message_id, properties->correlation_id}) {
        if (!id.empty() && !is_well_formed(id)) return false;
    }
    published.to = properties->to;
    published.user_id = properties->user_id;
    return true;
}

std::string_view from_first(std::string_view message, std::string_view first) {
    return message.substr(static_cast<std::size_t>(first.data() - message.data()));
}

}  // namespace

Result<IncomingMessage, PublishError> read_published(std::string_view message) {
    const auto split = split_message(message);
    if (!split) return unreadable(split.error());
    const Sections& sections = *split;
    IncomingMessage published;
    published.head.format = &message_format();
    if (!read_header(sections.header, published.head)) return unreadable("malformed_header");
    if (!sections.delivery_annotations.empty()) {
        REVENANT_TRY_VOID(check_annotations(sections.delivery_annotations, nullptr));
    }
    if (!sections.message_annotations.empty()) {
        REVENANT_TRY_VOID(
            check_annotations(sections.message_annotations, &published.head.extra_keys.cc));
    }
    if (!read_properties(sections.properties, published)) return unreadable("malformed_properties");
    if (!are_application_properties(sections.application_properties)) {
        return unreadable("malformed_application_properties");
    }
    if (!is_body(sections)) return unreadable("malformed_body");
    if (!sections.footer.empty()) {
        REVENANT_TRY_VOID(check_annotations(sections.footer, nullptr));
    }
    published.body = from_first(message, sections.body);
    // These sections are adjacent and precede the body.
    for (const std::string_view section :
         {sections.message_annotations, sections.properties, sections.application_properties}) {
        if (section.empty()) continue;
        const std::string_view from_here = from_first(message, section);
        published.properties = from_here.substr(0, from_here.size() - published.body.size());
        break;
    }
    return published;
}

}  // namespace revenant::amqp10
