// DeathHeaders: a DeathHistory in the headers of a 0-9-1 message — x-death, x-first-death-* and
// x-last-death-* — written, and read from those a client published again.
#pragma once

#include "message/death.h"
#include "message/value.h"

#include <optional>
#include <string_view>
#include <vector>

namespace revenant::amqp091 {

// In the place of a field of that name.
void set_header(Table& headers, std::string_view name, Value value);

// x-death alone, DL-85 and DL-86. Nothing for no deaths.
void write_deaths(const std::vector<Death>& deaths, Table& headers);
// DL-85 to DL-90. Nothing for an empty history.
void write_history(const DeathHistory& history, Table& headers);

// What a client's own headers say of earlier deaths; entries that are none are left out (DL-109).
std::optional<DeathHistory> history_in_headers(const Table& headers);

}  // namespace revenant::amqp091
