#include "engine/engine.h"

#include "base/check.h"
#include "engine/rules/closing.h"
#include "engine/rules/consumer_timeout.h"
#include "engine/rules/consumers.h"
#include "engine/rules/credit.h"
#include "engine/rules/dispatch.h"
#include "engine/rules/expiry.h"
#include "engine/rules/outbox.h"
#include "engine/rules/parking.h"
#include "engine/rules/policy_change.h"
#include "engine/rules/publish.h"
#include "engine/rules/settle.h"
#include "engine/rules/topology.h"
#include "engine/rules/topology_query.h"
#include "engine/rules/transaction.h"
#include "engine/state/memory_budget.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace revenant::engine {
namespace {

// One function per command, with whether the command is answered.
enum class Answered : std::uint8_t { yes, no };

template <Answered answered, typename Outcome>
Result<void, Refusal> answer(Turn& turn, ChannelId channel, Outcome outcome) {
    if (!outcome) return Unexpected{std::move(outcome).error()};
    if constexpr (answered == Answered::yes) {
        if constexpr (std::is_same_v<Outcome, Result<void, Refusal>>) {
            turn.done(channel, Answer{});
        } else {
            turn.done(channel, std::move(outcome).value());
        }
    }
    return {};
}

constexpr int outbox_rounds_max = 16;  // per turn
constexpr std::size_t steps_noted_min = 64;

template <typename Wanted>
const std::size_t place_of = Command(std::in_place_type<Wanted>).index();

constexpr auto yes = Answered::yes;
constexpr auto no = Answered::no;

Result<void, Refusal> work(Turn& turn, const DeclareExchange& c) {
    return answer<yes>(turn, c.channel, declare_exchange(turn, c));
}
Result<void, Refusal> work(Turn& turn, const DeleteExchange& c) {
    return answer<yes>(turn, c.channel, delete_exchange(turn, c));
}
Result<void, Refusal> work(Turn& turn, const DeclareQueue& c) {
    return answer<yes>(turn, c.channel, declare_queue(turn, c));
}
Result<void, Refusal> work(Turn& turn, const DeleteQueue& c) {
    return answer<yes>(turn, c.channel, delete_queue(turn, c));
}
Result<void, Refusal> work(Turn& turn, const PurgeQueue& c) {
    return answer<yes>(turn, c.channel, purge_queue(turn, c));
}
Result<void, Refusal> work(Turn& turn, const DiscardParked& c) {
    return answer<yes>(turn, c.channel, discard_parked(turn, c));
}
Result<void, Refusal> work(Turn& turn, const Bind& c) {
    return answer<yes>(turn, c.channel, bind(turn, c));
}
Result<void, Refusal> work(Turn& turn, const Unbind& c) {
    return answer<yes>(turn, c.channel, unbind(turn, c));
}
Result<void, Refusal> work(Turn& turn, const CheckTarget& c) {
    return answer<yes>(turn, c.channel, check_target(turn, c));
}
Result<void, Refusal> work(Turn& turn, const DescribeQueue& c) {
    return answer<yes>(turn, c.channel, describe_queue(turn, c));
}
Result<void, Refusal> work(Turn& turn, const ListBindings& c) {
    return answer<yes>(turn, c.channel, list_bindings(turn, c));
}
Result<void, Refusal> work(Turn& turn, Publish&& c) {
    const ChannelId channel = c.channel;
    return answer<no>(turn, channel, publish(turn, std::move(c)));
}
Result<void, Refusal> work(Turn& turn, const SetQos& c) {
    set_qos(turn, c);
    return answer<yes>(turn, c.channel, Result<void, Refusal>{});
}
Result<void, Refusal> work(Turn& turn, const Consume& c) {
    return answer<yes>(turn, c.channel, consume(turn, c));
}
Result<void, Refusal> work(Turn& turn, const SetCredit& c) {
    set_credit(turn, c);
    return {};
}
Result<void, Refusal> work(Turn& turn, const Cancel& c) {
    cancel(turn, c);
    return answer<yes>(turn, c.channel, Result<void, Refusal>{});
}
Result<void, Refusal> work(Turn& turn, const Get& c) {
    return answer<yes>(turn, c.channel, get(turn, c));
}
Result<void, Refusal> work(Turn& turn, const Settle& c) {
    return answer<no>(turn, c.channel, settle(turn, c));
}
Result<void, Refusal> work(Turn& turn, const Recover& c) {
    requeue_all(turn, *turn.attached().find_channel(c.channel), {.kind = OutcomeKind::released});
    return answer<yes>(turn, c.channel, Result<void, Refusal>{});
}
Result<void, Refusal> work(Turn& turn, const SetPolicy& c) {
    return answer<yes>(turn, c.channel, set_policy(turn, c));
}
Result<void, Refusal> work(Turn& turn, const ClearPolicy& c) {
    return answer<yes>(turn, c.channel, clear_policy(turn, c));
}
Result<void, Refusal> work(Turn& turn, const SelectTransaction& c) {
    select_transaction(turn, c);
    return answer<yes>(turn, c.channel, Result<void, Refusal>{});
}
Result<void, Refusal> work(Turn& turn, const Commit& c) {
    return answer<yes>(turn, c.channel, commit(turn, c));
}
Result<void, Refusal> work(Turn& turn, const Rollback& c) {
    return answer<yes>(turn, c.channel, rollback(turn, c));
}

}  // namespace

