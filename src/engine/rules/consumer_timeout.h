// Consumer timeout: a consumer that keeps a message of a quorum queue too long loses it (amqp091
// 11.17, amqp10 5.27). How long is too long its own argument says, or the queue's argument and
// policy, or the configuration; 0 is any time.
#pragma once

#include "engine/rules/turn.h"

#include <optional>

namespace revenant::engine {

// None: any time. Without a consumer, of basic.get.
std::optional<Duration> timeout_of(const EngineSettings& settings, const Queue& queue,
                                   const Consumer* consumer);
// A message was handed out; without a consumer, to basic.get.
void start_delivery_timeout(Turn& turn, Channel& channel, const Queue& queue,
                            const Consumer* consumer);
// A look at the channel's deliveries: those kept too long go back to their queues, and their
// consumers get what they agreed to. If that is the end of the channel, the refusal says why.
std::optional<Refusal> enforce_timeouts(Turn& turn, Channel& channel);
// Settings have changed: whatever is too late by them is given back.
void recheck_timeouts(Turn& turn);

}  // namespace revenant::engine
