// Sections: the undecoded parts of an AMQP 1.0 message [3.2]. The bare message, which starts with
// the properties, is stored and delivered unchanged (amqp10 5.20).
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace revenant::amqp10 {

struct Sections {
    // Each includes its descriptor; empty if absent.
    std::string_view header;
    std::string_view delivery_annotations;
    std::string_view message_annotations;
    std::string_view properties;
    std::string_view application_properties;
    std::string_view body;  // all its sections
    std::string_view footer;
    std::uint64_t body_kind = 0;  // descriptor of the first body section
    std::uint32_t body_sections = 0;
};

// The error is RabbitMQ's name for it.
Result<Sections, std::string> split_message(std::string_view message);
// The bytes after the descriptor of a section.
std::string_view content_of(std::string_view section);
// The concatenated bytes of the data sections of a body.
std::string joined_data(std::string_view body);

}  // namespace revenant::amqp10
