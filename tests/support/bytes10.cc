#include "tests/support/bytes10.h"

#include "amqp10/codec/raw_fields.h"
#include "tests/support/frame_reader10.h"

#include <utility>

namespace revenant::amqp10 {

std::string frame10(FrameType type, std::uint16_t channel, std::string_view body) {
    std::string frame;
    const std::size_t begin = begin_frame(frame, type, channel);
    frame.append(body);
    end_frame(frame, begin);
    return frame;
}

std::string described_list(std::uint64_t code, const Data& fields) {
    std::string bytes;
    TypeWriter out(bytes);
    out.descriptor(code);
    out.datum(Datum::list(fields));
    return bytes;
}

std::string source_of(std::optional<std::string> address) {
    Source source;
    const std::string text = address ? encoded(Datum::string(*address)) : std::string();
    source.address = text;
    return encoded(source);
}

std::string target_of(std::optional<std::string> address) {
    Target target;
    const std::string text = address ? encoded(Datum::string(*address)) : std::string();
    target.address = text;
    return encoded(target);
}

MessageBytes& MessageBytes::header(const Header& header) {
    header_ = encoded(header);
    return *this;
}

MessageBytes& MessageBytes::annotation(std::string_view name, const Datum& value) {
    annotations_.push_back({Datum::symbol(name), value});
    return *this;
}

MessageBytes& MessageBytes::properties(const Properties& properties) {
    properties_ = encoded(properties);
    return *this;
}

MessageBytes& MessageBytes::to(std::string_view address) {
    Properties named;
    named.to = address;
    return properties(named);
}

MessageBytes& MessageBytes::property(std::string_view name, const Datum& value) {
    application_properties_.push_back({Datum::string(name), value});
    return *this;
}

MessageBytes& MessageBytes::body(std::string sections) {
    body_ = std::move(sections);
    return *this;
}

std::string MessageBytes::bytes() const {
    std::string bytes = header_;
    if (!annotations_.empty()) bytes += annotations(annotations_);
    bytes += properties_;
    if (!application_properties_.empty()) bytes += application_properties(application_properties_);
    return bytes + body_;
}

// ------------------------------------------------------------------------- received messages

std::string TakenMessage::body() const {
    return parts == nullptr ? std::string() : joined_data(parts->sections.body);
}

const Datum* TakenMessage::header_field(std::size_t index) const {
    if (parts == nullptr || index >= parts->header.size()) return nullptr;
    return &parts->header[index];
}

bool TakenMessage::flag(std::size_t index) const {
    const Datum* const field = header_field(index);
    return field != nullptr && field->as_boolean() != nullptr && *field->as_boolean();
}

std::uint64_t TakenMessage::delivery_count() const {
    const Datum* const field = header_field(4);
    return field == nullptr || field->as_unsigned() == nullptr ? 0 : *field->as_unsigned();
}

std::string TakenMessage::annotated_text(std::string_view name) const {
    const Datum* const found = parts == nullptr ? nullptr : parts->annotation(name);
    if (found == nullptr) return {};
    const std::string* const text =
        found->as_string() != nullptr ? found->as_string() : found->as_symbol();
    return text == nullptr ? text_of(*found) : *text;
}

std::int64_t TakenMessage::annotated_number(std::string_view name) const {
    const Datum* const found = parts == nullptr ? nullptr : parts->annotation(name);
    return found == nullptr || found->as_signed() == nullptr ? -1 : *found->as_signed();
}

ErrorText error_in(Raw field) {
    const auto error = composite_in<Error>(field);
    if (!error) return {};
    ErrorText told{std::string(error->condition),
                   std::string(error->description.value_or(std::string_view{})),
                   {}};
    if (!is_absent(error->info)) {
        TypeReader in(error->info);
        told.info = text_of(in.datum());
    }
    return told;
}

}  // namespace revenant::amqp10
