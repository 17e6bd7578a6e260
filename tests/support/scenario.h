// Scenario: an engine with clients, controlled by commands. Engine tests use it to declare,
// publish, consume, settle, advance the time and check the results.
//
// It continuously checks the invariants: one answer per command, delivery numbers without gaps,
// confirms in order, no deliveries to a paused connection. At its end it replays all recorded
// events into a new State and compares, so every engine test is a recovery test; it also balances
// the entry counters and recomputes every other counter.
#pragma once

#include "base/ids.h"
#include "base/time.h"
#include "engine/engine.h"
#include "engine/recovery/durable_recorder.h"
#include "engine/words/effect.h"
#include "engine/words/event.h"
#include "message/message.h"
#include "message/value.h"
#include "tests/support/memory_store.h"

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::engine {

// An argument or header whose type is that of the literal: {"x-max-length", 3}.
struct Argument {
    Argument(std::string_view name, int number) : field{std::string(name), Value::int32(number)} {}
    Argument(std::string_view name, long number) : field{std::string(name), Value::int64(number)} {}
    Argument(std::string_view name, bool flag) : field{std::string(name), Value::boolean(flag)} {}
    Argument(std::string_view name, const char* text)
        : field{std::string(name), Value::string(text)} {}
    Argument(std::string_view name, const std::string& text)
        : field{std::string(name), Value::string(text)} {}
    Argument(std::string_view name, Value value) : field{std::string(name), std::move(value)} {}
    Field field;
};
Table arguments(std::initializer_list<Argument> given);
Value real(double number);

struct ExchangeOptions {
    bool passive = false;
    bool durable = false;
    bool auto_delete = false;
    bool internal = false;
    Table arguments;
    std::optional<Refusal> refusal_if_new;
};
struct QueueOptions {
    bool server_named = false;
    bool passive = false;
    bool durable = true;
    bool exclusive = false;
    bool auto_delete = false;
    Table arguments;
    std::optional<Refusal> refusal_if_new;
    std::optional<std::int64_t> queues_max;
};
struct BindOptions {
    DestinationKind to = DestinationKind::queue;
    Table arguments;
    std::optional<Refusal> refusal_if_topic;
};
struct PublishOptions {
    std::string exchange;
    bool persistent = true;
    std::optional<std::int64_t> ttl_ms;
    std::optional<std::uint8_t> priority;
    Table headers;
    // correlation_id, message_id, timestamp: used by a consistent-hash exchange.
    Table properties;
    std::vector<std::string> cc;
    std::vector<std::string> bcc;
    bool mandatory = false;
    bool confirm = false;
    std::optional<Refusal> refusal_if_topic;
    std::optional<Refusal> refusal;
    bool single_outcome = false;
};
struct ConsumeOptions {
    bool no_ack = false;
    bool exclusive = false;
    Table arguments;
    std::string reply_name;
    bool uses_credit = false;
    TimeoutAction on_timeout = TimeoutAction::channel_closed;
};
struct CreditOptions {
    bool drain = false;
    bool echo = false;
};

// The format of test messages, with properties encoded as only the tests do.
const MessageFormat& test_message_format();
MessageRef make_test_message(std::string_view routing_key, std::string_view body,
                             const PublishOptions& options = {});

// A message received by a consumer or by basic.get.
struct Delivery {
    std::uint32_t consumer = 0;  // 0: from basic.get
    std::uint64_t tag = 0;
    bool redelivered = false;
    std::uint64_t messages_left = 0;  // basic.get only
    MessageRef message;
    EnvelopeRef envelope;
    ShownCounts counts;
    std::uint32_t failed_deliveries = 0;  // 0 for basic.get

    std::string body() const { return std::string(message->body()); }
    // As shown to a consumer (DL-67).
    std::string exchange() const;
    std::string routing_key() const;
    // "q1 rejected 2", most recent first.
    std::vector<std::string> deaths() const;
};

class Scenario;

// A channel of a client. After a refusal, the next command opens a new channel with the same
// handle, as a client would.
class ScenarioChannel {
  public:
    ScenarioChannel(Scenario& scenario, ConnectionId connection);

    void declare_exchange(std::string name, std::string type, ExchangeOptions options = {});
    void delete_exchange(std::string name, bool if_unused = false);
    QueueAnswer declare_queue(std::string name, QueueOptions options = {});
    QueueAnswer declare_queue(std::string name, std::initializer_list<Argument> given);
    // Returns the number of deleted messages.
    std::uint64_t delete_queue(std::string name, bool if_unused = false, bool if_empty = false);
    std::uint64_t purge(std::string queue);
    std::uint64_t discard_parked(std::string queue);
    void bind(std::string source, std::string destination, std::string key = "",
              BindOptions options = {});
    void unbind(std::string source, std::string destination, std::string key = "",
                BindOptions options = {});

    // Returns the sequence number of the confirm; 0 without one.
    std::uint64_t publish(std::string_view routing_key, std::string_view body,
                          const PublishOptions& options = {});
    // Returns the number of the consumer.
    std::uint32_t consume(std::string queue, ConsumeOptions options = {});
    void cancel(std::uint32_t consumer);
    std::optional<Delivery> get(std::string queue, bool no_ack = false);
    void qos(std::uint16_t prefetch_count, bool global = false);

    void set_credit(std::uint32_t consumer, std::uint64_t until, CreditOptions options = {});
    void check_target(std::string exchange, std::string queue = "");
    QueueDescription describe_queue(std::string name);
    std::vector<BindingDescription> list_bindings(ListBindings question);

    void settle(std::uint64_t tag, Outcome outcome, bool multiple = false);
    void settle(std::uint64_t tag, Outcome outcome, const OutcomeDetails& details);
    void ack(std::uint64_t tag) { settle(tag, {OutcomeKind::accepted}); }
    void ack_up_to(std::uint64_t tag) { settle(tag, {OutcomeKind::accepted}, true); }
    // basic.nack and basic.reject without requeue; only the latter counts as a failure (DL-150).
    void nack(std::uint64_t tag) { settle(tag, {OutcomeKind::rejected}); }
    void nack_up_to(std::uint64_t tag) { settle(tag, {OutcomeKind::rejected}, true); }
    void reject(std::uint64_t tag) { settle(tag, {OutcomeKind::rejected, true}); }
    void requeue(std::uint64_t tag) { settle(tag, {OutcomeKind::released}); }
    void requeue_up_to(std::uint64_t tag) { settle(tag, {OutcomeKind::released}, true); }
    // basic.reject with requeue: a failed attempt.
    void fail(std::uint64_t tag) { settle(tag, {OutcomeKind::released, true}); }
    void recover();

    void set_policy(Policy policy, PolicyScope scope = PolicyScope::user);
    void clear_policy(std::string name, PolicyScope scope = PolicyScope::user);

    void select();
    void commit();
    void rollback();
    void close();
    // Does not wait for the answer, which is sent when the channel is closed completely.
    void start_closing();
    bool is_closed() const { return !answers_.empty(); }
    void detach();  // like an AMQP 1.0 link
    void pause();
    void resume();

    // --- results, each returned once ---
    std::vector<Delivery> take_deliveries();
    std::vector<std::string> take_bodies();  // of the deliveries
    Delivery take_delivery();                // the next one; must exist
    std::vector<Confirm> take_confirms();
    std::vector<std::string> take_returns();  // their bodies
    std::vector<std::uint32_t> take_cancelled();
    std::vector<std::uint64_t> take_timed_out();  // deliveries of suspended consumers
    // "1 delivered 2 until 5 available 0", and "drained", "active" or "waiting" if reported.
    std::vector<std::string> take_credit_states();
    std::vector<PublishRefused> take_publish_refusals();
    // Everything in order: "deliver 1 a", "redeliver 1 a", "ack 1", "nack 2", "return a",
    // "cancel 1", "done".
    std::vector<std::string> take_transcript();

    void expect_refused(RefusalKind kind, std::string_view text);
    // The refusal, if a test does not know it in advance. A refusal that is not taken fails the
    // test.
    std::optional<Refusal> take_refusal();
    bool is_open() const { return open_; }
    bool is_transactional() const { return open_ && transactional_; }

    ChannelId id() const { return id_; }
    ConnectionId connection() const { return connection_; }

  private:
    friend class Scenario;
    template <typename Question>
    void ask(Question question);
    template <typename Answer>
    Answer answer();
    void make_sure_it_is_open();

    Scenario& scenario_;
    ConnectionId connection_;
    ChannelId id_;
    bool open_ = false;
    bool transactional_ = false;
    std::uint32_t last_consumer_ = 0;
    std::uint64_t last_publish_ = 0;
    std::uint64_t last_confirm_ = 0;
    std::uint64_t sole_outcome_ = 0;  // of the last publish, if a return is its only outcome
    std::uint64_t last_delivery_ = 0;
    std::vector<std::uint32_t> consumers_;
    std::uint32_t starting_consumer_ = 0;  // requested, not yet answered
    std::uint32_t reply_consumer_ = 0;
    std::vector<Done> answers_;
    std::optional<Refusal> refusal_;
    std::vector<Delivery> deliveries_;
    std::vector<Confirm> confirms_;
    std::vector<std::string> returns_;
    std::vector<std::uint32_t> cancelled_;
    std::vector<std::uint64_t> timed_out_;
    std::vector<std::string> credit_states_;
    std::vector<PublishRefused> publish_refusals_;
    std::vector<std::string> transcript_;
};

class Scenario : private EffectSink, private Recorder {
  public:
    explicit Scenario(EngineSettings settings = {});
    // Finishes the scenario if the test has not.
    ~Scenario() override;
    Scenario(const Scenario&) = delete;
    Scenario& operator=(const Scenario&) = delete;

    ConnectionId connect(ClientProtocol protocol = ClientProtocol::amqp091);
    void close(ConnectionId connection);
    ScenarioChannel& open_channel();  // on the first connection
    ScenarioChannel& open_channel(ConnectionId connection);

    void be_compatible_with(Compatibility compatibility);
    // The notices so far.
    const std::vector<std::string>& notices() const { return notices_; }

    // The connection accepts this many further deliveries and is then full.
    void take_only(ConnectionId connection, std::uint64_t deliveries);
    // The connection accepts any number again and sends a ResumeConnection.
    void resume(ConnectionId connection);

    Timestamp now() const { return now_; }
    // Sends a Tick at every deadline on the way, as the runtime does.
    void advance(Duration by);
    void tick() { handle(Tick{}); }
    // Whether a Tick has work to do now.
    bool has_work() { return engine_.next_deadline() <= now_; }
    // Time passes without a Tick: the next command finds everything due.
    void let_pass(Duration by) { now_ = now_ + by; }

    // An event from an earlier version, regardless of today's rules.
    void find_in_journal(const Event& event) {
        record(event);
        engine_.replay(event);
        turn_ended();
    }

    const MemoryStore& store() const { return store_; }
    MemoryStore& store() { return store_; }
    std::uint64_t journal_bytes() const { return store_.position().value; }
    // By default, everything possible is paged out after every turn.
    void keep_in_memory() { engine_.state().paging().budget_bytes = UINT64_MAX; }

    Engine& engine() { return engine_; }
    Queue& queue(std::string_view name);  // must exist
    bool has_queue(std::string_view name) { return engine_.state().find_queue(name) != nullptr; }
    bool has_exchange(std::string_view name) {
        return engine_.state().find_exchange(name) != nullptr;
    }
    // The bodies of the ready messages, in the order of delivery.
    std::vector<std::string> ready(std::string_view queue);
    std::uint64_t ended(Ending ending) { return engine_.state().accounts().of(ending); }
    const std::vector<Event>& events() const { return events_; }

    // Checks the invariants between commands.
    void check();
    // check(), replay and comparison. Must be the last call.
    void finish();

  private:
    friend class ScenarioChannel;
    struct Peer {
        std::optional<std::uint64_t> takes;  // further deliveries; absent: unlimited
        bool full = false;
        bool closed = false;
    };

    bool deliver(Deliver&& effect) override;
    void confirm(const Confirm& effect) override;
    void request(Effect&& effect) override;
    void record(const Event& event) override {
        events_.push_back(event);
        recorder_.record(event);
    }
    void turn_ended() override {
        recorder_.turn_ended();
        if (events_.size() % 5 == 0) store_.begin_batch();
    }

    void on(Deliver&& effect);
    void on(Confirm&& effect);
    void on(ReturnUnroutable&& effect);
    void on(PublishRefused&& effect);
    void on(CreditState&& effect);
    void on(Done&& effect);
    void on(Refuse&& effect);
    void on(CancelConsumer&& effect);
    void on(DeliveriesTimedOut&& effect);
    void on(TargetGone&& effect);
    void on(ConnectionClosed&& effect);
    void on(Notice&& effect);

    void handle(Command&& command);
    ScenarioChannel& channel(ChannelId id);
    void check_queues();
    void check_channels();
    void check_accounts();
    void check_replay();
    // Compares with the state that a restart would restore, from the journal and from a snapshot.
    void check_restart();

    Timestamp now_{1'700'000'000'000'000};
    std::vector<Event> events_;
    MemoryStore store_;
    DurableRecorder recorder_{store_};
    Engine engine_;
    std::uint64_t last_connection_ = 0;
    std::uint64_t last_channel_ = 0;
    std::uint64_t command_count_ = 0;
    RefusedCommand refused_command_ =
        RefusedCommand::answered;  // the command that a refusal would refuse now
    std::map<ConnectionId, Peer> peers_;
    std::vector<std::unique_ptr<ScenarioChannel>> channels_;
    std::map<ChannelId, ScenarioChannel*> channels_by_id_;
    std::vector<std::string> notices_;
    bool finished_ = false;
};

}  // namespace revenant::engine
