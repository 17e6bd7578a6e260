#include "engine/settle.h"

#include "base/check.h"
#include "base/probe.h"
#include "engine/consumers.h"
#include "engine/dead_letter.h"
#include "engine/returning.h"

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <vector>

namespace revenant::engine {
namespace {

Unexpected<Refusal> unknown_delivery(DeliveryId delivery) {
    return Unexpected{Refusal{RefusalKind::precondition_failed,
                              "unknown delivery tag " + std::to_string(delivery.value)}};
}

// Takes the delivery off the channel's books; the credit goes back to its consumer.
Unsettled take_unsettled(Turn& turn, Channel& channel, DeliveryId delivery) {
    const Unsettled unsettled = *channel.unsettled.find(delivery);
    channel.unsettled.remove(delivery);
    const bool timed_out = unsettled.state == Unsettled::State::timed_out;
    if (!timed_out) unsettled.queue->unsettled_deliveries -= 1;
    if (Consumer* const consumer = unsettled.consumer) {
        const bool channel_was_full =
            channel.global_prefetch != 0 && channel.consumer_unsettled >= channel.global_prefetch;
        consumer->unsettled -= 1;
        channel.consumer_unsettled -= 1;
        if (timed_out) consumer->timed_out -= 1;
        if (timed_out && !consumer->is_suspended()) {
            resume(turn, *consumer);
        } else if (channel_was_full) {
            reactivate_all(turn, channel);
        } else if (!consumer->is_linked()) {
            reactivate(turn, *consumer);
        }
        release_if_done(*consumer);
    }
    return unsettled;
}

// Without those that a transaction holds: they are settled already, as far as the client knows.
std::vector<DeliveryId> unsettled_up_to(Channel& channel, DeliveryId last) {
    std::vector<DeliveryId> deliveries;
    channel.unsettled.collect_up_to(last, deliveries);
    std::erase_if(deliveries, [&](DeliveryId delivery) {
        return channel.unsettled.find(delivery)->state == Unsettled::State::held_in_transaction;
    });
    return deliveries;
}

// May the client settle it? It need not know yet that it kept the message too long.
bool may_be_settled(Channel& channel, DeliveryId delivery) {
    const Unsettled* const named = channel.unsettled.find(delivery);
    if (named == nullptr) return delivery.value != 0 && delivery <= channel.forgotten_up_to;
    return named->state != Unsettled::State::held_in_transaction;
}

void release_queue_if_done(Turn& turn, Queue& queue) {
    if (queue.deleted && queue.unsettled_deliveries == 0) turn.state().release_deleted_queue(queue);
}

// Neighbours from one queue that die of the same cause die as one run (design: runs of deaths).
class DeathRun {
  public:
    explicit DeathRun(Turn& turn) : turn_(turn) {}

    void add(Queue& queue, Position position, DeathReason reason) {
        if (&queue != source_ || reason != reason_) {
            finish();
            source_ = &queue;
            reason_ = reason;
        }
        positions_.push_back(position);
    }
    void finish() {
        if (!positions_.empty()) die(turn_, *source_, positions_, reason_);
        positions_.clear();
    }

