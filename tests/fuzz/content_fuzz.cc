// Content headers and properties: decoded properties encode to the same bytes.
#include "amqp091/codec/frame.h"
#include "amqp091/message/content.h"
#include "base/check.h"

#include <cstdint>
#include <string>
#include <string_view>

using namespace revenant::amqp091;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view payload(reinterpret_cast<const char*>(data), size);
    const auto header = ContentHeader::decode(payload);
    CHECK(header.has_value() == (size >= header_payload_bytes_min));
    if (!header.has_value()) return 0;

    if (header->class_id == BasicPublish::class_id && header->weight == 0) {
        std::string frame;
        append_content_header(frame, 1, header->body_size, header->properties);
        const FrameResult cut = read_frame(frame, 0);
        CHECK(cut.outcome == FrameResult::Outcome::frame);
        CHECK(cut.frame.payload == payload);
    }

    const auto properties = decode_properties(header->properties);
    if (!properties.has_value()) {
        CHECK(!describe(properties.error()).empty());
        return 0;
    }
    std::string encoded;
    encode_properties(*properties, encoded);
    CHECK(encoded == header->properties);
    CHECK(*decode_properties(encoded) == *properties);
    // A proper prefix of a valid list is never valid.
    CHECK(!decode_properties(header->properties.substr(0, encoded.size() - 1)).has_value());
    return 0;
}
