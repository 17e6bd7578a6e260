// Turn: the processing of one command. emit() applies and records an event, effects() issues
// output. Every decision of a turn sees all earlier events applied.
#pragma once

#include "base/time.h"
#include "engine/rules/portion.h"
#include "engine/rules/worklist.h"
#include "engine/state/attached.h"
#include "engine/state/recorder.h"
#include "engine/state/state.h"
#include "engine/words/effect.h"
#include "engine/words/event.h"
#include "engine/words/other_vhosts.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace revenant::engine {

// The configuration of the engine.
struct EngineSettings {
    std::string vhost = "/";
    // Accepts redeclaring a quorum queue as a classic one with the same arguments (DL-46).
    bool relaxed_checks_on_redeclaration = false;
    // Default timeout for unsettled deliveries of quorum queues; absent: none.
    std::optional<std::int64_t> consumer_timeout_ms;
    // How much accumulated work a turn does in addition to its command.
    Portion::Size portion;
    // Stores the parts of queues that exceed the budget; nullptr: everything stays in memory.
    ColdStore* cold_store = nullptr;
    MessageFormats formats;
    std::uint64_t memory_budget_bytes = 8 * 1024 * 1024;
    // Whether queues that are neither durable nor exclusive may be declared (amqp091 8.7).
    bool permits_transient_queues = true;
    NodeLimits node_limits;
    const OtherVhosts* other_vhosts = nullptr;  // nullptr: this is the only virtual host
    // How far the wall clock is ahead of the turn's time, because it was set since the process
    // started.
    Duration wall_ahead;
};

class Turn {
  public:
    Turn(const EngineSettings& settings, State& state, Attached& attached, EffectSink& effects,
         Recorder* recorder, Worklist& worklist, Timestamp now)
        : settings_(settings),
          state_(state),
          attached_(attached),
          effects_(effects),
          recorder_(recorder),
          worklist_(worklist),
          now_(now),
          portion_(settings.portion) {}

    const EngineSettings& settings() const { return settings_; }
    State& state() { return state_; }
    Attached& attached() { return attached_; }
    EffectSink& effects() { return effects_; }
    // The time for deadlines. Monotonic.
    Timestamp now() const { return now_; }
    // The wall-clock time, for clients and logs.
    Timestamp wall_now() const { return now_ + settings_.wall_ahead; }
    Portion& portion() { return portion_; }
    Worklist& worklist() { return worklist_; }
    const Worklist& worklist() const { return worklist_; }
    // Queues may contain expired messages: check the deadline before delivering one.
    bool is_behind() const { return worklist_.expiry_is_behind || portion_.is_used_up(); }

    void emit(const Event& event) {
        if (recorder_ != nullptr) recorder_->record(event);
        state_.apply(event);
    }

    // Fast paths, equivalent to emitting Enqueued, Removed and Requeued without building them.
    Position enqueue(Queue& queue, MessageRef message, Timestamp deadline) {
        if (recorder_ != nullptr) {
            const Position position = queue.next_in(queue.level_for(message->priority()));
            recorder_->enqueued(queue, message, {queue.id(), position, deadline});
        }
        return state_.enqueue(queue, std::move(message), {}, deadline);
    }
    Entry remove(Queue& queue, Position position, Ending ending) {
        if (recorder_ != nullptr) recorder_->removed(queue, position, ending);
        return state_.remove(queue, position, ending);
    }
    void requeue_entry(Queue& queue, Position position, Position to, DeliveryCounts counts) {
        if (recorder_ != nullptr) recorder_->record(Requeued{queue.id(), position, to, counts});
        state_.requeue_entry(queue, position, to, counts);
    }

    // For metrics: a channel received or settled a message of a queue.
    void count_consumed(Queue& queue, Channel& channel, std::uint64_t Consumption::*counter) {
        ClientTraffic& traffic = state_.traffic().of(channel.protocol);
        traffic.consumed_from(queue.declaration.kind).*counter += 1;
        queue.stats.consumed.*counter += 1;
        channel.stats.consumed.*counter += 1;
    }

    // The queue's messages or consumers have to be processed before the turn ends.
    void add_to_worklist(Queue& queue) {
        if (!queue.awaits_work() && !queue.deleted) worklist_.touched.push_back(queue);
    }
    // Like add_to_worklist(), but after other queues have been served.
    void touch_later(Queue& queue) {
        if (!queue.awaits_work() && !queue.deleted) worklist_.left.push_back(queue);
    }

    // The count that clients see: excludes expired messages that are not removed yet.
    std::uint64_t ready_count(const Queue& queue) const {
        if (!is_behind() || queue.settings.ttl_mode == TtlMode::head) return queue.ready_count();
        return queue.ready_count_at(now_);
    }

    void done(ChannelId channel, AnyAnswer answer) {
        effects_.request(Done{channel, std::move(answer)});
    }

    void notice(Notice::Level level, std::string text) {
        effects_.request(Notice{level, std::move(text)});
    }

    // In texts: queue 'q' in vhost '/'.
    std::string queue_phrase(std::string_view name) const { return phrase("queue", name); }
    std::string exchange_phrase(std::string_view name) const { return phrase("exchange", name); }

  private:
    std::string phrase(std::string_view kind, std::string_view name) const {
        return std::string(kind) + " '" + std::string(name) + "' in vhost '" + settings_.vhost +
               "'";
    }

    const EngineSettings& settings_;
    State& state_;
    Attached& attached_;
    EffectSink& effects_;
    Recorder* recorder_;
    Worklist& worklist_;
    Timestamp now_;
    Portion portion_;
};

}  // namespace revenant::engine
