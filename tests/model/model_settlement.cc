// Model: settlement, requeueing and the closing of channels.
#include "tests/model/fields.h"
#include "tests/model/model.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace revenant::model {

// amqp091 11.11
void Model::settle(std::size_t channel, std::uint64_t tag, bool multiple, Outcome outcome) {
    begin();
    auto& unsettled = channels_[channel].unsettled;
    const bool all = multiple && tag == 0;
    if (!all && !unsettled.contains(tag)) return refuse(channel, RefusalKind::precondition_failed);
    std::vector<Unsettled> settled;
    for (auto one = unsettled.begin(); one != unsettled.end();) {
        const bool meant = all || one->first == tag || (multiple && one->first < tag);
        if (meant) settled.push_back(one->second);
        one = meant ? unsettled.erase(one) : std::next(one);
    }
    settle_all(settled, outcome);
    end();
}

// DL-4: in the order of the tags. Whether consecutive requeued messages of one queue that die for
// one reason do so before the others are requeued is open.
void Model::settle_all(const std::vector<Unsettled>& settled, Outcome outcome) {
    const bool returned = outcome.kind == engine::OutcomeKind::released && settled.size() > 1;
    die_after_returns_ = returned && choices_.pick(2) == 0;
    for (const Unsettled& one : settled) settle_one(one, outcome);
    die_after_returns_ = false;
    let_die();
}

void Model::let_die() {
    for (const Dying& one : std::exchange(dying_, {})) die(one.queue, one.entry, one.reason);
}

void Model::die_of_return(const QueueRef& queue, std::uint64_t entry, DeathReason reason) {
    const bool others =
        !dying_.empty() && (dying_.back().queue != queue || dying_.back().reason != reason);
    if (others) let_die();
    dying_.push_back({queue, entry, reason});
    if (!die_after_returns_) let_die();
}

// Section 22.
void Model::settle_one(const Unsettled& unsettled, Outcome outcome) {
    release_credit(unsettled);
    const QueueRef queue = find_queue(unsettled.queue);
    if (!queue) return;
    switch (outcome.kind) {
        case engine::OutcomeKind::accepted:
            remove(*queue, unsettled.entry, Ending::acknowledged);
            break;
        case engine::OutcomeKind::rejected:
            find(*queue, unsettled.entry)->message.failures += outcome.delivery_failed ? 1 : 0;
            die(queue, unsettled.entry, DeathReason::rejected);
            break;
        case engine::OutcomeKind::released:
            return_one(queue, unsettled.entry, outcome.delivery_failed);
            break;
    }
}

void Model::release_credit(const Unsettled& unsettled) {
    const ConsumerRef& consumer = unsettled.consumer;
    if (!consumer) return;
    consumer->unsettled -= 1;
    if (consumer->gone) return;
    const QueueRef queue = find_queue(consumer->queue);
    if (consumer->in_line) return;
    queue->line.push_back(consumer);
    consumer->in_line = true;
    touch(queue);
}

// DL-147, DL-150, DL-162: the limit first. DL-132: unacked messages expire, too, and an expired one
// is not delayed first.
void Model::return_one(const QueueRef& queue, std::uint64_t id, bool failed) {
    Entry& entry = *find(*queue, id);
    entry.requeued = true;
    entry.fresh = false;
    entry.acquired += 1;
    entry.message.failures += failed ? 1 : 0;
    touch(queue);
    const Number& limit = queue->settings.delivery_limit;
    if (queue->quorum && limit && entry.message.failures > *limit) {
        return die_of_return(queue, id, DeathReason::delivery_limit);
    }
    if (entry.expires <= now_ && !queue->settings.expires_at_head_only) {
        return die_of_return(queue, id, DeathReason::expired);
    }
    put_back(*queue, entry, failed);
}

// DL-156: a classic queue uses the old position. A quorum queue has the list of requeued messages;
// without a delivery limit, messages that did not fail go to the end with the default priority.
void Model::put_back(Queue& queue, Entry& entry, bool failed) {
    entry.place = Place::ready;
    if (!queue.quorum) return;
    entry.order = ++last_order_;
    if (waits_for_retry(queue, entry, failed)) {
        const std::int64_t attempts = std::max<std::int64_t>(1, entry.message.failures);
        entry.place = Place::delayed;
        entry.delayed_until = now_ + milliseconds(std::min(queue.settings.retry_min * attempts,
                                                           queue.settings.retry_max));
        return;
    }
    entry.returned = queue.settings.delivery_limit || failed;
    if (!entry.returned) entry.level = 4;
}

// DL-161
bool Model::waits_for_retry(const Queue& queue, const Entry&, bool failed) const {
    const std::string& retry = queue.settings.retry;
    return retry == "all" || (retry == "failed" && failed) || (retry == "returned" && !failed);
}

void Model::return_all(std::size_t channel, bool failed) {
    std::vector<Unsettled> returned;
    for (const auto& [tag, one] : channels_[channel].unsettled) returned.push_back(one);
    channels_[channel].unsettled.clear();
    settle_all(returned, {engine::OutcomeKind::released, failed});
}

void Model::recover(std::size_t channel) {
    begin();
    return_all(channel, false);
    tell(channel, "done");
    end();
}

void Model::close(std::size_t channel) {
    begin();
    shut(channel);
    tell(channel, "done");
    end();
}

// DL-16, DL-150: a regular close also counts as a failure.
void Model::shut(std::size_t channel) {
    for (const ConsumerRef& consumer : std::vector(channels_[channel].consumers)) {
        remove_consumer(consumer);
    }
    return_all(channel, true);
    std::vector<std::string> told = take_told(channel);
    channels_[channel] = {};
    channels_[channel].told = std::move(told);
}

void Model::refuse(std::size_t channel, RefusalKind kind) {
    tell(channel, "refused " + text(static_cast<std::int64_t>(kind)));
    shut(channel);
    end();
}

}  // namespace revenant::model
