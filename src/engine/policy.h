// Arguments (and, with the dead-letter issue, policies) to the settings in force.
#pragma once

#include "engine/queue.h"
#include "engine/refusal.h"
#include "message/value.h"

#include <optional>
#include <string_view>

namespace revenant::engine {

QueueSettings settings_in_force(const Table& arguments);

// What a queue declaration asks of its arguments (amqp091 8.13, 8.14; DL-39 to DL-43).
// `owner` is the resource phrase: queue 'q' in vhost '/'.
std::optional<Refusal> check_queue_arguments(const Table& arguments, std::string_view owner);

// Is this argument compared when a queue is declared again? Others are stored and ignored.
bool is_known_queue_argument(std::string_view name);

}  // namespace revenant::engine
