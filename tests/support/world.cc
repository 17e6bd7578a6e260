#include "tests/support/world.h"

#include "amqp10/links/connection.h"
#include "base/check.h"
#include "engine/view/describe.h"

#include <algorithm>
#include <array>

namespace revenant::protocol {

// ------------------------------------------------------------------------------------- wires

class Wire::LocalEngineProxy final : public EngineProxy {
  public:
    LocalEngineProxy(World& world, engine::Engine& engine) : world_(world), engine_(engine) {}
    void send(engine::Command&& command) override {
        engine_.handle(std::move(command), world_.now());
    }
    void publish(engine::Publish&& command) override {
        engine_.publish(std::move(command), world_.now());
    }
    void settle(const engine::Settle& command) override { engine_.settle(command, world_.now()); }

  private:
    World& world_;
    engine::Engine& engine_;
};

class Wire::RemoteEngineProxy final : public EngineProxy {
  public:
    RemoteEngineProxy(World& world, engine::Engine& engine) : world_(world), engine_(engine) {}
    void send(engine::Command&& command) override {
        world_.commands_.push_back({&engine_, std::move(command)});
    }
    void publish(engine::Publish&& command) override { send(std::move(command)); }
    void settle(const engine::Settle& command) override { send(engine::Settle(command)); }

  private:
    World& world_;
    engine::Engine& engine_;
};

Wire::Wire(World& world, const Connect& options)
    : world_(world),
      distance_(options.distance),
      place_(options.place),
      protocol_(options.protocol),
      certificate_user_(options.certificate_user) {
    if (protocol_ == Protocol::amqp10) {
        connection_ = std::make_unique<amqp10::Connection>(world.settings(), *this, world.now());
    } else {
        connection_ = std::make_unique<amqp091::Connection>(world.settings(), *this, world.now());
    }
    connection_->set_alarm(world.alarm_);
}

amqp091::Connection& Wire::connection091() {
    CHECK(protocol_ == Protocol::amqp091);
    return static_cast<amqp091::Connection&>(*connection_);
}

Wire::~Wire() { close(); }

void Wire::close() {
    gone_ = true;
    unread_.clear();
    connection_.reset();
    world_.sinks_.erase(sink_);
}

const std::shared_ptr<const AccessTable>& Wire::access() { return world_.access_; }

VhostAnswer Wire::open_vhost(std::string_view vhost, std::string_view) {
    if (!world_.entry_refusal_.empty()) return VhostRefused{world_.entry_refusal_};
    vhost_ = std::string(vhost);
    if (distance_ == Distance::near) return enter();
    // Like a socket that moves to the home reactor of its virtual host.
    moving_ = true;
    return VhostOnOtherReactor{};
}

VhostAnswer Wire::enter() {
    engine::Engine& engine = world_.engine(vhost_);
    if (distance_ == Distance::near) {
        port_ = std::make_unique<LocalEngineProxy>(world_, engine);
    } else {
        port_ = std::make_unique<RemoteEngineProxy>(world_, engine);
    }
    sink_ = world_.register_sink(*connection_, distance_);
    return VhostOpened{port_.get(), ConnectionId{sink_}};
}

ChannelId Wire::register_channel(engine::EffectSink& sink) {
    return ChannelId{world_.register_sink(sink, distance_)};
}

void Wire::release_channel(ChannelId channel) { world_.sinks_.erase(channel.value); }

// The same names in every run, each unique.
std::string Wire::random_name(std::string_view prefix) {
    std::string digits = std::to_string(++world_.names_given_);
    std::string name(prefix);
    name.append(22 - digits.size(), '_');
    return name + digits;
}

bool Wire::work() {
    if (gone_) return false;
    bool moved = false;
    if (std::exchange(moving_, false)) {
        connection_->vhost_opened(enter());
        moved = true;
    }
    if (connection_->finished()) unread_.clear();
    while (!unread_.empty() && connection_->wants_input()) {
        if (world_.impatient_) connection_->look_at_the_clock();
        const std::size_t used = connection_->receive(unread_, world_.now());
        CHECK(used <= unread_.size());
        if (used == 0) break;
        unread_.erase(0, used);
        moved = true;
    }
    if (flush()) moved = true;
    if (connection_->finished() && (connection_->output().empty() || !reads_)) close();
    return moved;
}

// Takes the output in pieces of varying size, as sockets do.
bool Wire::flush() {
    if (!flush_wanted_) return false;
    flush_wanted_ = false;
    connection_->before_flush();
    Output& output = connection_->output();
    while (reads_ && !output.empty()) {
        constexpr std::array<std::size_t, 5> sizes = {1, 64 * 1024, 7, 9000, SIZE_MAX};
        std::size_t left = sizes[writes_++ % sizes.size()];
        std::array<std::string_view, 3> parts;
        const std::size_t count = output.gather(parts);
        CHECK(count > 0);
        std::size_t taken = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::string_view piece = parts[i].substr(0, left);
            received_.append(piece);
            taken += piece.size();
            left -= piece.size();
        }
        output.consume(taken);
    }
    output.shrink();
    connection_->output_drained();
    return true;
}

