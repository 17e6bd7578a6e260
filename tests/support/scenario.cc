#include "tests/support/scenario.h"

#include "base/check.h"
#include "engine/recovery/snapshot_codec.h"
#include "engine/rules/consumers.h"
#include "engine/view/describe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace revenant::engine {
namespace {

// ------------------------------------------------------------------ the dialect of the tests
//
// properties = { name NUL type NUL value NUL }. Names of properties begin with '@', all others are
// headers.

char letter_of(ValueType type) { return static_cast<char>('a' + static_cast<int>(type)); }

void append_field(std::string& out, std::string_view prefix, const Field& field) {
    out += prefix;
    out += field.name;
    out += '\0';
    out += letter_of(field.value.type);
    out += '\0';
    out += display(field.value);
    out += '\0';
}

Value parse_value(char letter, const std::string& text) {
    const auto type = static_cast<ValueType>(letter - 'a');
    switch (type) {
        case ValueType::void_value:
            return Value::nothing();
        case ValueType::boolean:
            return Value::boolean(text == "true");
        case ValueType::float32:
        case ValueType::float64:
            return {type, std::stod(text)};
        case ValueType::long_string:
        case ValueType::binary:
            return {type, text};
        case ValueType::decimal:
        case ValueType::array:
        case ValueType::table:
            UNREACHABLE();  // no engine test needs them as a header
        default:
            return {type, static_cast<std::int64_t>(std::stoll(text))};
    }
}

Table parse_fields(std::string_view properties, bool headers) {
    std::vector<std::string> parts;
    for (std::size_t start = 0; start < properties.size();) {
        const std::size_t end = properties.find('\0', start);
        parts.emplace_back(properties.substr(start, end - start));
        start = end + 1;
    }
    Table table;
    for (std::size_t i = 0; i + 2 < parts.size(); i += 3) {
        const bool is_header = !parts[i].starts_with('@');
        if (is_header != headers) continue;
        table.push_back(
            {parts[i].substr(is_header ? 0 : 1), parse_value(parts[i + 1][0], parts[i + 2])});
    }
    return table;
}

const MessageFormat test_format{
    0,
    [](const Message& message) { return parse_fields(message.properties(), true); },
    [](const Message& message, std::string_view name) {
        const Table properties = parse_fields(message.properties(), false);
        const Value* const value = find(properties, name);
        return value == nullptr ? std::string() : display(*value);
    },
    [](const Message&) { return std::optional<DeathHistory>{}; },
};

std::string line(std::string_view what, std::uint64_t number) {
    return std::string(what) + ' ' + std::to_string(number);
}

}  // namespace

Table arguments(std::initializer_list<Argument> given) {
    Table table;
    for (const Argument& argument : given) table.push_back(argument.field);
    return table;
}

Value real(double number) { return {ValueType::float64, number}; }

const MessageFormat& test_message_format() { return test_format; }

MessageRef make_test_message(std::string_view routing_key, std::string_view body,
                             const PublishOptions& options) {
    std::string properties;
    for (const Field& field : options.headers) append_field(properties, "", field);
    for (const Field& field : options.properties) append_field(properties, "@", field);
    MessageHead head;
    head.format = &test_format;
    head.persistent = options.persistent;
    head.priority = options.priority;
    head.ttl_ms = options.ttl_ms;
    head.extra_keys = {options.cc, options.bcc};
    return make_message(options.exchange, routing_key, properties, body, std::move(head));
}

std::string Delivery::exchange() const {
    return envelope ? envelope->exchange : std::string(message->exchange());
}

std::string Delivery::routing_key() const {
    return envelope ? envelope->routing_keys.front() : std::string(message->routing_key());
}

std::vector<std::string> Delivery::deaths() const {
    std::vector<std::string> told;
    if (!envelope) return told;
    for (const Death& death : envelope->history.deaths) {
        told.push_back(line(death.queue + ' ' + std::string(to_string(death.reason)), death.count));
    }
    return told;
}

// ------------------------------------------------------------------------------- channels

ScenarioChannel::ScenarioChannel(Scenario& scenario, ConnectionId connection)
    : scenario_(scenario), connection_(connection) {
    make_sure_it_is_open();
}

