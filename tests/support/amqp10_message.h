// AMQP 1.0 messages for tests: building, publishing, delivering and decoding.
#pragma once

#include "amqp10/codec/descriptors.h"
#include "amqp10/codec/performatives.gen.h"
#include "amqp10/codec/sections.h"
#include "amqp10/message/delivery.h"
#include "amqp10/message/message_format.h"
#include "base/check.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace revenant::amqp10 {

inline std::string section(std::uint64_t code, const Datum& content) {
    std::string bytes;
    TypeWriter out(bytes);
    out.descriptor(code);
    out.datum(content);
    return bytes;
}

template <typename Composite>
std::string encoded(const Composite& composite) {
    std::string bytes;
    TypeWriter out(bytes);
    composite.encode(out);
    return bytes;
}

inline std::string encoded(const Datum& datum) {
    std::string bytes;
    TypeWriter(bytes).datum(datum);
    return bytes;
}

inline std::string annotations(DataMap entries) {
    return section(descriptor::message_annotations, Datum::map(std::move(entries)));
}
inline std::string application_properties(DataMap entries) {
    return section(descriptor::application_properties, Datum::map(std::move(entries)));
}
inline std::string data(std::string_view bytes) {
    return section(descriptor::data, Datum::binary(bytes));
}
inline const std::string hello_body = data("hello");

// The bytes must be a valid message.
inline MessageRef published(std::string_view bytes, std::string_view exchange = "x",
                            std::string_view routing_key = "k") {
    auto read = read_published(bytes);
    CHECK(read.has_value());
    return make_message(exchange, routing_key, read->properties, read->body, std::move(read->head));
}

inline std::string delivered_bytes(const Message& message, const Envelope* envelope = nullptr,
                                   const DeliveryInfo& facts = {}) {
    DeliveryHead head;
    std::string converted;
    const std::string_view body = render_delivery(message, envelope, facts, head, converted);
    return head.text().append(body);
}

struct Delivered {
    std::string bytes;
    Sections sections;
    Data header;
    DataMap annotations;
    Properties properties;
    DataMap application_properties;

    const Datum* annotation(std::string_view name) const { return find(annotations, name); }
    const Datum* property(std::string_view name) const {
        return find(application_properties, name);
    }
    // The names of the annotations, in order.
    std::string names() const {
        std::string names;
        for (const MapEntry& entry : annotations) names += *entry.key.as_symbol() + " ";
        return names;
    }
};

inline Datum content_in(std::string_view section) {
    TypeReader in(content_of(section));
    Datum datum = in.datum();
    CHECK(!in.failed() && in.at_end());
    return datum;
}

// Contains views into its own bytes, so it must not be moved.
inline std::unique_ptr<Delivered> take_apart(std::string bytes) {
    auto made = std::make_unique<Delivered>();
    Delivered& out = *made;
    out.bytes = std::move(bytes);
    const auto sections = split_message(out.bytes);
    CHECK(sections.has_value());
    out.sections = *sections;
    out.header = *content_in(sections->header).as_elements();
    if (!sections->message_annotations.empty()) {
        out.annotations = *content_in(sections->message_annotations).as_map();
    }
    if (!sections->properties.empty()) {
        TypeReader in(content_of(sections->properties));
        out.properties = Properties::decode(*in.list()).value();
    }
    if (!sections->application_properties.empty()) {
        out.application_properties = *content_in(sections->application_properties).as_map();
    }
    return made;
}

inline std::unique_ptr<Delivered> delivered(const Message& message,
                                            const Envelope* envelope = nullptr,
                                            const DeliveryInfo& facts = {}) {
    return take_apart(delivered_bytes(message, envelope, facts));
}

}  // namespace revenant::amqp10
