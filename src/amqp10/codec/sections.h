// Sections: the parts of a message in AMQP 1.0, found but not read [3.2]. The bare message, from
// the properties on, is kept as it came and goes out the same (amqp10 5.20).
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace revenant::amqp10 {

struct Sections {
    // Each with its descriptor; empty if it is not there.
    std::string_view header;
    std::string_view delivery_annotations;
    std::string_view message_annotations;
    std::string_view properties;
    std::string_view application_properties;
    std::string_view body;  // all sections of it
    std::string_view footer;
    std::uint64_t body_kind = 0;  // descriptor of its first section
    std::uint32_t body_sections = 0;
};

// The error is RabbitMQ's word for what is wrong.
Result<Sections, std::string> split_message(std::string_view message);
// What stands behind the descriptor of a section.
std::string_view content_of(std::string_view section);
// The bytes of a body of data sections, put together.
std::string joined_data(std::string_view body);

}  // namespace revenant::amqp10