void ScenarioChannel::make_sure_it_is_open() {
    if (open_) return;
    EXPECT_FALSE(refusal_) << "nobody expected: " << refusal_->text;
    id_ = {++scenario_.last_channel_};
    scenario_.channels_by_id_[id_] = this;
    transactional_ = false;
    last_consumer_ = 0;
    last_publish_ = 0;
    last_confirm_ = 0;
    last_delivery_ = 0;
    consumers_.clear();
    starting_consumer_ = 0;
    reply_consumer_ = 0;
    open_ = true;
    scenario_.handle(OpenChannel{connection_, id_});
}

// Every question is answered by exactly one Done or Refuse (command.h).
template <typename Question>
void ScenarioChannel::ask(Question question) {
    make_sure_it_is_open();
    question.channel = id_;
    answers_.clear();
    scenario_.handle(std::move(question));
    // What takes several portions is answered when all of it is done.
    for (int ticks = 0; answers_.empty() && open_ && ticks < 10'000; ++ticks) {
        if (!scenario_.has_work()) break;
        scenario_.tick();
    }
    EXPECT_EQ(answers_.size() + (open_ ? 0 : 1), 1U) << "answers to one question";
}

template <typename Answer>
Answer ScenarioChannel::answer() {
    if (answers_.empty()) return {};
    Answer* const found = std::get_if<Answer>(&answers_.front().answer);
    EXPECT_NE(found, nullptr) << "an answer of another kind";
    return found == nullptr ? Answer{} : std::move(*found);
}

void ScenarioChannel::declare_exchange(std::string name, std::string type,
                                       ExchangeOptions options) {
    ask(DeclareExchange{id_, std::move(name), std::move(type), options.passive, options.durable,
                        options.auto_delete, options.internal, std::move(options.arguments),
                        std::move(options.refusal_if_new)});
}

void ScenarioChannel::delete_exchange(std::string name, bool if_unused) {
    ask(DeleteExchange{id_, std::move(name), if_unused});
}

QueueAnswer ScenarioChannel::declare_queue(std::string name, QueueOptions options) {
    ask(DeclareQueue{id_, std::move(name), options.server_named, options.passive, options.durable,
                     options.exclusive, options.auto_delete, std::move(options.arguments),
                     std::move(options.refusal_if_new), options.queues_max});
    return answer<QueueAnswer>();
}

QueueAnswer ScenarioChannel::declare_queue(std::string name,
                                           std::initializer_list<Argument> given) {
    return declare_queue(std::move(name), QueueOptions{.arguments = arguments(given)});
}

std::uint64_t ScenarioChannel::delete_queue(std::string name, bool if_unused, bool if_empty) {
    ask(DeleteQueue{id_, std::move(name), if_unused, if_empty});
    return answer<CountAnswer>().message_count;
}

std::uint64_t ScenarioChannel::purge(std::string queue) {
    ask(PurgeQueue{id_, std::move(queue)});
    return answer<CountAnswer>().message_count;
}

std::uint64_t ScenarioChannel::discard_parked(std::string queue) {
    ask(DiscardParked{id_, std::move(queue)});
    return answer<CountAnswer>().message_count;
}

void ScenarioChannel::bind(std::string source, std::string destination, std::string key,
                           BindOptions options) {
    ask(Bind{id_, std::move(source), options.to, std::move(destination), std::move(key),
             std::move(options.arguments), std::move(options.refusal_if_topic)});
}

void ScenarioChannel::unbind(std::string source, std::string destination, std::string key,
                             BindOptions options) {
    ask(Unbind{id_, std::move(source), options.to, std::move(destination), std::move(key),
               std::move(options.arguments), std::move(options.refusal_if_topic)});
}

std::uint64_t ScenarioChannel::publish(std::string_view routing_key, std::string_view body,
                                       const PublishOptions& options) {
    make_sure_it_is_open();
    Publish command{id_,
                    make_test_message(routing_key, body, options),
                    options.mandatory,
                    options.confirm ? ++last_publish_ : 0,
                    options.refusal_if_topic,
                    options.refusal,
                    options.one_outcome};
    const std::uint64_t sequence = command.confirm_sequence;
    sole_outcome_ = options.one_outcome ? sequence : 0;
    answers_.clear();
    scenario_.handle(std::move(command));
    EXPECT_TRUE(answers_.empty()) << "a publish is not answered";
    const Channel* const channel = scenario_.engine_.attached().find_channel(id_);
    if (channel == nullptr || channel->closing) return sequence;  // the refusal is under way
    if (open_ && !transactional_) {
        EXPECT_EQ(last_confirm_, last_publish_) << "a publish without its confirm";
    }
    return sequence;
}