// ------------------------------------------------------------------------------------- homes

World::Home::Home(World& owner, std::string name)
    : world(owner),
      engine({.vhost = std::move(name)}, *this, owner.keeps_record_ ? this : nullptr) {}

bool World::Home::deliver(engine::Deliver&& effect) {
    if (!is_far(effect.channel.value)) {
        engine::EffectSink* const sink = world.find_sink(effect.channel.value);
        return sink == nullptr || sink->deliver(std::move(effect));
    }
    // Remote deliveries are sent in portions, as by runtime::Vhost.
    constexpr std::uint64_t portion_bytes = 256 * 1024;
    constexpr std::uint64_t overhead_bytes = 128;
    const ChannelId channel = effect.channel;
    std::uint64_t& sent = far_bytes[channel];
    sent += effect.message->body_size() + overhead_bytes;
    world.effects_.emplace_back(std::move(effect));
    if (sent < portion_bytes) return true;
    far_bytes.erase(channel);
    world.effects_.emplace_back(engine::DeliveriesPaused{channel});
    return false;
}

void World::Home::confirm(const engine::Confirm& effect) {
    if (is_far(effect.channel.value)) {
        world.effects_.emplace_back(effect);
    } else if (engine::EffectSink* const sink = world.find_sink(effect.channel.value)) {
        sink->confirm(effect);
    }
}

void World::Home::request(engine::Effect&& effect) {
    const std::uint64_t id = engine::addressee(effect);
    if (id == 0) return;  // a notice for operators
    if (is_far(id)) {
        world.effects_.push_back(std::move(effect));
    } else if (engine::EffectSink* const sink = world.find_sink(id)) {
        sink->request(std::move(effect));
    }
}

// ------------------------------------------------------------------------------------- world

// A node after its first startup, with a second virtual host.
World::World(ConnectionSettings settings, bool keeps_record)
    : settings_(std::move(settings)), keeps_record_(keeps_record), access_(catalog_.snapshot()) {
    for (const CatalogCommand& command : initial_commands({}, Salt{})) change(command);
    change(PutVhost{.name = "elsewhere"});
    steps_.clear();
}

World::~World() {
    // Mailbox items refer to messages, never to wires, so pending ones are simply destroyed.
    wires_.clear();
}

engine::Engine& World::engine(std::string_view vhost) {
    auto& home = homes_[std::string(vhost)];
    if (!home) home = std::make_unique<Home>(*this, std::string(vhost));
    return home->engine;
}

std::uint64_t World::register_sink(engine::EffectSink& sink, Distance distance) {
    const std::uint64_t id = ++last_id_ | (distance == Distance::far ? far_bit : 0);
    sinks_.emplace(id, &sink);
    return id;
}

engine::EffectSink* World::find_sink(std::uint64_t id) {
    const auto found = sinks_.find(id);
    return found == sinks_.end() ? nullptr : found->second;
}

