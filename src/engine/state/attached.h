// Attached: ephemeral state — connections, channels, consumers, credit, unsettled deliveries. Never
// journaled: after a restart there are no clients and all unsettled messages are ready again.
#pragma once

#include "base/ids.h"
#include "base/numbered_ring.h"
#include "base/roster.h"
#include "base/time.h"
#include "engine/state/death_plan_cache.h"
#include "engine/words/command.h"
#include "engine/words/counters.h"
#include "engine/words/effect.h"
#include "message/value.h"

#include <boost/intrusive/list.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace revenant::engine {

class Queue;
struct Channel;
struct Connection;

using ActiveHook =
    boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

struct Consumer;
using ConsumerList = std::list<Consumer*>;

// In the queue's active list while it may be able to take a message. A consumer that cannot is
// removed and added again when it gets credit, so that a busy queue never iterates over blocked
// consumers.
struct Consumer : ActiveHook {
    Channel* channel = nullptr;
    Queue* queue = nullptr;
    std::uint32_t number = 0;
    std::string tag;
    bool no_ack = false;
    bool exclusive = false;
    bool cancelled = false;  // exists until its last delivery is settled
    std::int64_t priority = 0;
    std::uint32_t prefetch = 0;  // 0: unlimited
    std::uint32_t unsettled = 0;
    bool uses_credit = false;  // receives until delivered reaches credit_until
    bool draining = false;
    bool yields = false;  // receives no more: one of higher priority is about to become active
    std::uint64_t delivered = 0;
    std::uint64_t credit_until = 0;
    std::optional<bool> reported_active;  // the last value reported to the client
    TimeoutAction on_timeout = TimeoutAction::channel_closed;
    std::optional<std::int64_t> timeout_ms;  // of this consumer; otherwise the queue's applies
    std::uint32_t timed_out = 0;             // of its unsettled deliveries; suspended while not 0
    Table arguments;
    ConsumerList::iterator place;  // in the list of its queue, while it is in one
    Roster<Consumer>::Place roster_place;
    bool is_suspended() const { return timed_out > 0; }
};

using ActiveList = boost::intrusive::list<Consumer, boost::intrusive::constant_time_size<false>>;

struct QueueConsumers {
    ConsumerList all;  // in order of registration
    // Consumers that can take messages, by priority, highest first; round robin among equals. A
    // line may be empty.
    std::map<std::int64_t, ActiveList, std::greater<>> lines;

    bool empty() const { return all.empty(); }
    void add(Consumer& consumer) { consumer.place = all.insert(all.end(), &consumer); }
    void remove(Consumer& consumer) {
        if (consumer.is_linked()) consumer.unlink();
        all.erase(consumer.place);
        const auto line = lines.find(consumer.priority);
        if (line != lines.end() && line->second.empty()) lines.erase(line);
    }
    ActiveList& line_of(const Consumer& consumer) { return lines[consumer.priority]; }
};

// An unsettled delivery.
struct Unsettled {
    enum class State : std::uint8_t {
        none,
        waiting,
        held_in_transaction,
        timed_out,  // the message was requeued, but the consumer still has to settle the delivery
    };
    Queue* queue = nullptr;
    Consumer* consumer = nullptr;  // nullptr for basic.get
    std::uint64_t position = 0;
    Timestamp delivered_at;
    State state = State::none;
    bool is_free() const { return state == State::none; }
};

// The unsettled deliveries of a channel by delivery number.
class UnsettledRing {
  public:
    // The next number, without an entry, for deliveries that need no settlement.
    DeliveryId skip() { return {ring_.skip()}; }
    DeliveryId add(Unsettled unsettled) { return {ring_.add(unsettled)}; }
    Unsettled* find(DeliveryId delivery) { return ring_.find(delivery.value); }
    void remove(DeliveryId delivery) { ring_.remove(delivery.value); }
    // Appends every unsettled delivery up to and including `last`, oldest first.
    void collect_up_to(DeliveryId last, std::vector<DeliveryId>& deliveries) {
        ring_.for_each_up_to(last.value, [&](std::uint64_t number, const Unsettled&) {
            deliveries.push_back({number});
        });
    }
    // Appends those from `first` to `last`, oldest first, until there are count_max.
    void collect_some(DeliveryId first, DeliveryId last, std::size_t count_max,
                      std::vector<DeliveryId>& deliveries) {
        ring_.for_some_between(first.value, last.value,
                               [&](std::uint64_t number, const Unsettled&) {
                                   deliveries.push_back({number});
                                   return deliveries.size() < count_max;
                               });
    }
    template <typename Visit>
    void for_each(Visit visit) {
        ring_.for_each_up_to(ring_.newest(), [&](std::uint64_t number, Unsettled& unsettled) {
            visit(DeliveryId{number}, unsettled);
        });
    }
    std::uint64_t count() const { return ring_.count(); }
    DeliveryId newest() const { return {ring_.newest()}; }

  private:
    NumberedRing<Unsettled> ring_;
};

// Publishes and settlements held back until tx.commit.
struct Transaction {
    std::vector<Publish> publishes;
    std::uint64_t bytes = 0;  // approximate size of the commit's record
    struct HeldSettlement {
        DeliveryId delivery;
        Outcome outcome;
        Ref<const OutcomeDetails> details;
    };
    std::vector<HeldSettlement> settlements;
};

