// DeathAnnotations: a DeathHistory in the message annotations of AMQP 1.0 — x-opt-deaths,
// x-first-death-* and x-last-death-* — written, and read from those a client published.
#pragma once

#include "amqp10/codec/type_reader.h"
#include "amqp10/codec/type_writer.h"
#include "message/death.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace revenant::amqp10 {

// Adds entries to a map that is being written (DL-91 to DL-94); the answer is how many.
std::uint32_t write_history(TypeWriter& out, const DeathHistory& history);

// Does write_history add an annotation of that name?
bool is_death_annotation(std::string_view name);

// The value of x-opt-deaths; nothing if it is not exactly what write_history writes (DL-103).
std::vector<Death> read_deaths(Raw value);

}  // namespace revenant::amqp10