  private:
    Turn& turn_;
    Queue* source_ = nullptr;
    DeathReason reason_ = DeathReason::rejected;
    boost::container::small_vector<Position, 8> positions_;  // a single rejection allocates nothing
};

bool counts_as_failure(const Outcome& outcome, const Queue& queue) {
    return outcome.delivery_failed && !(outcome.forgiven_by_quorum_queues && queue.is_quorum());
}

std::optional<Timestamp> delivery_time_of(const OutcomeDetails* details) {
    return details == nullptr ? std::nullopt : details->delivery_time;
}

// Consumers may go on adding for ever, and what they add is kept.
constexpr std::size_t annotations_bytes_max = 64 * 1024;

std::size_t bytes_of(const std::vector<Annotation>& annotations) {
    std::size_t bytes = 0;
    for (const Annotation& one : annotations) bytes += one.key.size() + one.encoded.size();
    return bytes;
}

// Over those it has: a key is there once. What would be too much is left out.
void merge(std::vector<Annotation>& annotations, const std::vector<Annotation>& added) {
    std::size_t bytes = bytes_of(annotations);
    for (const Annotation& one : added) {
        bytes += one.key.size() + one.encoded.size();
        if (bytes > annotations_bytes_max) {
            PROBE("settle.too_many_annotations");
            return;
        }
        const auto known =
            std::find_if(annotations.begin(), annotations.end(),
                         [&](const Annotation& other) { return other.key == one.key; });
        if (known == annotations.end()) {
            annotations.push_back(one);
        } else {
            *known = one;
        }
    }
}

// Keeps with the message what the consumer said of it: annotations only in quorum queues (DL-203),
// an error where it may be read one day.
void remember_details(Turn& turn, Queue& queue, Position position, const OutcomeDetails& details) {
    const bool annotates = queue.is_quorum() && !details.annotations.empty();
    const bool tells_error = details.error && queue.settings.dead_letter_exchange;
    if (!annotates && !tells_error) return;
    const Entry& entry = queue.at(position);
    auto* const envelope = entry.envelope ? new Envelope(*entry.envelope) : new Envelope;
    EnvelopeRef owned = EnvelopeRef::adopt(envelope);
    if (!entry.envelope) {
        envelope->exchange = entry.message->exchange();
        envelope->routing_keys = {std::string(entry.message->routing_key())};
    }
    if (annotates) merge(envelope->annotations, details.annotations);
    if (tells_error) envelope->error = details.error;
    turn.emit(Annotated{queue.id(), position, std::move(owned)});
}

void settle_one(Turn& turn, Channel& channel, DeliveryId delivery, const Settlement& settlement,
                DeathRun& run) {
    const Outcome& outcome = settlement.outcome;
    const Unsettled unsettled = take_unsettled(turn, channel, delivery);
    if (unsettled.state == Unsettled::State::timed_out) return;  // its message is elsewhere
    Queue& queue = *unsettled.queue;
    if (outcome.kind == OutcomeKind::accepted) {
        turn.count_consumed(queue, channel, &Consumption::acknowledged);
    }
    if (queue.deleted) {
        release_queue_if_done(turn, queue);
        return;
    }
    const Position position{unsettled.position};
    if (settlement.details != nullptr) {
        remember_details(turn, queue, position, *settlement.details);
    }
    switch (outcome.kind) {
        case OutcomeKind::accepted:
            turn.remove(queue, position, Ending::acknowledged);
            break;
        case OutcomeKind::rejected: {
            Entry& entry = queue.at(position);
            entry.count({entry.delivery_count + (outcome.delivery_failed ? 1 : 0),
                         entry.acquired_count + 1U});
            run.add(queue, position, DeathReason::rejected);
            break;
        }
        case OutcomeKind::released:
            if (const auto reason = return_delivery(
                    turn, queue, position,
                    {counts_as_failure(outcome, queue), delivery_time_of(settlement.details)})) {
                run.add(queue, position, *reason);
            }
            break;
    }
}

void hold_in_transaction(Turn& turn, Channel& channel, std::span<const DeliveryId> deliveries,
                         const Outcome& outcome) {
    for (const DeliveryId delivery : deliveries) {
        Unsettled& held = *channel.unsettled.find(delivery);
        if (held.state == Unsettled::State::timed_out) {  // nothing a rollback could bring back
            take_unsettled(turn, channel, delivery);
            continue;
        }
        held.state = Unsettled::State::held_in_transaction;
        channel.transaction->settlements.push_back({delivery, outcome});
    }
}

}  // namespace

void settle_deliveries(Turn& turn, Channel& channel, std::span<const DeliveryId> deliveries,
                       const Settlement& settlement) {
    DeathRun run(turn);
    for (const DeliveryId delivery : deliveries) {
        settle_one(turn, channel, delivery, settlement, run);
    }
    run.finish();
}

Result<void, Refusal> settle(Turn& turn, const Settle& command) {
    Channel& channel = *turn.attached().find_channel(command.channel);
    const Settlement settlement{command.outcome, command.details.get()};
    const bool all = command.multiple && command.delivery.value == 0;
    if (!all && !may_be_settled(channel, command.delivery)) {
        return unknown_delivery(command.delivery);
    }
    if (!command.multiple && channel.unsettled.find(command.delivery) == nullptr) {
        PROBE("settle.too_late");
        return {};
    }
    if (!command.multiple && !channel.transaction) {
        settle_deliveries(turn, channel, {&command.delivery, 1}, settlement);
        return {};
    }
    std::vector<DeliveryId> deliveries{command.delivery};
    if (command.multiple) {
        deliveries = unsettled_up_to(channel, all ? channel.unsettled.newest() : command.delivery);
    }
    if (channel.transaction) {
        hold_in_transaction(turn, channel, deliveries, command.outcome);
        return {};
    }
    settle_deliveries(turn, channel, deliveries, settlement);
    return {};
}

void return_all(Turn& turn, Channel& channel, Outcome outcome) {
    CHECK(outcome.kind == OutcomeKind::released);
    settle_deliveries(turn, channel, unsettled_up_to(channel, channel.unsettled.newest()),
                      {outcome});
}

void return_overdue(Turn& turn, Channel& channel, std::span<const DeliveryId> deliveries) {
    DeathRun run(turn);
    for (const DeliveryId delivery : deliveries) {
        Unsettled& kept = *channel.unsettled.find(delivery);
        if (kept.consumer == nullptr ||
            kept.consumer->on_timeout != TimeoutConsequence::suspended) {
            channel.forgotten_up_to = std::max(channel.forgotten_up_to, delivery);
            settle_one(turn, channel, delivery, {{.kind = OutcomeKind::released}}, run);
            continue;
        }
        Queue& queue = *kept.queue;
        const Position position{kept.position};
        queue.unsettled_deliveries -= 1;
        kept.queue = nullptr;
        kept.state = Unsettled::State::timed_out;
        kept.consumer->timed_out += 1;
        if (const auto reason = return_delivery(turn, queue, position, {})) {
            run.add(queue, position, *reason);
        }
    }
    run.finish();
}

}  // namespace revenant::engine