std::uint32_t ScenarioChannel::consume(std::string queue, ConsumeOptions options) {
    make_sure_it_is_open();
    const std::uint32_t consumer = ++last_consumer_;
    if (!options.reply_name.empty()) reply_consumer_ = consumer;
    starting_consumer_ = consumer;
    ask(Consume{id_, consumer, std::move(queue), line("tag", consumer), options.no_ack,
                options.exclusive, std::move(options.arguments), std::move(options.reply_name),
                options.credited, options.on_timeout});
    return consumer;
}

void ScenarioChannel::set_credit(std::uint32_t consumer, std::uint64_t until,
                                 CreditOptions options) {
    scenario_.handle(SetCredit{id_, consumer, until, options.drain, options.echo});
}

void ScenarioChannel::check_target(std::string exchange, std::string queue) {
    ask(CheckTarget{id_, std::move(exchange), std::move(queue)});
}

QueueDescription ScenarioChannel::describe_queue(std::string name) {
    ask(DescribeQueue{id_, std::move(name)});
    return answer<QueueDescription>();
}

std::vector<BindingDescription> ScenarioChannel::list_bindings(ListBindings question) {
    question.channel = id_;
    ask(std::move(question));
    return answer<BindingsAnswer>().bindings;
}

void ScenarioChannel::cancel(std::uint32_t consumer) {
    ask(Cancel{id_, consumer});
    std::erase(consumers_, consumer);
}

std::optional<Delivery> ScenarioChannel::get(std::string queue, bool no_ack) {
    ask(Get{id_, std::move(queue), no_ack});
    GetAnswer got = answer<GetAnswer>();
    if (!got.message) return std::nullopt;
    return Delivery{0,
                    got.delivery.value,
                    got.redelivered,
                    got.messages_left,
                    std::move(got.message),
                    std::move(got.envelope),
                    got.counts};
}

void ScenarioChannel::qos(std::uint16_t prefetch_count, bool global) {
    ask(SetQos{id_, prefetch_count, global});
}

void ScenarioChannel::settle(std::uint64_t tag, Outcome outcome, bool multiple) {
    make_sure_it_is_open();
    answers_.clear();
    scenario_.handle(Settle{id_, {tag}, multiple, outcome});
    EXPECT_TRUE(answers_.empty()) << "a settlement is not answered";
}

void ScenarioChannel::settle(std::uint64_t tag, Outcome outcome, const OutcomeDetails& details) {
    scenario_.handle(Settle{
        id_, {tag}, false, outcome, Ref<const OutcomeDetails>::adopt(new OutcomeDetails(details))});
}

void ScenarioChannel::set_policy(Policy policy, PolicyScope scope) {
    ask(SetPolicy{id_, scope, std::move(policy)});
}

void ScenarioChannel::clear_policy(std::string name, PolicyScope scope) {
    ask(ClearPolicy{id_, scope, std::move(name)});
}

void ScenarioChannel::recover() { ask(Recover{id_}); }
void ScenarioChannel::select() {
    ask(SelectTransaction{id_});
    transactional_ = true;
}
void ScenarioChannel::commit() { ask(Commit{id_}); }
void ScenarioChannel::rollback() { ask(Rollback{id_}); }

void ScenarioChannel::close() {
    ask(CloseChannel{id_});
    open_ = false;
}

void ScenarioChannel::start_closing() {
    answers_.clear();
    scenario_.handle(CloseChannel{id_});
}

void ScenarioChannel::detach() {
    ask(CloseChannel{id_, /*detached=*/true});
    open_ = false;
}

void ScenarioChannel::pause() { scenario_.handle(PauseChannel{id_}); }
void ScenarioChannel::resume() { scenario_.handle(ResumeChannel{id_}); }

std::vector<std::string> ScenarioChannel::take_credit_states() {
    return std::exchange(credit_states_, {});
}

std::vector<PublishRefused> ScenarioChannel::take_publish_refusals() {
    return std::exchange(publish_refusals_, {});
}

std::vector<Delivery> ScenarioChannel::take_deliveries() { return std::exchange(deliveries_, {}); }

std::vector<std::string> ScenarioChannel::take_bodies() {
    std::vector<std::string> bodies;
    for (const Delivery& delivery : take_deliveries()) bodies.push_back(delivery.body());
    return bodies;
}

Delivery ScenarioChannel::take_delivery() {
    CHECK(!deliveries_.empty());
    Delivery first = std::move(deliveries_.front());
    deliveries_.erase(deliveries_.begin());
    return first;
}

