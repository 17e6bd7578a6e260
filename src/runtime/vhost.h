// Vhost: the engine of one virtual host on its home reactor, its store, and the routing of effects
// to channels, which may be on other reactors.
//
// The engine's state runs ahead of the disk. Effects that report a change as durable are deferred
// until it is synced.
#pragma once

#include "engine/engine.h"
#include "engine/recovery/durable_recorder.h"
#include "runtime/deferred_effects.h"
#include "runtime/reactor.h"
#include "runtime/vhost_store.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace revenant::runtime {

using journal::sync_limits_us;  // microseconds, for readers of a JournalView
// Journal statistics of a vhost; all 0 without a store.
struct JournalView {
    journal::JournalCounters counters;
    std::uint64_t files = 0;
    std::uint64_t waiting_bytes = 0;  // not yet written

    JournalView& operator+=(const JournalView& other);
};

// Object counts of the whole node. Each virtual host updates them at the end of its turns.
class NodeObjectCounts {
  public:
    void change(const engine::ObjectCounts& from, const engine::ObjectCounts& to) {
        queues_.fetch_add(to.queues - from.queues, std::memory_order_relaxed);
        exchanges_.fetch_add(to.exchanges - from.exchanges, std::memory_order_relaxed);
    }
    // The counts without those in `own`.
    engine::ObjectCounts without(const engine::ObjectCounts& own) const {
        return {queues_.load(std::memory_order_relaxed) - own.queues,
                exchanges_.load(std::memory_order_relaxed) - own.exchanges};
    }

  private:
    std::atomic<std::uint64_t> queues_{0};  // unsigned: a decrement may wrap temporarily
    std::atomic<std::uint64_t> exchanges_{0};
};

class Vhost final : public engine::EffectSink, public engine::OtherVhosts {
  public:
    // Called on any reactor's thread.
    using NoticeSink = std::function<void(const engine::Notice&)>;
    using DiskFullSink = std::function<void(bool)>;

    // Without a store, all state ends with the process. Without node_counts, other virtual hosts
    // are not counted.
    Vhost(engine::EngineSettings settings, Reactor& home, NoticeSink notice,
          std::unique_ptr<VhostStore> store,
          std::shared_ptr<NodeObjectCounts> node_counts = nullptr);
    ~Vhost() override;
    Vhost(const Vhost&) = delete;
    Vhost& operator=(const Vhost&) = delete;

    // Restores durable state. Called before the reactor adopts the vhost.
    Result<void, std::string> recover(Timestamp now);
    void listen(journal::Journal::Listener listener);

    const std::string& name() const { return engine_.settings().vhost; }
    Reactor& home() { return home_; }
    // For the home reactor's thread only.
    engine::Engine& engine() { return engine_; }
    JournalView journal_view() const;
    // Confirms and replies that wait for the disk. For the home reactor's thread only.
    const DeferredEffects& deferred_effects() const { return deferred_effects_; }
    // Called at the end of every turn of the reactor. Writes records that deferred effects wait
    // for.
    void flush();
    // Called every 250 ms. Writes and syncs records that no reply is waiting for.
    void tick();
    // Whether so many bytes wait for the disk that further writers must pause. May be called from
    // any thread.
    bool is_behind() const { return behind_.load(std::memory_order_relaxed); }
    // Whether timers may run: not while the disk is behind, and not during shutdown.
    bool runs_timers() const { return !is_behind() && !stopping_; }
    bool is_disk_full() const { return disk_full_.load(std::memory_order_relaxed); }
    // Writes a snapshot for a fast restart. Calls `closed` when it is durable.
    void close(std::function<void()> closed);

    // Marks the vhost as removed from the catalog; new connections are refused. May be called from
    // any thread.
    void set_deleted() { deleted_.store(true, std::memory_order_release); }
    bool is_deleted() const { return deleted_.load(std::memory_order_acquire); }
    // Stops all writes, also those of remaining connections, and releases the deferred effects.
    void retire();

    bool deliver(engine::Deliver&& effect) override;
    void confirm(const engine::Confirm& effect) override;
    void request(engine::Effect&& effect) override;
    engine::ObjectCounts object_counts() const override;

  private:
    void on_durable(Lsn durable);
    bool send_deliver(engine::Deliver&& effect);
    void send_confirm(const engine::Confirm& effect);
    void send(engine::Effect&& effect);
    void finish_closing();
    void report_counts(const engine::ObjectCounts& now);

    Reactor& home_;
    NoticeSink notice_;
    std::unique_ptr<VhostStore> store_;
    std::shared_ptr<NodeObjectCounts> node_counts_;
    engine::ObjectCounts reported_;  // to node_counts_
    std::unique_ptr<engine::DurableRecorder> recorder_;
    engine::Engine engine_;
    DeferredEffects deferred_effects_;
    std::function<void()> closed_;
    bool stopping_ = false;  // due work is left for the next startup
    bool closing_ = false;   // the last snapshot was started
    Lsn position_at_tick_;
    unsigned idle_ticks_ = 0;
    unsigned ticks_since_look_ = 0;
    std::atomic<bool> behind_{false};
    std::atomic<bool> disk_full_{false};
    std::atomic<bool> deleted_{false};
    // Bytes sent to channels on other reactors since they last asked for more.
    boost::unordered_flat_map<ChannelId, std::uint64_t> remote_bytes_;
};

}  // namespace revenant::runtime
