#include "tests/support/scenario.h"

#include "base/check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace revenant::engine {

namespace {

EngineSettings with_store(EngineSettings settings, MemoryStore& store) {
    settings.cold_store = &store;
    settings.formats = {&test_message_format()};
    settings.memory_budget_bytes = 0;
    return settings;
}

}  // namespace

// Everything possible is paged out after every turn: this must not affect any test.
Scenario::Scenario(EngineSettings settings)
    : engine_(with_store(std::move(settings), store_), *this, this) {
    recorder_.observe(engine_.state());
    engine_.state().paging().page_bytes_min = 0;
    engine_.state().paging().shed_bytes_min = 0;
    connect();
}

Scenario::~Scenario() { finish(); }

ConnectionId Scenario::connect(ClientProtocol protocol) {
    const ConnectionId connection{++last_connection_};
    peers_[connection] = {};
    handle(OpenConnection{connection, "guest", protocol});
    return connection;
}

void Scenario::close(ConnectionId connection) {
    for (auto& channel : channels_) {
        if (channel->connection_ == connection) channel->open_ = false;
    }
    handle(CloseConnection{connection});
    EXPECT_TRUE(peers_.at(connection).closed || has_work()) << "closing a connection is answered";
}

ScenarioChannel& Scenario::open_channel() { return open_channel({1}); }

ScenarioChannel& Scenario::open_channel(ConnectionId connection) {
    channels_.push_back(std::make_unique<ScenarioChannel>(*this, connection));
    return *channels_.back();
}

void Scenario::be_compatible_with(Compatibility compatibility) {
    handle(SetCompatibility{compatibility});
}

void Scenario::take_only(ConnectionId connection, std::uint64_t deliveries) {
    peers_.at(connection).takes = deliveries;
}

void Scenario::resume(ConnectionId connection) {
    peers_.at(connection).takes.reset();
    peers_.at(connection).full = false;
    handle(ResumeConnection{connection});
}

void Scenario::advance(Duration by) {
    const Timestamp end = now_ + by;
    while (engine_.next_deadline() <= end) {
        now_ = std::max(now_, engine_.next_deadline());
        handle(Tick{});
    }
    now_ = end;
}

// Both entry points for publish and settle must have the same effect: every other command uses the
// fast path.
void Scenario::handle(Command&& command) {
    CHECK(!finished_);
    const bool side_door = ++command_count_ % 2 == 0;
    // A Tick may finish an earlier command.
    refused_command_ = std::holds_alternative<Tick>(command)      ? refused_command_
                       : std::holds_alternative<Publish>(command) ? RefusedCommand::publish
                       : std::holds_alternative<Settle>(command)  ? RefusedCommand::settlement
                                                                  : RefusedCommand::answered;
    if (side_door && std::holds_alternative<Publish>(command)) {
        engine_.publish(std::get<Publish>(std::move(command)), now_);
    } else if (side_door && std::holds_alternative<Settle>(command)) {
        engine_.settle(std::get<Settle>(command), now_);
    } else {
        engine_.handle(std::move(command), now_);
    }
}

Queue& Scenario::queue(std::string_view name) {
    Queue* const found = engine_.state().find_queue(name);
    CHECK(found != nullptr);
    return *found;
}

std::vector<std::string> Scenario::ready(std::string_view name) {
    const Queue& found = queue(name);
    std::vector<std::string> bodies;
    for (std::size_t level = found.served_levels(); level-- > 0;) {
        found.level(level).for_each([&](std::uint64_t, const Entry& entry) {
            if (entry.state != EntryState::ready) return;
            bodies.emplace_back(engine_.state().loaded(entry.message).value()->body());
        });
    }
    return bodies;
}

ScenarioChannel& Scenario::channel(ChannelId id) {
    const auto found = channels_by_id_.find(id);
    CHECK(found != channels_by_id_.end());
    EXPECT_EQ(found->second->id_, id) << "an effect for a channel that no longer exists";
    return *found->second;
}

// ------------------------------------------------------------------------ effects

namespace {

std::string line(std::string_view what, std::uint64_t number) {
    return std::string(what) + ' ' + std::to_string(number);
}

}  // namespace

bool Scenario::deliver(Deliver&& effect) {
    Peer& peer = peers_.at(channel(effect.channel).connection_);
    // Replies are always delivered; other deliveries must not be sent to a full connection.
    if (effect.consumer != channel(effect.channel).reply_consumer_) {
        EXPECT_FALSE(peer.full) << "a delivery to a paused connection";
    }
    on(std::move(effect));
    if (peer.takes && *peer.takes > 0) *peer.takes -= 1;
    peer.full = peer.takes && *peer.takes == 0;
    return !peer.full;
}

void Scenario::confirm(const Confirm& effect) { on(Confirm{effect}); }