void World::dispatch(engine::Effect&& effect) {
    engine::EffectSink* const sink = find_sink(engine::addressee(effect));
    if (sink == nullptr) return;  // it ended while the effect was pending
    if (auto* deliver = std::get_if<engine::Deliver>(&effect)) {
        sink->deliver(std::move(*deliver));
    } else if (const auto* confirm = std::get_if<engine::Confirm>(&effect)) {
        sink->confirm(*confirm);
    } else {
        sink->request(std::move(effect));
    }
}

bool World::carry_commands() {
    auto batch = std::exchange(commands_, {});
    for (VhostCommand& letter : batch) letter.engine->handle(std::move(letter.command), now_);
    return !batch.empty();
}

bool World::carry_effects() {
    auto batch = std::exchange(effects_, {});
    for (engine::Effect& effect : batch) dispatch(std::move(effect));
    return !batch.empty();
}

bool World::work_wires() {
    bool moved = false;
    for (const auto& wire : wires_) moved = wire->work() || moved;
    return moved;
}

void World::run_until_quiet() {
    while (true) {
        const bool wires = work_wires();
        const bool commands = carry_commands();
        const bool effects = carry_effects();
        if (!wires && !commands && !effects) return;
    }
}

std::size_t World::connect(const Connect& options) {
    steps_.emplace_back(options);
    wires_.push_back(std::make_unique<Wire>(*this, options));
    return wires_.size() - 1;
}

void World::feed(std::size_t wire, std::string_view bytes) {
    steps_.emplace_back(Feed{wire, std::string(bytes)});
    if (wires_[wire]->gone_) return;
    wires_[wire]->unread_.append(bytes);
    wires_[wire]->work();
}

void World::carry(Carry::What what) {
    steps_.emplace_back(Carry{what});
    switch (what) {
        case Carry::What::all:
            run_until_quiet();
            return;
        case Carry::What::commands:
            carry_commands();
            return;
        case Carry::What::effects:
            carry_effects();
            work_wires();
            return;
    }
}

void World::tick_due_engines() {
    for (const auto& [name, home] : homes_) {
        if (home->engine.next_deadline() <= now_) home->engine.handle(engine::Tick{}, now_);
    }
}

// In the steps of a reactor: engine timers when they are due, ticks four times per second.
void World::advance(Duration by) {
    steps_.emplace_back(Advance{by});
    run_until_quiet();  // earlier input is processed first
    constexpr Duration tick = milliseconds(250);
    const Timestamp end = now_ + by;
    Timestamp next_tick = now_ + tick;
    while (now_ < end) {
        Timestamp next = std::min(end, next_tick);
        for (const auto& [name, home] : homes_) {
            next = std::min(next, std::max(now_, home->engine.next_deadline()));
        }
        now_ = next;
        tick_due_engines();
        if (now_ >= next_tick) {
            next_tick = now_ + tick;
            for (const auto& wire : wires_) {
                if (!wire->gone_) wire->connection_->tick(now_);
            }
        }
        run_until_quiet();
    }
}

void World::change(const CatalogCommand& command) {
    steps_.emplace_back(Change{command});
    CHECK(catalog_.handle(command).has_value());
    access_ = catalog_.snapshot();
}

void World::raise_alarm(std::string_view reason) {
    steps_.emplace_back(RaiseAlarm{std::string(reason)});
    alarm_ = std::string(reason);
    for (const auto& wire : wires_) {
        if (!wire->gone_) wire->connection_->set_alarm(reason);
    }
    work_wires();
}

void World::close_forced(std::size_t wire, std::string_view reason) {
    steps_.emplace_back(CloseForced{wire, std::string(reason)});
    if (wires_[wire]->gone_) return;
    wires_[wire]->connection_->close_forced(reason, now_);
    wires_[wire]->work();
}

void World::shut_down(std::string_view reason) {
    steps_.emplace_back(ShutDown{std::string(reason)});
    for (const auto& wire : wires_) {
        if (!wire->gone_) wire->connection_->expect_close();
    }
    for (const auto& wire : wires_) {
        if (wire->gone_) continue;
        wire->connection_->close_forced(reason, now_);
        wire->work();
    }
}