std::vector<Confirm> ScenarioChannel::take_confirms() { return std::exchange(confirms_, {}); }
std::vector<std::string> ScenarioChannel::take_returns() { return std::exchange(returns_, {}); }
std::vector<std::uint32_t> ScenarioChannel::take_cancelled() {
    return std::exchange(cancelled_, {});
}
std::vector<std::uint64_t> ScenarioChannel::take_timed_out() {
    return std::exchange(timed_out_, {});
}
std::vector<std::string> ScenarioChannel::take_transcript() {
    return std::exchange(transcript_, {});
}

void ScenarioChannel::expect_refused(RefusalKind kind, std::string_view text) {
    const std::optional<Refusal> refusal = take_refusal();
    ASSERT_TRUE(refusal) << "expected: " << text;
    EXPECT_EQ(refusal->text, text);
    EXPECT_EQ(refusal->kind, kind) << text;
}

std::optional<Refusal> ScenarioChannel::take_refusal() {
    return std::exchange(refusal_, std::nullopt);
}

// ------------------------------------------------------------------------------- scenario

namespace {

EngineSettings with_store(EngineSettings settings, MemoryStore& store) {
    settings.cold_store = &store;
    settings.formats = {&test_format};
    settings.memory_budget_bytes = 0;
    return settings;
}

}  // namespace

// Whatever can leave memory does so after every turn: no test may notice.
Scenario::Scenario(EngineSettings settings)
    : engine_(with_store(std::move(settings), store_), *this, this) {
    facts_.observe(engine_.state());
    engine_.state().paging().worth_bytes = 0;
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
    EXPECT_TRUE(peers_.at(connection).closed || has_work()) << "a closed connection is told so";
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

// The two doors for publish and settle must lead to the same place: every other command takes the
// side door.
void Scenario::handle(Command&& command) {
    CHECK(!finished_);
    const bool side_door = ++command_count_ % 2 == 0;
    // A Tick may end what an earlier command began.
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
            bodies.emplace_back(engine_.state().whole(entry.message).value()->body());
        });
    }
    return bodies;
}

ScenarioChannel& Scenario::channel(ChannelId id) {
    const auto found = channels_by_id_.find(id);
    CHECK(found != channels_by_id_.end());
    EXPECT_EQ(found->second->id_, id) << "an effect for a channel that is gone";
    return *found->second;
}

// ------------------------------------------------------------------------ effects come back

bool Scenario::deliver(Deliver&& effect) {
    Peer& peer = peers_.at(channel(effect.channel).connection_);
    // A reply goes straight through; for everything else the connection is closed while it is full.
    if (effect.consumer != channel(effect.channel).reply_consumer_) {
        EXPECT_FALSE(peer.full) << "a delivery to a connection that can take no more";
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
                ADD_FAILURE() << "an effect that the engine itself never asks for";
            }
        },
        std::move(effect));
}