void Scenario::request(Effect&& effect) {
    std::visit(
        [this](auto&& one) {
            if constexpr (requires { on(std::move(one)); }) {
                on(std::move(one));
            } else {
                ADD_FAILURE() << "an effect that the engine itself never issues";
            }
        },
        std::move(effect));
}

void Scenario::on(Deliver&& effect) {
    ScenarioChannel& to = channel(effect.channel);
    EXPECT_EQ(effect.delivery.value, ++to.last_delivery_) << "delivery numbers have no gaps";
    EXPECT_NE(std::find(to.consumers_.begin(), to.consumers_.end(), effect.consumer),
              to.consumers_.end())
        << "a delivery before the consumer's start was answered, or after its end";
    to.transcript_.push_back(line(effect.redelivered ? "redeliver" : "deliver", effect.consumer) +
                             ' ' + std::string(effect.message->body()));
    to.deliveries_.push_back({effect.consumer, effect.delivery.value, effect.redelivered, 0,
                              std::move(effect.message), std::move(effect.envelope), effect.counts,
                              effect.failed_deliveries});
}

void Scenario::on(Confirm&& effect) {
    ScenarioChannel& to = channel(effect.channel);
    EXPECT_EQ(effect.sequence, ++to.last_confirm_) << "confirms come in order";
    to.transcript_.push_back(line(effect.accepted ? "ack" : "nack", effect.sequence));
    to.confirms_.push_back(effect);
}

void Scenario::on(ReturnUnroutable&& effect) {
    ScenarioChannel& to = channel(effect.channel);
    to.returns_.emplace_back(effect.message->body());
    if (effect.sequence != 0 && effect.sequence == to.sole_outcome_) to.last_confirm_ += 1;
    to.transcript_.push_back("return " + to.returns_.back());
}

void Scenario::on(PublishRefused&& effect) {
    ScenarioChannel& to = channel(effect.channel);
    if (effect.sequence != 0) to.last_confirm_ = effect.sequence;
    to.publish_refusals_.push_back(std::move(effect));
}

void Scenario::on(CreditState&& effect) {
    ScenarioChannel& to = channel(effect.channel);
    std::string told = line("credit", effect.consumer) + " delivered " +
                       std::to_string(effect.delivered) + " until " + std::to_string(effect.until) +
                       " available " + std::to_string(effect.available) +
                       (effect.drained ? " drained" : "") +
                       (effect.active ? (*effect.active ? " active" : " waiting") : "");
    to.transcript_.push_back(told);
    to.credit_states_.push_back(std::move(told));
}

void Scenario::on(Done&& effect) {
    ScenarioChannel& to = channel(effect.channel);
    EXPECT_TRUE(to.open_) << "an answer on a closed channel";
    // A consumer's start is answered before its first delivery (amqp091 11.3).
    if (to.starting_consumer_ != 0) {
        to.consumers_.push_back(std::exchange(to.starting_consumer_, 0));
    }
    if (const auto* got = std::get_if<GetAnswer>(&effect.answer); got != nullptr && got->message) {
        EXPECT_EQ(got->delivery.value, ++to.last_delivery_) << "delivery numbers have no gaps";
    }
    to.transcript_.emplace_back("done");
    to.answers_.push_back(std::move(effect));
}

void Scenario::on(Refuse&& effect) {
    ScenarioChannel& to = channel(effect.channel);
    EXPECT_TRUE(to.open_) << "a channel is refused once";
    EXPECT_EQ(engine_.attached().find_channel(effect.channel), nullptr);
    // With small portions it may come long after its command.
    const bool at_once = engine_.settings().portion.steps >= Portion::Size{}.steps;
    if (effect.command != RefusedCommand::none && at_once) {
        EXPECT_EQ(effect.command, refused_command_);
    }
    to.open_ = false;
    to.transcript_.push_back("refuse " + effect.refusal.text);
    to.refusal_ = std::move(effect.refusal);
}

void Scenario::on(CancelConsumer&& effect) {
    ScenarioChannel& to = channel(effect.channel);
    std::erase(to.consumers_, effect.consumer);
    to.transcript_.push_back(line("cancel", effect.consumer));
    to.cancelled_.push_back(effect.consumer);
}

void Scenario::on(DeliveriesTimedOut&& effect) {
    ScenarioChannel& to = channel(effect.channel);
    for (const DeliveryId delivery : effect.deliveries) {
        to.transcript_.push_back(line("timed-out", delivery.value));
        to.timed_out_.push_back(delivery.value);
    }
}

void Scenario::on(TargetGone&& effect) {
    channel(effect.channel).transcript_.emplace_back("target gone");
}

void Scenario::on(Notice&& effect) { notices_.push_back(std::move(effect.text)); }

void Scenario::on(ConnectionClosed&& effect) { peers_.at(effect.connection).closed = true; }

}  // namespace revenant::engine
