#include "amqp10/codec/sections.h"

#include "amqp10/codec/descriptors.h"
#include "amqp10/codec/performatives.gen.h"
#include "amqp10/codec/type_reader.h"

#include <utility>

namespace revenant::amqp10 {
namespace {

// The order of sections. All sections of a body are one step.
enum class Step : std::uint8_t {
    header,
    delivery_annotations,
    message_annotations,
    properties,
    application_properties,
    body,
    footer,
    unknown,
};

Step step_of(std::uint64_t code) {
    switch (code) {
        case Header::descriptor_code:
            return Step::header;
        case descriptor::delivery_annotations:
            return Step::delivery_annotations;
        case descriptor::message_annotations:
            return Step::message_annotations;
        case Properties::descriptor_code:
            return Step::properties;
        case descriptor::application_properties:
            return Step::application_properties;
        case descriptor::data:
        case descriptor::sequence:
        case descriptor::value:
            return Step::body;
        case descriptor::footer:
            return Step::footer;
        default:
            return Step::unknown;
    }
}

std::string_view* place_of(Sections& sections, Step step) {
    switch (step) {
        case Step::header:
            return &sections.header;
        case Step::delivery_annotations:
            return &sections.delivery_annotations;
        case Step::message_annotations:
            return &sections.message_annotations;
        case Step::properties:
            return &sections.properties;
        case Step::application_properties:
            return &sections.application_properties;
        case Step::body:
            return &sections.body;
        case Step::footer:
            return &sections.footer;
        case Step::unknown:
            break;
    }
    return nullptr;
}

// A body may have several data or sequence sections, but only one value.
bool may_follow(const Sections& sections, std::uint64_t code) {
    return sections.body_sections == 0 || (code == sections.body_kind && code != descriptor::value);
}

}  // namespace

Result<Sections, std::string> split_message(std::string_view message) {
    Sections sections;
    Step last = Step::header;
    bool first = true;
    TypeReader in(message);
    while (!in.at_end()) {
        const std::string_view before = in.rest();
        const auto code = in.descriptor();
        in.raw();
        if (!code || in.failed()) return Unexpected{std::string("malformed_section")};
        const std::string_view section = before.substr(0, before.size() - in.rest().size());
        const Step step = step_of(*code);
        std::string_view* const place = place_of(sections, step);
        if (place == nullptr) return Unexpected{std::string("unknown_section")};
        const bool repeated = !first && step == last && step != Step::body;
        if ((!first && step < last) || repeated) {
            return Unexpected{std::string("section_out_of_order")};
        }
        if (step == Step::body) {
            if (!may_follow(sections, *code)) return Unexpected{std::string("mixed_body_sections")};
            sections.body_kind = *code;
            sections.body_sections += 1;
            const char* const begin = place->empty() ? section.data() : place->data();
            const auto size = static_cast<std::size_t>(section.data() + section.size() - begin);
            *place = {begin, size};
        } else {
            *place = section;
        }
        last = step;
        first = false;
    }
    if (sections.body_sections == 0) {
        return Unexpected{std::string("missing_amqp_message_body")};
    }
    return sections;
}

std::string_view content_of(std::string_view section) {
    TypeReader in(section);
    in.descriptor();
    return in.failed() ? std::string_view{} : in.rest();
}

std::string joined_data(std::string_view body) {
    std::string joined;
    TypeReader in(body);
    while (!in.at_end() && !in.failed()) {
        in.descriptor();
        if (const auto bytes = in.binary(); bytes && !in.failed()) joined += *bytes;
    }
    return joined;
}

}  // namespace revenant::amqp10