// A settlement that is processed in portions.
struct SettlementUnderWay {
    DeliveryId next;  // to be processed
    DeliveryId last;
    Outcome outcome;
    Ref<const OutcomeDetails> details;
};

// Routing results of a channel's last publishes, valid for one version of the topology.
struct RouteCache {
    struct Line {
        std::string exchange;
        std::string routing_key;
        std::uint64_t topology_version = 0;
        std::vector<Queue*> queues;
    };
    static constexpr std::size_t line_count = 8;
    std::vector<Line> lines;  // empty until the first publish
};

struct Channel {
    ChannelId id;
    Connection* connection = nullptr;
    ClientProtocol protocol = ClientProtocol::amqp091;  // of its connection; a copy for counting
    ChannelUse use = ChannelUse::any;
    bool closing = false;  // its consumers receive nothing more
    bool paused = false;   // its consumers receive nothing for now
    QueueId target;        // the channel receives a TargetGone when it is deleted
    boost::unordered_flat_map<std::uint32_t, std::unique_ptr<Consumer>> consumers;
    boost::unordered_flat_map<const Consumer*, std::unique_ptr<Consumer>> cancelled_consumers;
    UnsettledRing unsettled;
    std::vector<SettlementUnderWay> settling;  // in the order of the client's commands
    DeliveryId settled_up_to;         // from the client's view, while `settling` is not empty
    std::vector<Effect> when_closed;  // effects to be issued when the channel is closed completely
    Timestamp timeout_check = never;  // the next check of its unsettled deliveries
    DeliveryId timed_out_up_to;       // among those up to here, some timed out and were removed
    std::uint32_t prefetch = 0;       // for new consumers
    std::uint32_t global_prefetch = 0;  // for the whole channel
    std::uint64_t consumer_unsettled = 0;
    std::unique_ptr<Transaction> transaction;
    RouteCache routes;
    MessageStats stats;
    std::string reply_name;  // of its direct reply-to consumer
    std::uint32_t reply_consumer = 0;
    std::uint64_t excess_reply_bytes = 0;  // of replies since deliveries to it were paused
    Roster<Channel>::Place roster_place;
    bool takes_deliveries() const;
};

struct Connection {
    ConnectionId id;
    std::string user;
    ClientProtocol protocol = ClientProtocol::amqp091;
    bool paused = false;  // its socket cannot take more deliveries
    std::vector<ChannelId> channels;
    std::vector<QueueId> exclusive_queues;
    bool closing = false;
};

inline bool Channel::takes_deliveries() const { return !closing && !paused && !connection->paused; }

class Attached {
  public:
    Connection& open_connection(ConnectionId id, std::string user,
                                ClientProtocol protocol = ClientProtocol::amqp091);
    Connection* find_connection(ConnectionId id);
    void close_connection(ConnectionId id);
    Channel& open_channel(ConnectionId connection, ChannelId id);
    Channel* find_channel(ChannelId id);
    void close_channel(ChannelId id);
    void set_reply_name(Channel& channel, std::string name, std::uint32_t consumer);
    void clear_reply_name(Channel& channel);
    Channel* find_reply_channel(std::string_view name);
    void set_target(Channel& channel, QueueId queue);
    // Returns the channels that have the queue as target, in the order of their CheckTarget, and
    // resets their targets.
    std::vector<ChannelId> take_channels_targeting(QueueId queue);
    std::size_t connection_count() const { return connections_.size(); }
    std::size_t channel_count() const { return channels_.size(); }
    DeathPlanCache& shared_deaths() { return shared_deaths_; }
    // Consumers whose remaining credit may have to be voided.
    struct Draining {
        ChannelId channel;
        std::uint32_t consumer = 0;
    };
    std::vector<Draining>& draining() { return draining_; }

    // Schedules a check of the channel's unsettled deliveries, unless an earlier one is scheduled.
    void plan_timeout_check(Channel& channel, Timestamp at);
    Timestamp next_timeout_check() const {
        return timeout_checks_.empty() ? never : timeout_checks_.begin()->at;
    }
    // The next channel whose check is due; nullptr if there is none.
    Channel* take_due_timeout_check(Timestamp now);

    template <typename Visit>
    void for_each_channel(Visit visit) {
        for (auto& [id, channel] : channels_) visit(*channel);
    }

    // For walks in portions. Cancelled consumers are included while they have unsettled deliveries.
    Roster<Channel>& channels() { return channel_roster_; }
    Roster<Consumer>& consumers() { return consumer_roster_; }

  private:
    Roster<Channel> channel_roster_;    // outlives the channels
    Roster<Consumer> consumer_roster_;  // outlives the consumers
    boost::unordered_flat_map<ConnectionId, std::unique_ptr<Connection>> connections_;
    boost::unordered_flat_map<ChannelId, std::unique_ptr<Channel>> channels_;
    boost::unordered_flat_map<std::string, ChannelId> reply_names_;
    boost::unordered_flat_map<QueueId, std::vector<ChannelId>> channels_by_target_;
    DeathPlanCache shared_deaths_;
    std::vector<Draining> draining_;
    struct TimeoutCheck {
        Timestamp at;
        ChannelId channel;
        friend auto operator<=>(const TimeoutCheck&, const TimeoutCheck&) = default;
    };
    std::set<TimeoutCheck> timeout_checks_;  // at most one per channel
    Channel* last_channel_ = nullptr;        // commands of one channel come in bursts
};

}  // namespace revenant::engine
