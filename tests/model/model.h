// Model: a naive broker, written only from the rules of dead-lettering (DL-…) and amqp091. The
// engine is compared with it.
//
// It is deliberately slow, so that it can be checked against the rules: a message is a value and is
// copied into every queue; a queue is one vector that is searched linearly; there are no timers,
// and time passes by searching for the next due item; every rule is one function with its number.
// Output to clients is represented as lines of text, one list per channel.
//
// Not included: transactions, exclusive and auto-delete queues, consumer priorities, single active
// consumers, reply-to, connection limits.
//
// Where the rules leave an order open (two queues due at the same time, the queues of a fanout, the
// queue that is processed first), the model asks its Choices. A comparison may try the alternatives
// as well and succeeds if one of them matches the engine.
#pragma once

#include "base/time.h"
#include "engine/words/command.h"
#include "engine/words/counters.h"
#include "engine/words/policy.h"
#include "engine/words/queue_settings.h"
#include "engine/words/refusal.h"
#include "message/death.h"
#include "message/value.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace revenant::model {

using engine::DeathStrategy;
using engine::Ending;
using engine::EntryCounters;
using engine::Outcome;
using engine::Overflow;
using engine::Policy;
using engine::PolicyScope;
using engine::RefusalKind;

// The decisions for everything that the rules leave open: 0, except at a few points.
class Choices {
  public:
    Choices() = default;
    explicit Choices(std::map<std::size_t, std::size_t> detours) : detours_(std::move(detours)) {}

    std::size_t pick(std::size_t of);
    // The points passed so far, each with its number of alternatives.
    const std::vector<std::size_t>& points() const { return points_; }
    const std::map<std::size_t, std::size_t>& detours() const { return detours_; }

  private:
    std::map<std::size_t, std::size_t> detours_;
    std::vector<std::size_t> points_;
};

struct Message {
    std::string body;
    std::string exchange;           // to which it was published last (DL-77)
    std::vector<std::string> keys;  // the first, then CC, then BCC (DL-61)
    std::size_t hidden_keys = 0;    // the number of BCC keys at the end
    std::optional<std::int64_t> ttl_ms;
    std::optional<std::uint8_t> priority;
    Table headers;
    std::uint64_t property_bytes = 0;
    DeathHistory history;
    std::uint32_t failures = 0;  // delivery-count (DL-147)
};

enum class Place { ready, unacked, delayed, outbox };

struct Entry {
    std::uint64_t id = 0;
    Message message;
    Place place = Place::ready;
    bool fresh = false;  // added in this turn
    Timestamp expires = never;
    Timestamp delayed_until = never;
    bool returned = false;    // in the list of requeued messages (DL-156)
    int level = 0;            // the priority with which it is served
    std::uint64_t order = 0;  // within its level or list
    std::uint32_t acquired = 0;
    bool requeued = false;
    // Of a dead letter in the outbox.
    DeathReason reason = DeathReason::rejected;
    Timestamp died_at;
    std::vector<std::uint64_t> reached;  // ids of the queues that have it
};

struct Settings {
    std::optional<std::int64_t> message_ttl;
    std::optional<std::int64_t> expires;
    std::optional<std::int64_t> max_length;
    std::optional<std::int64_t> max_length_bytes;
    Overflow overflow = Overflow::drop_head;
    std::optional<std::string> dlx;
    std::optional<std::string> dlrk;
    bool at_least_once = false;
    bool expires_at_head_only = false;
    std::optional<std::int64_t> delivery_limit;
    std::string retry = "disabled";
    std::int64_t retry_min = 0;
    std::int64_t retry_max = 0;
    friend bool operator==(const Settings&, const Settings&) = default;
};

struct Consumer {
    std::size_t channel = 0;
    std::uint32_t number = 0;
    std::uint64_t queue = 0;
    bool no_ack = false;
    std::uint32_t prefetch = 0;
    std::uint32_t unsettled = 0;
    bool in_line = true;
    bool gone = false;
};
using ConsumerRef = std::shared_ptr<Consumer>;

struct Queue {
    std::uint64_t id = 0;
    std::string name;
    bool quorum = false;
    bool durable = false;
    Table arguments;
    Settings settings;
    std::vector<Entry> entries;
    std::vector<ConsumerRef> consumers;
    std::list<ConsumerRef> line;  // the consumer to be served next is first
    Timestamp last_used;
    bool refusing = false;  // DL-140
    std::array<std::uint64_t, death_reason_count> deaths{};
};
using QueueRef = std::shared_ptr<Queue>;

