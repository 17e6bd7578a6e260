// DeathHeaders: writes a DeathHistory to the headers x-death, x-first-death-* and x-last-death-* of
// a 0-9-1 message, and reads them from a republished message.
#pragma once

#include "message/death.h"
#include "message/value.h"

#include <optional>
#include <string>
#include <vector>

namespace revenant::amqp091 {

// Appends the x-death field of a table (DL-85 and DL-86). Requires at least one death.
void append_deaths(const std::vector<Death>& deaths, std::string& fields);

// The earlier deaths in a client's headers; invalid entries are ignored (DL-109).
std::optional<DeathHistory> history_in_headers(const Table& headers);

}  // namespace revenant::amqp091
