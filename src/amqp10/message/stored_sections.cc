#include "amqp10/message/stored_sections.h"

#include "amqp10/codec/descriptors.h"
#include "amqp10/codec/sections.h"
#include "amqp10/codec/value_conversion.h"

namespace revenant::amqp10 {

StoredSections stored_sections(const Message& message) {
    StoredSections kept;
    TypeReader in(message.properties());
    while (!in.at_end()) {
        TypeReader peek(in.rest());
        const auto code = peek.descriptor();
        const std::string_view section = in.raw();
        if (code == descriptor::message_annotations) kept.message_annotations = section;
        if (code == Properties::descriptor_code) kept.properties = section;
        if (code == descriptor::application_properties) kept.application_properties = section;
    }
    return kept;
}

Properties properties_in(std::string_view section) {
    if (section.empty()) return {};
    TypeReader in(content_of(section));
    const auto items = in.list();
    if (!items || in.failed()) return {};
    return Properties::decode(*items).value_or(Properties{});
}

std::optional<std::string> id_text(Raw id) {
    TypeReader in(id);
    const Datum datum = in.datum();
    if (id.empty() || in.failed()) return std::nullopt;
    switch (datum.type) {
        case Type::ulong:
            return std::to_string(*datum.as_unsigned());
        case Type::uuid:
            return uuid_to_urn(std::get<std::string>(datum.content));
        case Type::binary:
        case Type::string:
            return std::get<std::string>(datum.content);
        default:
            return std::nullopt;
    }
}

}  // namespace revenant::amqp10