struct Binding {
    std::string source;
    bool to_exchange = false;
    std::string destination;
    std::string key;
    Table arguments;
    friend bool operator==(const Binding&, const Binding&) = default;
};

struct Exchange {
    std::string name;
    std::string type;
    Table arguments;
};

struct Unsettled {
    std::uint64_t queue = 0;
    std::uint64_t entry = 0;
    ConsumerRef consumer;
};

struct Channel {
    std::uint16_t prefetch = 0;
    std::uint32_t last_consumer = 0;
    std::uint64_t last_tag = 0;
    std::uint64_t last_publish = 0;
    std::map<std::uint64_t, Unsettled> unsettled;
    std::vector<ConsumerRef> consumers;
    std::vector<std::string> told;
};

// The parts of a delivery that a consumer sees, as a line of text.
struct Shown {
    std::uint32_t consumer = 0;
    std::uint64_t tag = 0;
    std::string body;
    bool redelivered = false;
    std::string exchange;
    std::string key;
    std::uint32_t failures = 0;
    std::uint32_t acquired = 0;
    DeathHistory history;
};
std::string describe(const Shown& shown);
std::string describe(const DeathHistory& history);
// A short name of a message in a queue, different if a consumer would see a difference.
std::string label(const std::string& body, const std::string& exchange, const std::string& key,
                  std::uint32_t failures, const DeathHistory& history);

struct Publishing {
    std::string exchange;
    Message message;
    bool mandatory = false;
    bool confirm = false;
};

class Model {
  public:
    Model(std::size_t channels, Timestamp now, Choices& choices);

    // --- time ---
    void advance(Duration by);
    void let_pass(Duration by) { now_ = now_ + by; }

    // --- commands ---
    void declare_exchange(std::size_t channel, const std::string& name, const std::string& type,
                          const Table& arguments);
    void delete_exchange(std::size_t channel, const std::string& name, bool if_unused);
    void declare_queue(std::size_t channel, const std::string& name, bool durable,
                       const Table& arguments);
    void delete_queue(std::size_t channel, const std::string& name, bool if_unused, bool if_empty);
    void purge(std::size_t channel, const std::string& name);
    void bind(std::size_t channel, const Binding& binding);
    void unbind(std::size_t channel, const Binding& binding);
    void publish(std::size_t channel, const Publishing& publishing);
    void consume(std::size_t channel, const std::string& name, bool no_ack);
    void cancel(std::size_t channel, std::uint32_t consumer);
    void qos(std::size_t channel, std::uint16_t prefetch);
    void get(std::size_t channel, const std::string& name, bool no_ack);
    void settle(std::size_t channel, std::uint64_t tag, bool multiple, Outcome outcome);
    void recover(std::size_t channel);
    void close(std::size_t channel);
    void set_policy(PolicyScope scope, const Policy& policy);
    void clear_policy(PolicyScope scope, const std::string& name);

    // --- results ---
    std::vector<std::string> take_told(std::size_t channel);
    // Queues, entry counters and other counters, one line each.
    std::vector<std::string> contents() const;

  private:
    // time
    struct Due {
        Timestamp at;
        QueueRef queue;
        enum class What { queue, messages, delays } what = What::messages;
        std::vector<std::uint64_t> entries;
    };
    enum class Fresh { spared, included };
    void begin();
    void defer_heads_if_open();
    void end();
    std::vector<Due> all_due(Timestamp by, Fresh fresh) const;
    void expire_due(Fresh fresh);
    void expire(const Due& due);
    void expire_entries(const Due& due);
    std::optional<Timestamp> queue_expiry(const Queue& queue) const;
    std::optional<Timestamp> message_expiry(const Queue& queue, Fresh fresh) const;
    std::optional<Timestamp> delay_end(const Queue& queue) const;
    bool is_fresh(const Entry& entry) const;
    std::vector<std::uint64_t> expired_in(const Queue& queue, Timestamp by, Fresh fresh) const;
    void expire_messages(const QueueRef& queue, Fresh fresh);
    void end_delays(const QueueRef& queue);

    // topology
    QueueRef find_queue(std::string_view name) const;
    QueueRef find_queue(std::uint64_t id) const;
    const Exchange* find_exchange(std::string_view name) const;
    std::optional<RefusalKind> refusal_of_ends(const Binding& binding, bool must_exist) const;
    void drop_queue(const QueueRef& queue);
    void remove_consumer(const ConsumerRef& consumer);

    // routing
    std::vector<QueueRef> route(const std::string& exchange, const Message& message);
    std::vector<QueueRef> in_some_order(std::vector<QueueRef> queues);
    void visit(const std::string& exchange, const Message& message,
               std::vector<std::string>& visited, std::vector<QueueRef>& found) const;
    std::optional<std::string> alternate_of(const Exchange& exchange) const;
    static bool matches(const Exchange& exchange, const Binding& binding, const Message& message);

