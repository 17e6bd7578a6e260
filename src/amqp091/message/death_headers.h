// DeathHeaders: a DeathHistory in the headers of a 0-9-1 message — x-death, x-first-death-* and
// x-last-death-* — written, and read from those a client published again.
#pragma once

#include "message/death.h"
#include "message/value.h"

#include <optional>
#include <string>
#include <vector>

namespace revenant::amqp091 {

// Appends the field x-death of a table (DL-85 and DL-86). There is a death at least.
void append_deaths(const std::vector<Death>& deaths, std::string& fields);

// What a client's own headers say of earlier deaths; entries that are none are left out (DL-109).
std::optional<DeathHistory> history_in_headers(const Table& headers);

}  // namespace revenant::amqp091
