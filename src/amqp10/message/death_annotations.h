// DeathAnnotations: writes a DeathHistory to the AMQP 1.0 message annotations x-opt-deaths,
// x-first-death-* and x-last-death-*, and reads them from a published message.
#pragma once

#include "amqp10/codec/type_reader.h"
#include "amqp10/codec/type_writer.h"
#include "message/death.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace revenant::amqp10 {

// Adds entries to a map that is being written (DL-91 to DL-94) and returns their number.
std::uint32_t write_history(TypeWriter& out, const DeathHistory& history);

// Whether write_history adds an annotation with that name.
bool is_death_annotation(std::string_view name);

// Reads the value of x-opt-deaths; empty unless it has exactly the form that write_history writes
// (DL-103).
std::vector<Death> read_deaths(Raw value);

}  // namespace revenant::amqp10