void Scenario::on(Deliver&& effect) {
    ScenarioChannel& to = channel(effect.channel);
    EXPECT_EQ(effect.delivery.value, ++to.last_delivery_) << "delivery numbers have no gaps";
    EXPECT_NE(std::find(to.consumers_.begin(), to.consumers_.end(), effect.consumer),
              to.consumers_.end())
        << "a delivery before the consumer was told of its start, or after its end";
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
    EXPECT_TRUE(to.open_) << "an answer on a channel that was refused";
    // A consumer is told of its start before its first delivery (amqp091 11.3).
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
    // In small portions it may come long after its command.
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

// ---------------------------------------------------------------------------- what must hold

namespace {

struct Recount {
    std::uint64_t ready = 0;
    std::uint64_t unacked = 0;
    std::uint64_t ready_bytes = 0;
    std::uint64_t unacked_bytes = 0;
    Amount delayed{};
    Amount outbox{};
    Amount lasting{};
    Amount parked{};
    friend bool operator==(const Recount&, const Recount&) = default;

    void add(const Queue& queue, std::size_t level, const Entry& entry) {
        const std::uint64_t bytes = queue.bytes_of(*entry.message);
        if (queue.keeps(*entry.message)) lasting.add(bytes);
        if (entry.state == EntryState::parked) return parked.add(bytes);
        if (level >= queue.served_levels()) {
            EXPECT_EQ(entry.state, EntryState::ready) << queue.name();
            (level == delayed_level ? delayed : outbox).add(bytes);
            return;
        }
        const bool is_ready = entry.state == EntryState::ready;
        (is_ready ? ready : unacked) += 1;
        (is_ready ? ready_bytes : unacked_bytes) += bytes;
    }
    void add_parked_pages(const Queue& queue, const Chain& chain) {
        for (std::uint64_t block = chain.first_block(); block < chain.end_block(); ++block) {
            const ColdBlock* const pages = chain.view(block).parked;
            if (pages == nullptr) continue;
            parked.add({pages->all.live, queue.bytes_of(pages->all)});
            lasting.add({pages->durable.live, queue.bytes_of(pages->durable)});
        }
    }
};

Recount counters_of(const Queue& queue) {
    return {queue.ready_count(), queue.unacked_count(), queue.ready_bytes(), queue.unacked_bytes(),
            queue.delayed(),     queue.outbox(),        queue.lasting(),     queue.parked()};
}

Recount recount(const Queue& queue, Timestamp now, Timestamp next_deadline) {
    Recount counted;
    for (std::size_t level = 0; level < queue.level_count(); ++level) {
        const Chain& chain = queue.level(level);
        std::uint64_t ready = 0;
        std::uint64_t live = 0;
        chain.for_each([&](std::uint64_t sequence, const Entry& entry) {
            counted.add(queue, level, entry);
            live += 1;
            if (entry.state != EntryState::ready) return;
            ready += 1;
            if (queue.settings.ttl_mode == TtlMode::head) return;
            EXPECT_GT(chain.deadline(sequence), now) << queue.name() << " holds an expired message";
            EXPECT_LE(next_deadline, chain.deadline(sequence))
                << "nobody will wake " << queue.name();
        });
        EXPECT_EQ(chain.ready_count(), ready) << queue.name();
        const std::uint64_t parked = counted.parked.count;
        counted.add_parked_pages(queue, chain);
        live += counted.parked.count - parked;
        EXPECT_EQ(chain.live_count(), live) << queue.name();
        EXPECT_EQ(chain.paged_out().live, 0U) << "all of " << queue.name() << " was looked at";
    }
    return counted;
}

void check_consumers_of(const Queue& queue) {
    const auto& all = queue.consumers.all;
    for (const Consumer* consumer : all) {
        EXPECT_EQ(consumer->queue, &queue);
        EXPECT_FALSE(consumer->cancelled);
        const bool eligible = !queue.settings.single_active_consumer || all.front() == consumer;
        if (queue.ready_count() > 0 && eligible) {
            EXPECT_FALSE(can_take(*consumer)) << "a message of " << queue.name() << " is stuck";
        }
    }
    for (const auto& [priority, active] : queue.consumers.lines) {
        for (const Consumer& consumer : active) {
            EXPECT_EQ(consumer.priority, priority);
            EXPECT_NE(std::find(all.begin(), all.end(), &consumer), all.end());
        }
    }
}

}  // namespace

void Scenario::check_queues() {
    for (Queue* const queue : engine_.state().queues_by_name()) {
        const Recount counted = recount(*queue, now_, engine_.next_deadline());
        EXPECT_EQ(counted, counters_of(*queue)) << queue->name();
        EXPECT_EQ(queue->letters.size(), queue->outbox().count) << queue->name();
        EXPECT_EQ(queue->waits != nullptr, !queue->letters.empty()) << queue->name();
        EXPECT_EQ(queue->unsettled_deliveries, queue->unacked_count()) << queue->name();
        EXPECT_FALSE(queue->awaits_work() || queue->deleted) << queue->name();
        if (queue->settings.overflow == Overflow::drop_head && queue->ready_count() > 0) {
            EXPECT_LE(queue->limited().count,
                      static_cast<std::uint64_t>(queue->settings.max_length.value_or(INT64_MAX)));
            EXPECT_LE(
                queue->limited().bytes,
                static_cast<std::uint64_t>(queue->settings.max_length_bytes.value_or(INT64_MAX)));
        }
        check_consumers_of(*queue);
    }
}

void Scenario::check_channels() {
    std::map<const Queue*, std::uint64_t> by_queue;
    std::set<std::pair<const Queue*, std::uint64_t>> places;
    engine_.attached().for_each_channel([&](Channel& channel) {
        std::map<const Consumer*, std::uint32_t> by_consumer;
        std::map<const Consumer*, std::uint32_t> overdue_by_consumer;
        std::uint64_t of_consumers = 0;
        std::vector<DeliveryId> deliveries;
        channel.unsettled.collect_up_to(channel.unsettled.newest(), deliveries);
        EXPECT_EQ(deliveries.size(), channel.unsettled.count());
        EXPECT_TRUE(std::is_sorted(deliveries.begin(), deliveries.end()));
        for (const DeliveryId delivery : deliveries) {
            const Unsettled& unsettled = *channel.unsettled.find(delivery);
            if (unsettled.consumer != nullptr) {
                by_consumer[unsettled.consumer] += 1;
                of_consumers += 1;
            }
            if (unsettled.state == Unsettled::State::timed_out) {
                overdue_by_consumer[unsettled.consumer] += 1;
                continue;
            }
            by_queue[unsettled.queue] += 1;
            if (unsettled.queue->deleted) continue;
            const Position position{unsettled.position};
            ASSERT_TRUE(unsettled.queue->contains(position));
            EXPECT_EQ(unsettled.queue->at(position).state, EntryState::unacked);
            EXPECT_TRUE(places.emplace(unsettled.queue, unsettled.position).second)
                << "one message is with two consumers";
        }
        EXPECT_EQ(channel.consumer_unsettled, of_consumers);
        for (const auto& [number, consumer] : channel.consumers) {
            EXPECT_EQ(consumer->unsettled, by_consumer[consumer.get()]);
            EXPECT_EQ(consumer->timed_out, overdue_by_consumer[consumer.get()]);
            const auto& all = consumer->queue->consumers.all;
            EXPECT_EQ(std::count(all.begin(), all.end(), consumer.get()), 1);
        }
        for (const auto& [key, consumer] : channel.cancelled_consumers) {
            EXPECT_GT(consumer->unsettled, 0U) << "a cancelled consumer outlives its deliveries";
            EXPECT_EQ(consumer->unsettled, by_consumer[consumer.get()]);
        }
    });
    for (const auto& [queue, count] : by_queue) EXPECT_EQ(queue->unsettled_deliveries, count);
    for (Queue* const queue : engine_.state().queues_by_name()) {
        EXPECT_EQ(queue->unsettled_deliveries, by_queue[queue]) << queue->name();
    }
}

// Every entry that came in has left by a stated ending or is still here (design, promise 3).
void Scenario::check_accounts() {
    std::uint64_t here = 0;
    for (const Queue* queue : engine_.state().queues_by_name()) {
        here += queue->message_count();
    }
    const Accounts& accounts = engine_.state().accounts();
    EXPECT_EQ(accounts.entered, accounts.ended_total() + here);
}

void Scenario::check_replay() {
    State replayed;
    replayed.paging().store = &store_;  // some messages in it are stubs
    replayed.paging().formats = {&test_format};
    for (const Event& event : events_) replayed.apply(event);
    replayed.configure_rest();
    EXPECT_EQ(describe(replayed), describe(engine_.state())) << "replay differs from life";
    // After a restart everything is ready, and what has expired meanwhile is woken up for.
    for (const Queue* queue : replayed.queues_by_name()) {
        const Recount counted = recount(*queue, Timestamp{INT64_MIN}, replayed.deadlines_next());
        EXPECT_EQ(counted, counters_of(*queue)) << queue->name();
        EXPECT_EQ(queue->unacked_count(), 0U) << queue->name();
    }
}

void Scenario::check_restart() {
    const std::string life = describe(engine_.state(), Described::durable);
    const MessageFormats formats{&test_format};
    State journaled;
    journaled.paging().store = &store_;
    journaled.paging().formats = formats;
    ASSERT_TRUE(store_.replay(journaled, formats));
    EXPECT_EQ(describe(journaled, Described::durable), life) << "the journal differs from life";
    State restored;
    restored.paging().store = &store_;
    restored.paging().formats = formats;
    ASSERT_TRUE(decode_snapshot(encode_snapshot(engine_.state(), Stop::none), restored));
    EXPECT_EQ(describe(restored, Described::durable), life) << "the snapshot differs from life";
    for (const Queue* queue : restored.queues_by_name()) {
        EXPECT_EQ(recount(*queue, Timestamp{INT64_MIN}, restored.deadlines_next()),
                  counters_of(*queue))
            << queue->name();
    }
}

void Scenario::check() {
    check_queues();
    check_channels();
    check_accounts();
}

void Scenario::finish() {
    if (finished_) return;
    for (const auto& channel : channels_) {
        EXPECT_FALSE(channel->refusal_) << "nobody expected: " << channel->refusal_->text;
    }
    check();
    check_replay();
    check_restart();
    finished_ = true;
}

}  // namespace revenant::engine
