// Consumer timeout: a consumer that does not settle a delivery of a quorum queue in time loses it
// (amqp091 11.17, amqp10 5.27). The timeout is the consumer's argument, else the queue's argument
// or policy, else the configuration's value; 0 means none.
#pragma once

#include "engine/rules/turn.h"

#include <optional>

namespace revenant::engine {

// Absent: no timeout. `consumer` is nullptr for basic.get.
std::optional<Duration> timeout_of(const EngineSettings& settings, const Queue& queue,
                                   const Consumer* consumer);
// A message was delivered; `consumer` is nullptr for basic.get.
void start_delivery_timeout(Turn& turn, Channel& channel, const Queue& queue,
                            const Consumer* consumer);
// Checks the channel's deliveries: overdue ones are requeued, and their consumers are treated
// according to their TimeoutAction. If the channel has to be closed, returns the refusal.
std::optional<Refusal> enforce_timeouts(Turn& turn, Channel& channel);
// Called after a change of settings: requeues deliveries that are overdue under the new ones.
void recheck_timeouts(Turn& turn);

}  // namespace revenant::engine
