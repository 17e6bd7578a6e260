// Checks of a queue declaration: type, properties and arguments (amqp091 8.13, 8.14; DL-39 to
// DL-47). `owner` is the resource phrase: queue 'q' in vhost '/'.
#pragma once

#include "base/result.h"
#include "engine/words/queue_settings.h"
#include "engine/words/refusal.h"
#include "message/value.h"

#include <optional>
#include <string_view>

namespace revenant::engine {

struct QueueProperties {
    bool server_named = false;
    bool durable = false;
    bool exclusive = false;
    bool auto_delete = false;
};

Result<QueueKind, Refusal> queue_kind(const Table& arguments, std::string_view owner);
std::optional<Refusal> check_queue_arguments(QueueKind kind, const Table& arguments,
                                             std::string_view owner);
std::optional<Refusal> check_queue_properties(QueueKind kind, const QueueProperties& properties,
                                              std::string_view owner);

// Whether this argument is compared when a queue is redeclared. Others are stored and ignored.
bool is_known_queue_argument(QueueKind kind, std::string_view name);

}  // namespace revenant::engine
