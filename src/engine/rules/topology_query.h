// Read-only queries of clients about the topology.
#pragma once

#include "base/result.h"
#include "engine/rules/turn.h"

namespace revenant::engine {

Result<void, Refusal> check_target(Turn& turn, const CheckTarget& command);
Result<QueueDescription, Refusal> describe_queue(Turn& turn, const DescribeQueue& command);
Result<BindingsAnswer, Refusal> list_bindings(Turn& turn, const ListBindings& command);

}  // namespace revenant::engine
