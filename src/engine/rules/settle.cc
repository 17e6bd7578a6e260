#include "engine/rules/settle.h"

#include "base/check.h"
#include "base/probe.h"
#include "engine/rules/consumers.h"
#include "engine/rules/dead_letter.h"
#include "engine/rules/death_plan.h"
#include "engine/rules/requeue.h"
#include "engine/rules/transaction.h"

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <vector>

namespace revenant::engine {
namespace {

Unexpected<Refusal> unknown_delivery(DeliveryId delivery) {
    return Unexpected{Refusal{RefusalKind::precondition_failed,
                              "unknown delivery tag " + std::to_string(delivery.value)}};
}

// Removes the delivery from the channel; its consumer regains the credit.
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

// Deliveries held in a transaction are already settled from the client's view.
void leave_out_held(Channel& channel, std::vector<DeliveryId>& deliveries) {
    std::erase_if(deliveries, [&](DeliveryId delivery) {
        return channel.unsettled.find(delivery)->state == Unsettled::State::held_in_transaction;
    });
}

// Whether the client may settle it. The client need not know yet that it timed out.
bool may_be_settled(Channel& channel, DeliveryId delivery) {
    if (delivery <= channel.settled_up_to) return false;
    const Unsettled* const named = channel.unsettled.find(delivery);
    if (named == nullptr) return delivery.value != 0 && delivery <= channel.timed_out_up_to;
    return named->state != Unsettled::State::held_in_transaction;
}

void release_queue_if_done(Turn& turn, Queue& queue) {
    if (queue.deleted && queue.unsettled_deliveries == 0) turn.state().release_deleted_queue(queue);
}

// Consecutive deaths in one queue with the same reason are processed as one batch.
class DeathBatch {
  public:
    explicit DeathBatch(Turn& turn) : turn_(turn) {}

    void add(Queue& queue, Position position, DeathReason reason) {
        if (&queue != source_ || reason != reason_) {
            finish();
            source_ = &queue;
            reason_ = reason;
        }
        positions_.push_back(position);
    }
    void finish() {
        if (!positions_.empty()) handle_deaths(turn_, *source_, positions_, reason_);
        positions_.clear();
    }

  private:
    Turn& turn_;
    Queue* source_ = nullptr;
    DeathReason reason_ = DeathReason::rejected;
    boost::container::small_vector<Position, 8> positions_;  // a single rejection does not allocate
};

bool counts_as_failure(const Outcome& outcome, const Queue& queue) {
    return outcome.delivery_failed && !(outcome.exempt_from_delivery_limit && queue.is_quorum());
}

// Clients specify wall-clock times.
std::optional<Timestamp> delivery_time_of(const Turn& turn, const OutcomeDetails* details) {
    if (details == nullptr || !details->delivery_time) return std::nullopt;
    return *details->delivery_time - turn.settings().wall_ahead;
}

// Limit on the annotations of a message: consumers can add to them without end.
constexpr std::size_t annotations_bytes_max = 64 * 1024;

std::size_t bytes_of(const std::vector<Annotation>& annotations) {
    std::size_t bytes = 0;
    for (const Annotation& one : annotations) bytes += one.key.size() + one.encoded.size();
    return bytes;
}

// Replaces annotations with the same key. Annotations beyond the limit are dropped.
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

// Stores details of the outcome with the message: annotations only in quorum queues (DL-203), an
// error only if the message may become a dead letter.
void store_details(Turn& turn, Queue& queue, Position position, const OutcomeDetails& details) {
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
    envelope->counted_bytes = static_cast<std::uint32_t>(memory_of(*envelope));
    turn.emit(Annotated{queue.id(), position, std::move(owned)});
}

void settle_one(Turn& turn, Channel& channel, DeliveryId delivery, const Settlement& settlement,
                DeathBatch& run) {
    const Outcome& outcome = settlement.outcome;
    const Unsettled unsettled = take_unsettled(turn, channel, delivery);
    if (unsettled.state == Unsettled::State::timed_out) return;  // the message was requeued already
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
        store_details(turn, queue, position, *settlement.details);
    }
    switch (outcome.kind) {
        case OutcomeKind::accepted:
            turn.remove(queue, position, Ending::acknowledged);
            break;
        case OutcomeKind::rejected: {
            Entry& entry = queue.at(position);
            entry.set_counts(
                {outcome.delivery_failed ? one_more(entry.delivery_count) : entry.delivery_count,
                 entry.acquired_count + 1U});
            run.add(queue, position, DeathReason::rejected);
            break;
        }
        case OutcomeKind::released:
            if (const auto reason =
                    requeue_delivery(turn, queue, position,
                                     {counts_as_failure(outcome, queue),
                                      delivery_time_of(turn, settlement.details)})) {
                run.add(queue, position, *reason);
            }
            break;
    }
}

std::uint64_t bytes_of_details(const OutcomeDetails& details) {
    std::uint64_t bytes = bytes_of(details.annotations);
    if (details.error) bytes += details.error->condition.size() + details.error->description.size();
    return bytes;
}

// Approximate bytes of the settlement in the commit: a rejection includes keys and history.
std::uint64_t bytes_of_settlement(const Unsettled& held, const Settlement& settlement) {
    constexpr std::uint64_t least = 64;
    if (held.queue->deleted) return least;
    const bool rejected = settlement.outcome.kind == OutcomeKind::rejected;
    if (!rejected && settlement.details == nullptr) return least;
    const Entry& entry = held.queue->at({held.position});
    const std::uint64_t bytes = 4 * least + bytes_of_death(*entry.message, entry.envelope);
    return settlement.details == nullptr ? bytes : bytes + bytes_of_details(*settlement.details);
}

Result<void, Refusal> hold_in_transaction(Turn& turn, Channel& channel,
                                          std::span<const DeliveryId> deliveries,
                                          const Settle& command) {
    const Settlement settlement{command.outcome, command.details.get()};
    for (const DeliveryId delivery : deliveries) {
        Unsettled& held = *channel.unsettled.find(delivery);
        if (held.state == Unsettled::State::timed_out) {  // a rollback could not restore it
            take_unsettled(turn, channel, delivery);
            continue;
        }
        held.state = Unsettled::State::held_in_transaction;
        channel.transaction->settlements.push_back({delivery, command.outcome, command.details});
        REVENANT_TRY_VOID(count_in_transaction(channel, bytes_of_settlement(held, settlement)));
    }
    return {};
}

}  // namespace