    // policies
    void apply_policies();
    void reconfigure(const QueueRef& queue);
    Settings settings_of(const Queue& queue) const;
    Table policy_for(std::string_view name, const std::string& kind) const;
    const Policy* best(PolicyScope scope, std::string_view name, const std::string& kind) const;

    // queues
    void touch(const QueueRef& queue);
    void settle_down();
    void work_off(const QueueRef& queue);
    void enqueue(const QueueRef& queue, const Message& message);
    Timestamp expiry_for(const Queue& queue, const Message& message) const;
    std::vector<const Entry*> in_order(const Queue& queue) const;
    static Entry* find(Queue& queue, std::uint64_t entry);
    static Entry take(Queue& queue, std::uint64_t entry);
    void remove(Queue& queue, std::uint64_t entry, Ending ending);
    static std::uint64_t bytes_of(const Queue& queue, const Message& message);
    static std::pair<std::uint64_t, std::uint64_t> limited(const Queue& queue);
    static std::uint64_t count(const Queue& queue, Place place);

    // delivering
    void serve(const QueueRef& queue);
    void expire_before_serving(const QueueRef& queue);
    static bool can_take(const Consumer& consumer);
    ConsumerRef next_consumer(Queue& queue);
    void hand_out(std::size_t channel, const QueueRef& queue, std::uint64_t entry,
                  const ConsumerRef& consumer, bool no_ack, const std::string& before);

    // overflow
    static bool is_over(const Queue& queue, const Settings& settings);
    static bool is_down_again(const Queue& queue);
    static void note_room(Queue& queue);
    static void watch_limits(Queue& queue);
    bool refuses(const QueueRef& queue, const Message& message);
    static bool is_full_for(const Queue& queue, const Message& message);
    bool refuses_letter(const QueueRef& queue, const Message& message, DeathStrategy strategy);
    void drop_surplus(const QueueRef& queue);

    // settling
    void release_credit(const Unsettled& unsettled);
    void settle_all(const std::vector<Unsettled>& settled, Outcome outcome);
    void settle_one(const Unsettled& unsettled, Outcome outcome);
    void let_die();
    void die_of_return(const QueueRef& queue, std::uint64_t entry, DeathReason reason);
    void return_one(const QueueRef& queue, std::uint64_t entry, bool failed);
    void put_back(Queue& queue, Entry& entry, bool failed);
    bool waits_for_retry(const Queue& queue, const Entry& entry, bool failed) const;
    void return_all(std::size_t channel, bool failed);
    void shut(std::size_t channel);
    void refuse(std::size_t channel, RefusalKind kind);

    // death
    DeathStrategy strategy_of(const Queue& queue) const;
    void count_death(Queue& queue, DeathReason reason);
    void die(const QueueRef& queue, std::uint64_t entry, DeathReason reason);
    void die_refused(const QueueRef& queue, const Message& message);
    void die_all_refused(std::vector<QueueRef>& refusing, const Message& message);
    Ending send_on(const Queue& source, const Message& message, DeathReason reason);
    static Message dead_letter(const Queue& source, const Message& message, DeathReason reason,
                               Timestamp died_at);
    static void record_death(DeathHistory& history, Death death);
    static bool closes_cycle(const DeathHistory& history, DeathReason reason,
                             std::string_view target);
    bool forward(const QueueRef& queue, std::uint64_t entry);
    bool forward_letters();

    void tell(std::size_t channel, const std::string& line) {
        channels_[channel].told.push_back(line);
    }

    Timestamp now_;
    Choices& choices_;
    std::vector<Exchange> exchanges_;
    std::vector<QueueRef> queues_;  // in the order of declaration
    std::vector<Binding> bindings_;
    std::map<PolicyScope, std::map<std::string, Policy>> policies_;
    std::vector<Channel> channels_;
    std::vector<QueueRef> touched_;
    bool heads_deferred_ = false;
    struct Dying {
        QueueRef queue;
        std::uint64_t entry = 0;
        DeathReason reason = DeathReason::rejected;
    };
    bool die_after_returns_ = false;
    std::vector<Dying> dying_;
    std::uint64_t last_queue_ = 0;
    std::uint64_t last_entry_ = 0;
    std::uint64_t last_order_ = 0;
    EntryCounters accounts_;
    engine::DeathTable deaths_;
    std::uint64_t letters_confirmed_ = 0;
    std::uint64_t refused_by_queue_ = 0;
};

}  // namespace revenant::model
