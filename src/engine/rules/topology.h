// Topology: declare, delete, purge, bind and unbind, with RabbitMQ's checks and texts.
#pragma once

#include "base/result.h"
#include "engine/rules/turn.h"

namespace revenant::engine {

Result<void, Refusal> declare_exchange(Turn& turn, const DeclareExchange& command);
Result<void, Refusal> delete_exchange(Turn& turn, const DeleteExchange& command);
Result<QueueAnswer, Refusal> declare_queue(Turn& turn, const DeclareQueue& command);
Result<CountAnswer, Refusal> delete_queue(Turn& turn, const DeleteQueue& command);
Result<CountAnswer, Refusal> purge_queue(Turn& turn, const PurgeQueue& command);
Result<void, Refusal> bind(Turn& turn, const Bind& command);
Result<void, Refusal> unbind(Turn& turn, const Unbind& command);

// Deletes without asking: exclusive owner gone, auto-delete, expiry. Consumers are told.
void remove_queue(Turn& turn, Queue& queue);

// Frees bindings of deleted queues and exchanges, as many as the portion allows.
void free_retired_bindings(Turn& turn);

// The queue, if it exists and this connection may touch it (amqp091 8.4).
Result<Queue*, Refusal> usable_queue(Turn& turn, ConnectionId connection, std::string_view name);

// The queue was used just now: its x-expires period starts anew.
void restart_expiry(Turn& turn, Queue& queue);

}  // namespace revenant::engine
