// Vhost: the engine of one virtual host on its home reactor, what it keeps on the disk, and the way
// its effects take to the channels, which may live on other reactors.
//
// State runs ahead, promises wait: what tells a client that something is safe leaves when it is.
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

using journal::sync_limits_us;  // microseconds, for who shows a JournalView
// What a vhost has written, and what is left of it; all 0 without a store.
struct JournalView {
    journal::JournalCounters counters;
    std::uint64_t files = 0;
    std::uint64_t waiting_bytes = 0;  // on their way to the disk

    JournalView& operator+=(const JournalView& other);
};

// What all virtual hosts of the node have, each told by itself at the end of its turns.
class NodeObjectCounts {
  public:
    void change(const engine::ObjectCounts& from, const engine::ObjectCounts& to) {
        queues_.fetch_add(to.queues - from.queues, std::memory_order_relaxed);
        exchanges_.fetch_add(to.exchanges - from.exchanges, std::memory_order_relaxed);
    }
    // Of those that are not `own`.
    engine::ObjectCounts without(const engine::ObjectCounts& own) const {
        return {queues_.load(std::memory_order_relaxed) - own.queues,
                exchanges_.load(std::memory_order_relaxed) - own.exchanges};
    }

  private:
    std::atomic<std::uint64_t> queues_{0};  // what is taken away may wrap on its way
    std::atomic<std::uint64_t> exchanges_{0};
};

class Vhost final : public engine::EffectSink, public engine::OtherVhosts {
  public:
    using NoticeSink = std::function<void(const engine::Notice&)>;  // from any reactor's thread
    using DiskFullSink = std::function<void(bool)>;                 // likewise

    // Without a store everything ends with the process; without a census it has no neighbours.
    Vhost(engine::EngineSettings settings, Reactor& home, NoticeSink notice,
          std::unique_ptr<VhostStore> store,
          std::shared_ptr<NodeObjectCounts> node_counts = nullptr);
    ~Vhost() override;
    Vhost(const Vhost&) = delete;
    Vhost& operator=(const Vhost&) = delete;

    // Before it is adopted by its reactor: what was kept is there again.
    Result<void, std::string> recover(Timestamp now);
    void listen(journal::Journal::Listener listener);

    const std::string& name() const { return engine_.settings().vhost; }
    Reactor& home() { return home_; }
    // On the home reactor's thread only.
    engine::Engine& engine() { return engine_; }
    JournalView journal_view() const;
    // Confirms that wait until their messages are durable; on the home reactor's thread.
    const DeferredEffects& deferred_effects() const { return deferred_effects_; }
    // At the end of every turn of the reactor: what was promised goes to the disk.
    void flush();
    // A few times per second: so does the rest.
    void tick();
    // The disk lags so far behind that whoever causes something to be written must wait. From any
    // thread, like the next.
    bool is_behind() const { return behind_.load(std::memory_order_relaxed); }
    // Whether time may cause anything: not while the disk is behind, nor once it is being closed.
    bool runs_timers() const { return !is_behind() && !stopping_; }
    bool is_disk_full() const { return disk_full_.load(std::memory_order_relaxed); }
    // Everything is written down for a quick start; calls back when it is safe.
    void close(std::function<void()> closed);

    // The catalog no longer knows it; who is about to come in is refused. From any thread.
    void set_deleted() { deleted_.store(true, std::memory_order_release); }
    bool is_deleted() const { return deleted_.load(std::memory_order_acquire); }
    // Nothing of it is written any more, whatever its last connections do; who waits for the disk
    // is answered.
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
    engine::ObjectCounts reported_;  // to the census
    std::unique_ptr<engine::DurableRecorder> recorder_;
    engine::Engine engine_;
    DeferredEffects deferred_effects_;
    std::function<void()> closed_;
    bool stopping_ = false;  // what is left to do is done after the next start
    bool closing_ = false;   // the last snapshot was begun
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