void settle_deliveries(Turn& turn, Channel& channel, std::span<const DeliveryId> deliveries,
                       const Settlement& settlement) {
    DeathBatch run(turn);
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
    const DeliveryId last = all ? channel.unsettled.newest() : command.delivery;
    if (channel.transaction) {
        std::vector<DeliveryId> deliveries{last};
        if (command.multiple) {
            deliveries.clear();
            channel.unsettled.collect_some({channel.settled_up_to.value + 1}, last, SIZE_MAX,
                                           deliveries);
            leave_out_held(channel, deliveries);
        }
        return hold_in_transaction(turn, channel, deliveries, command);
    }
    if (!command.multiple && channel.settling.empty()) {
        settle_deliveries(turn, channel, {&command.delivery, 1}, settlement);
        return {};
    }
    const DeliveryId first =
        command.multiple ? DeliveryId{channel.settled_up_to.value + 1} : command.delivery;
    begin_settling(turn, channel, {first, last, command.outcome, command.details});
    if (command.multiple && !channel.settling.empty()) channel.settled_up_to = last;
    return {};
}

namespace {

// The number of deliveries settled between checks of the portion.
constexpr std::size_t settled_at_once = 128;

// Returns whether the settlement is complete.
bool carry_out(Turn& turn, Channel& channel, SettlementUnderWay& under_way) {
    std::vector<DeliveryId> some;
    for (;;) {
        some.clear();
        const std::size_t count =
            std::clamp<std::size_t>(turn.portion().steps_left(), 1, settled_at_once);
        channel.unsettled.collect_some(under_way.next, under_way.last, count, some);
        if (some.empty()) return true;
        if (turn.portion().is_used_up()) return false;
        under_way.next = {some.back().value + 1};
        turn.portion().spend(1 + some.size() / 4);  // a death spends additional steps
        if (!channel.closing) leave_out_held(channel, some);
        settle_deliveries(turn, channel, some, {under_way.outcome, under_way.details.get()});
    }
}

}  // namespace

void begin_settling(Turn& turn, Channel& channel, SettlementUnderWay settlement) {
    if (channel.settling.empty()) {
        if (carry_out(turn, channel, settlement)) return;
        PROBE("settle.in_portions");
        turn.worklist().settling.push_back(channel.id);
    }
    channel.settling.push_back(std::move(settlement));
}

bool go_on_settling(Turn& turn, Channel& channel) {
    while (!channel.settling.empty()) {
        if (!carry_out(turn, channel, channel.settling.front())) return false;
        channel.settling.erase(channel.settling.begin());
    }
    channel.settled_up_to = {};
    return true;
}

void requeue_all(Turn& turn, Channel& channel, Outcome outcome) {
    CHECK(outcome.kind == OutcomeKind::released);
    const DeliveryId newest = channel.unsettled.newest();
    begin_settling(turn, channel, {{channel.settled_up_to.value + 1}, newest, outcome, {}});
    if (!channel.settling.empty()) channel.settled_up_to = newest;
}

void requeue_overdue(Turn& turn, Channel& channel, std::span<const DeliveryId> deliveries) {
    DeathBatch run(turn);
    for (const DeliveryId delivery : deliveries) {
        Unsettled& kept = *channel.unsettled.find(delivery);
        if (kept.consumer == nullptr ||
            kept.consumer->on_timeout != TimeoutAction::consumer_suspended) {
            channel.timed_out_up_to = std::max(channel.timed_out_up_to, delivery);
            settle_one(turn, channel, delivery, {{.kind = OutcomeKind::released}}, run);
            continue;
        }
        Queue& queue = *kept.queue;
        const Position position{kept.position};
        queue.unsettled_deliveries -= 1;
        kept.queue = nullptr;
        kept.state = Unsettled::State::timed_out;
        kept.consumer->timed_out += 1;
        if (const auto reason = requeue_delivery(turn, queue, position, {})) {
            run.add(queue, position, *reason);
        }
    }
    run.finish();
}

}  // namespace revenant::engine