Engine::Engine(EngineSettings settings, EffectSink& effects, Recorder* recorder)
    : settings_(std::move(settings)), effects_(effects), recorder_(recorder) {
    state_.paging().store = settings_.cold_store;
    state_.paging().formats = settings_.formats;
    state_.paging().budget_bytes = settings_.memory_budget_bytes;
}

Turn Engine::begin(Timestamp now) {
    worklist_.turn += 1;
    Turn turn(settings_, state_, attached_, effects_, recorder_, worklist_, now);
    // Due messages expire before the command is processed: an expired message is never delivered.
    // If there are too many, the next Ticks continue, and the rest is not delivered until then.
    if (!worklist_.expiry_is_behind && state_.deadlines_next() <= now) expire_due(turn);
    while (Channel* const channel = attached_.take_due_timeout_check(now)) {
        if (auto refusal = enforce_timeouts(turn, *channel)) {
            refuse(turn, {channel->id, std::move(*refusal), RefusedCommand::none, {}});
        }
    }
    return turn;
}

// A forwarded dead letter may be consumed immediately, which makes room for more.
void Engine::forward_all_letters(Turn& turn) {
    const bool in_the_midst = worklist_.last_outbox.value != 0;
    for (int round = 0; round < outbox_rounds_max; ++round) {
        worklist_.letters_wait = forward_outboxes(turn);
        if (worklist_.touched.empty()) break;
        serve_touched(turn);
        worklist_.letters_wait = true;
    }
    // Outboxes that were processed earlier may have got room in this turn.
    if (in_the_midst && worklist_.last_outbox.value == 0) worklist_.letters_wait = true;
}

void Engine::finish(Turn& turn, std::size_t command) {
    if (!worklist_.after_answer.empty()) {
        for (Effect& effect : worklist_.after_answer) effects_.request(std::move(effect));
        worklist_.after_answer.clear();
    }
    if (!worklist_.touched.empty()) serve_touched(turn);
    worklist_.letters_wait = false;
    if (!state_.queues_with_outbox().empty()) forward_all_letters(turn);
    worklist_.expiry_is_behind = turn.is_behind() && state_.deadlines_next() <= turn.now();
    if (worklist_.expiry_is_behind) behind_at_ = turn.now();
    if (!attached_.draining().empty()) complete_drains(turn);
    if (!state_.paging().newly_parked.empty()) tell_parked(turn);
    if (recorder_ != nullptr) recorder_->turn_ended();
    enforce_memory_budget(state_);
    const std::size_t steps = settings_.portion.steps - turn.portion().steps_left();
    if (steps < steps_noted_min) return;
    heavy_steps_ += steps;
    if (turn.now() != heaviest_.at || steps > heaviest_.steps) {
        heaviest_ = {command, steps, turn.now()};
    }
}

bool Engine::has_work() const {
    return worklist_.has_work() || state_.has_unconfigured() || state_.has_retired_bindings();
}

Timestamp Engine::next_deadline() const {
    if (has_work()) return {};
    return std::min(state_.deadlines_next(), attached_.next_timeout_check());
}

std::uint64_t Engine::ready_count(const Queue& queue) const {
    if (!worklist_.expiry_is_behind || queue.settings.ttl_mode == TtlMode::head) {
        return queue.ready_count();
    }
    return queue.ready_count_at(behind_at_);
}

