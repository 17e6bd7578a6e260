// Views of dead-letter paths, according to the current settings and bindings.
#include "base/check.h"
#include "engine/state/routing.h"
#include "engine/view/query.h"

#include <utility>

namespace revenant::engine {
namespace {

// A message of which only the key is known.
const MessageFormat& empty_format() {
    static const MessageFormat format{
        .number = 0,
        .headers = [](const Message&) { return Table{}; },
        .property = [](const Message&, std::string_view) { return std::string(); },
        .claimed_history = [](const Message&) -> std::optional<DeathHistory> {
            return std::nullopt;
        }};
    return format;
}

DeadLetterSource view_source(const Queue& queue) {
    DeadLetterSource source;
    source.id = queue.id();
    source.queue = queue.name();
    source.exchange = queue.settings.dead_letter_exchange;
    source.routing_key = queue.settings.dead_letter_routing_key;
    if (queue.deaths) source.deaths = *queue.deaths;
    return source;
}

DeadLetterReach find_reach(State& state, const DeadLetterAddress& address) {
    DeadLetterReach reach;
    Exchange* const exchange = state.find_exchange(address.exchange);
    if (exchange == nullptr) return reach;
    reach.exchange_type = to_string(exchange->declaration.type);
    if (!address.routing_key) {
        reach.any_behind = true;
        return reach;
    }
    MessageHead head;
    head.format = &empty_format();
    const MessageRef message = make_message(address.exchange, *address.routing_key, "", "", head);
    RoutingResult result;
    route(state, *exchange, RoutingInput(*message), result);
    reach.any_behind = !result.by_key_only;
    if (reach.any_behind) return reach;
    reach.queues.reserve(result.queues.size());
    for (const Queue* queue : result.queues) reach.queues.push_back(queue->id());
    return reach;
}

}  // namespace

ListPart<DeadLetterSource> next_dead_letter_sources(Engine& engine, std::uint64_t after) {
    ListPart<DeadLetterSource> part;
    const Roster<Queue>& queues = engine.state().queues();
    const auto seen = queues.walk(after, part_steps_max, [&](const Queue& queue) {
        if (queue.settings.dead_letter_exchange || queue.deaths) {
            part.items.push_back(view_source(queue));
        }
        return part.items.size() < part_items_max;
    });
    part.last = seen.last;
    part.newest = queues.newest();
    part.all = seen.all;
    return part;
}

std::optional<DeadLetterSource> find_dead_letter_source(Engine& engine, std::string_view name) {
    const Queue* const queue = engine.state().find_queue(name);
    return queue == nullptr ? std::nullopt : std::optional(view_source(*queue));
}

std::vector<DeadLetterReach> find_dead_letter_reaches(
    Engine& engine, std::span<const DeadLetterAddress> addresses) {
    std::vector<DeadLetterReach> reaches;
    std::size_t queues = 0;
    for (const DeadLetterAddress& address : addresses) {
        if (reaches.size() == part_items_max || queues >= part_steps_max) break;
        reaches.push_back(find_reach(engine.state(), address));
        queues += reaches.back().queues.size();
    }
    return reaches;
}

std::vector<std::string> find_queue_names(Engine& engine, std::span<const QueueId> ids) {
    CHECK(ids.size() <= part_steps_max);
    std::vector<std::string> names;
    names.reserve(ids.size());
    for (const QueueId id : ids) {
        const Queue* const queue = engine.state().find_queue(id);
        names.push_back(queue == nullptr ? std::string() : queue->name());
    }
    return names;
}

std::optional<DeadLetterRest> find_dead_letter_rest(Engine& engine, std::string_view name) {
    Queue* const queue = engine.state().find_queue(name);
    if (queue == nullptr) return std::nullopt;
    DeadLetterRest rest;
    rest.kind = queue->declaration.kind;
    rest.messages = queue->message_count();
    rest.ready = queue->ready_count();
    rest.bytes = queue->ready_bytes() + queue->unacked_bytes() + queue->delayed().bytes +
                 queue->outbox().bytes;
    rest.consumers = queue->consumers.all.size();
    rest.goes_on = queue->settings.dead_letter_exchange.has_value();
    rest.oldest = queue->head_died_at();
    return rest;
}

}  // namespace revenant::engine