void World::disconnect(std::size_t wire) {
    steps_.emplace_back(Disconnect{wire});
    Wire& lost = *wires_[wire];
    if (lost.gone_) return;
    lost.connection_->on_connection_lost();
    lost.close();
}

void World::read(std::size_t wire, bool on) {
    steps_.emplace_back(Read{wire, on});
    wires_[wire]->reads_ = on;
    wires_[wire]->flush_wanted_ = true;
    wires_[wire]->work();
}

void World::refuse_entry(std::string_view text) {
    steps_.emplace_back(RefuseEntry{std::string(text)});
    entry_refusal_ = std::string(text);
}

void World::take(const Step& step) {
    struct Taker {
        World& world;
        void operator()(const Connect& one) const { world.connect(one); }
        void operator()(const Feed& one) const { world.feed(one.wire, one.bytes); }
        void operator()(const Carry& one) const { world.carry(one.what); }
        void operator()(const Advance& one) const { world.advance(one.by); }
        void operator()(const Change& one) const { world.change(one.command); }
        void operator()(const RaiseAlarm& one) const { world.raise_alarm(one.reason); }
        void operator()(const CloseForced& one) const { world.close_forced(one.wire, one.reason); }
        void operator()(const ShutDown& one) const { world.shut_down(one.reason); }
        void operator()(const Disconnect& one) const { world.disconnect(one.wire); }
        void operator()(const Read& one) const { world.read(one.wire, one.on); }
        void operator()(const RefuseEntry& one) const { world.refuse_entry(one.text); }
    };
    std::visit(Taker{*this}, step);
}

std::string World::fault() {
    for (const auto& [name, home] : homes_) {
        if (std::string found = fault_of(*home); !found.empty()) return name + ": " + found;
    }
    return {};
}

std::string World::fault_of(Home& home) {
    engine::State& state = home.engine.state();
    engine::Attached& attached = home.engine.attached();
    std::uint64_t here = 0;
    std::uint64_t unacked = 0;
    for (const engine::Queue* queue : state.queues_by_name()) {
        std::uint64_t ready = 0;
        std::uint64_t away = 0;
        for (std::size_t level = 0; level < queue->level_count(); ++level) {
            queue->level(level).for_each([&](std::uint64_t, const engine::Entry& entry) {
                (entry.state == engine::EntryState::ready ? ready : away) += 1;
            });
        }
        if (ready != queue->ready_count() || away != queue->unacked_count()) {
            return "the counters of " + queue->name() + " are wrong";
        }
        if (queue->unsettled_deliveries != away) return queue->name() + " misses deliveries";
        if (queue->awaits_work() || queue->deleted) return queue->name() + " is not settled";
        if (queue->declaration.exclusive && attached.find_connection(queue->owner) == nullptr) {
            return queue->name() + " has outlived its connection";
        }
        here += ready + away;
        unacked += away;
    }
    const engine::EntryCounters& accounts = state.accounts();
    if (accounts.entered != accounts.ended_total() + here)
        return "the entry counters do not balance";
    std::uint64_t unsettled = 0;
    attached.for_each_channel([&](engine::Channel& channel) {
        std::vector<DeliveryId> deliveries;
        channel.unsettled.collect_up_to(channel.unsettled.newest(), deliveries);
        for (const DeliveryId delivery : deliveries) {
            const engine::Queue* const queue = channel.unsettled.find(delivery)->queue;
            if (queue != nullptr && !queue->deleted) unsettled += 1;  // otherwise it timed out
        }
    });
    if (unsettled != unacked) return "unacked messages have no delivery";
    std::size_t running = 0;
    for (const auto& wire : wires_) {
        if (wire->sink_ == 0 || !attached.find_connection({wire->sink_})) continue;
        running += 1;
        if (wire->gone_ && commands_.empty()) return "a lost connection is still attached";
    }
    if (attached.connection_count() != running) return "a connection without a wire is attached";
    if (!keeps_record_) return {};
    engine::State replayed;
    for (const engine::Event& event : home.events) replayed.apply(event);
    replayed.configure_rest();
    if (engine::describe(replayed) != engine::describe(state)) return "the replayed state differs";
    return {};
}

}  // namespace revenant::protocol