void Engine::refuse(Turn& turn, Refuse refuse) {
    Channel* const channel = turn.attached().find_channel(refuse.channel);
    // The channel is closed first, so that its messages are requeued before the client sees the
    // refusal.
    if (channel != nullptr) close_channel(turn, *channel, {.answer = std::move(refuse)});
}

template <typename ChannelCommand>
void Engine::run(Turn& turn, ChannelCommand&& command) {
    using Kind = std::remove_cvref_t<ChannelCommand>;
    constexpr RefusedCommand kind = std::is_same_v<Kind, Publish>  ? RefusedCommand::publish
                                    : std::is_same_v<Kind, Settle> ? RefusedCommand::settlement
                                                                   : RefusedCommand::answered;
    const ChannelId channel = command.channel;
    Outcome wished;
    if constexpr (std::is_same_v<Kind, Settle>) wished = command.outcome;
    // Commands that were sent before the client saw a refusal of their channel are ignored.
    const Channel* const found = attached_.find_channel(channel);
    if (found == nullptr || found->closing) return;
    auto done = work(turn, std::forward<ChannelCommand>(command));
    if (!done) refuse(turn, {channel, std::move(done).error(), kind, wished});
}

void Engine::run(Turn&, OpenConnection&& command) {
    attached_.open_connection(command.connection, std::move(command.user), command.protocol);
    state_.traffic().connections_opened += 1;
}

void Engine::run(Turn& turn, CloseConnection&& command) {
    Connection* const connection = attached_.find_connection(command.connection);
    if (connection == nullptr) {
        turn.effects().request(ConnectionClosed{command.connection});
    } else if (!connection->closing) {
        close_connection(turn, *connection);
    }
}

void Engine::run(Turn& turn, ResumeConnection&& command) {
    Connection* const connection = attached_.find_connection(command.connection);
    if (connection == nullptr || connection->closing) return;
    connection->paused = false;
    for (const ChannelId id : connection->channels)
        reactivate_all(turn, *attached_.find_channel(id));
}

void Engine::run(Turn&, PauseChannel&& command) {
    if (Channel* const channel = attached_.find_channel(command.channel)) channel->paused = true;
}

void Engine::run(Turn& turn, ResumeChannel&& command) {
    Channel* const channel = attached_.find_channel(command.channel);
    if (channel == nullptr) return;
    channel->paused = false;
    reactivate_all(turn, *channel);
}

void Engine::run(Turn&, OpenChannel&& command) {
    const Connection* const connection = attached_.find_connection(command.connection);
    if (connection == nullptr || connection->closing) return;
    Channel& channel = attached_.open_channel(command.connection, command.channel);
    channel.use = command.use;
    state_.traffic().channels_opened += 1;
}

void Engine::run(Turn& turn, CloseChannel&& command) {
    Channel* const channel = attached_.find_channel(command.channel);
    if (channel == nullptr) return turn.done(command.channel, Answer{});
    close_channel(
        turn, *channel,
        {.detached = command.detached, .answer = Effect(Done{command.channel, Answer{}})});
}

void Engine::run(Turn& turn, SetCompatibility&& command) { set_compatibility(turn, command); }

void Engine::run(Turn& turn, Tick&&) {
    if (has_work()) go_on_with_work(turn);
}

void Engine::finish_recovery(Timestamp now) {
    state_.configure_rest();
    for (Queue* const queue : state_.queues_by_name()) {
        queue->last_used = now;
        if (queue->settings.expires_ms) state_.schedule_expiry(*queue);
    }
    enforce_memory_budget(state_);
}

void Engine::pause(ChannelId channel) {
    if (Channel* const paused = attached_.find_channel(channel)) paused->connection->paused = true;
}

void Engine::handle(Command&& command, Timestamp now) {
    Turn turn = begin(now);
    const std::size_t place = command.index();
    std::visit([&](auto&& one) { run(turn, std::move(one)); }, std::move(command));
    finish(turn, place);
}

void Engine::publish(Publish&& command, Timestamp now) {
    Turn turn = begin(now);
    run(turn, std::move(command));
    finish(turn, place_of<Publish>);
}

void Engine::settle(const Settle& command, Timestamp now) {
    Turn turn = begin(now);
    run(turn, command);
    finish(turn, place_of<Settle>);
}

}  // namespace revenant::engine
