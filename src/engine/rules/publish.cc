#include "engine/rules/publish.h"

#include "base/check.h"
#include "base/probe.h"
#include "engine/rules/dead_letter.h"
#include "engine/rules/dispatch.h"
#include "engine/rules/expiry.h"
#include "engine/rules/overflow.h"
#include "engine/rules/transaction.h"
#include "engine/state/routing.h"

#include <string_view>
#include <utility>

namespace revenant::engine {
namespace {

constexpr std::string_view reply_prefix = "amq.rabbitmq.reply-to.";

std::size_t cache_line(std::string_view exchange, std::string_view routing_key) {
    // Spreads a few keys over a few lines; a collision only costs a lookup.
    const auto last = routing_key.empty() ? 0U : static_cast<unsigned char>(routing_key.back());
    return (routing_key.size() * 7 + exchange.size() + last) % RouteCache::line_count;
}

// The queues for exchange and key; from the channel's cache while the topology is unchanged.
const std::vector<Queue*>& find_queues(Turn& turn, Channel& channel, Exchange& exchange,
                                       const Message& message, RoutingResult& scratch) {
    const std::string_view key = message.routing_key();
    const bool cacheable = message.extra_keys() == nullptr;
    if (channel.routes.lines.empty()) channel.routes.lines.resize(RouteCache::line_count);
    RouteCache::Line& line = channel.routes.lines[cache_line(exchange.name(), key)];
    if (cacheable && line.topology_version == turn.state().topology_version() &&
        line.routing_key == key && line.exchange == exchange.name()) {
        return line.queues;
    }
    route(turn.state(), exchange, RoutingInput(message), scratch);
    if (cacheable && scratch.by_key_only) {
        line.exchange = exchange.name();
        line.routing_key = key;
        line.topology_version = turn.state().topology_version();
        line.queues = scratch.queues;
        return line.queues;
    }
    return scratch.queues;
}

// Replies are not queued while their consumer is paused. This many bytes are still sent to it;
// further replies are unroutable.
constexpr std::uint64_t excess_reply_bytes_max = 16 * 1024 * 1024;

bool has_room_for_reply(Channel& channel, const Message& message) {
    if (channel.takes_deliveries()) {
        channel.excess_reply_bytes = 0;
        return true;
    }
    if (channel.excess_reply_bytes >= excess_reply_bytes_max) {
        PROBE("publish.reply_dropped");
        return false;
    }
    channel.excess_reply_bytes += message.memory_bytes();
    return true;
}

// A reply to a direct reply-to consumer goes directly to its channel (amqp091 14.3).
bool deliver_reply(Turn& turn, const Message& message, const MessageRef& reference) {
    Channel* const channel = turn.attached().find_reply_channel(message.routing_key());
    if (channel == nullptr || !has_room_for_reply(*channel, message)) return false;
    Deliver delivery;
    delivery.channel = channel->id;
    delivery.consumer = channel->reply_consumer;
    delivery.delivery = channel->unsettled.skip();
    delivery.message = reference;
    ClientTraffic& traffic = turn.state().traffic().of(channel->protocol);
    traffic.consumed_from(QueueKind::classic).delivered_auto_ack += 1;
    channel->stats.consumed.delivered_auto_ack += 1;
    if (!turn.effects().deliver(std::move(delivery))) channel->connection->paused = true;
    return true;
}

// Returns whether the queue accepted the message.
bool enqueue_in(Turn& turn, const Exchange& exchange, Queue& queue, const MessageRef& message) {
    if (refuses_publish(turn, queue, *message)) {
        turn.state().traffic().refused_by_queue += 1;
        if (queue.settings.overflow == Overflow::reject_publish_dlx)
            dead_letter_refused(turn, queue, message, {});
        return false;
    }
    const Timestamp deadline = deadline_for(turn, queue, message->ttl_ms());
    turn.enqueue(queue, message, deadline);
    queue.published_from.come_through(exchange.roster_place.number(), exchange.name(),
                                      queue.stats.published);
    queue.stats.published += 1;
    turn.state().traffic().queue_publishes += 1;
    if (deadline <= turn.now()) dispatch_zero_ttl(turn, queue);
    turn.add_to_worklist(queue);
    return true;
}

// The result of routing a message to queues.
struct PublishResult {
    std::uint64_t count = 0;
    const Queue* full_queue = nullptr;  // the first that refused it
};

PublishResult enqueue_in_queues(Turn& turn, Channel& channel, Exchange& exchange,
                                const Publish& command) {
    const Message& message = *command.message;
    PublishResult places;
    if (message.exchange().empty() && message.routing_key().starts_with(reply_prefix)) {
        if (deliver_reply(turn, message, command.message)) places.count += 1;
    }
    RoutingResult scratch;
    exchange.published_in += 1;
    for (Queue* const queue : find_queues(turn, channel, exchange, message, scratch)) {
        places.count += 1;
        exchange.published_out += 1;
        const bool taken = enqueue_in(turn, exchange, *queue, command.message);
        if (places.count % 8 == 0) turn.portion().spend(1);
        if (!taken && places.full_queue == nullptr) places.full_queue = queue;
    }
    return places;
}

void drop_or_return(Turn& turn, Channel& channel, Exchange* exchange, const Publish& command) {
    ClientTraffic& traffic = turn.state().traffic().of(channel.protocol);
    if (!command.mandatory) {
        traffic.unroutable_dropped += 1;
        channel.stats.unroutable_dropped += 1;
        if (exchange != nullptr) exchange->unroutable_dropped += 1;
        return;
    }
    traffic.unroutable_returned += 1;
    channel.stats.unroutable_returned += 1;
    if (exchange != nullptr) exchange->unroutable_returned += 1;
    turn.effects().request(
        ReturnUnroutable{command.channel, command.message, command.confirm_sequence});
}

void confirm(Turn& turn, Channel& channel, Exchange* exchange, std::uint64_t sequence,
             bool accepted) {
    if (accepted) {
        if (exchange != nullptr) exchange->confirmed += 1;
        turn.state().traffic().of(channel.protocol).confirmed += 1;
        channel.stats.confirmed += 1;
    }
    turn.effects().confirm({channel.id, sequence, accepted});
}

// Why the exchange refuses the message.
std::optional<Refusal> refusal_of(Turn& turn, const Exchange* exchange, Publish& command) {
    const std::string_view name = command.message->exchange();
    if (exchange == nullptr) {
        return Refusal{RefusalKind::not_found, "no " + turn.exchange_phrase(name)};
    }
    if (exchange->declaration.internal) {
        return Refusal{RefusalKind::access_refused,
                       "cannot publish to internal " + turn.exchange_phrase(name)};
    }
    if (command.refusal_if_topic && exchange->declaration.type == ExchangeType::topic) {
        return std::move(command.refusal_if_topic);
    }
    return std::move(command.refusal);
}

// `exchange` is nullptr if it was deleted between publish and commit.
bool route_from(Turn& turn, Channel& channel, Exchange* exchange, const Publish& command) {
    PublishResult places;
    if (exchange != nullptr) places = enqueue_in_queues(turn, channel, *exchange, command);
    turn.state().traffic().of(channel.protocol).routed += places.count;
    if (places.count == 0) drop_or_return(turn, channel, exchange, command);
    const bool accepted = places.full_queue == nullptr;
    if (command.confirm_sequence == 0) return accepted;
    if (!accepted && command.single_outcome) {
        turn.effects().request(
            PublishRefused{channel.id, command.confirm_sequence, places.full_queue->name(), {}});
    } else if (places.count > 0 || !command.mandatory || !command.single_outcome) {
        confirm(turn, channel, exchange, command.confirm_sequence, accepted);
    }
    return accepted;
}

}  // namespace

bool route_publish(Turn& turn, const Publish& command) {
    return route_from(turn, *turn.attached().find_channel(command.channel),
                      turn.state().find_exchange(command.message->exchange()), command);
}

Result<void, Refusal> publish(Turn& turn, Publish&& command) {
    Channel& channel = *turn.attached().find_channel(command.channel);
    ClientTraffic& traffic = turn.state().traffic().of(channel.protocol);
    traffic.received += 1;
    traffic.message_sizes.observe(command.message->published_size());
    channel.stats.published += 1;
    if (command.confirm_sequence != 0) traffic.received_confirm += 1;
    Exchange* const exchange = turn.state().find_exchange(command.message->exchange());
    if (auto refusal = refusal_of(turn, exchange, command)) {
        if (!command.single_outcome) return Unexpected{std::move(*refusal)};
        turn.effects().request(
            PublishRefused{command.channel, command.confirm_sequence, {}, std::move(*refusal)});
        return {};
    }
    if (channel.transaction) {
        constexpr std::uint64_t overhead_bytes = 256;
        const std::uint64_t bytes = command.message->published_size() + overhead_bytes;
        channel.transaction->publishes.push_back(std::move(command));
        return count_in_transaction(channel, bytes);
    }
    route_from(turn, channel, exchange, command);
    return {};
}

}  // namespace revenant::engine
