// Reactor: one thread with an epoll loop. It owns sockets, timers and the engines of its vhosts. A
// turn has four steps: handle mailbox items from other reactors, run due timers, serve ready
// sockets, flush sockets with output. Each step stops when its time slice is used up and continues
// in the next turn, so turns stay short.
#pragma once

#include "auth/access.h"
#include "base/ids.h"
#include "base/time.h"
#include "engine/words/command.h"
#include "engine/words/effect.h"
#include "runtime/mailbox.h"
#include "runtime/turn_times.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

namespace revenant::runtime {

class Reactor;
class Vhost;

// An object with a file descriptor in the epoll set.
class Source {
  public:
    virtual ~Source() = default;
    virtual void ready(std::uint32_t events) = 0;
};

// An object with output to send at the end of the turn.
class Flushable {
  public:
    virtual ~Flushable() = default;
    virtual void flush() = 0;
};

// Called every 250 ms.
class Tickable {
  public:
    virtual ~Tickable() = default;
    virtual void tick(Timestamp now) = 0;
};

struct VhostCommand {
    std::shared_ptr<Vhost> vhost;
    engine::Command command;
};
using Task = std::function<void(Reactor&)>;
using MailboxItem = std::variant<VhostCommand, engine::Effect, Task>;

class Reactor {
  public:
    explicit Reactor(std::uint8_t index);
    ~Reactor();
    Reactor(const Reactor&) = delete;
    Reactor& operator=(const Reactor&) = delete;

    // Connects the reactors of a node with each other. Called before any of them starts.
    void set_peers(std::vector<Reactor*> all) {
        all_ = std::move(all);
        outgoing_.resize(all_.size());
    }
    void start();
    // May be called from any thread.
    void stop();
    void join();
    void post(Task task);

    // --- The members below are for the reactor's own thread only. ---

    std::uint8_t index() const { return index_; }
    Timestamp now() const { return now_; }
    // Wall clock time for display. Follows clock adjustments within a tick.
    Timestamp wall_now() const { return now_ + wall_ahead_; }
    // Reads the clock again. Needed after reading bytes that may have arrived after the turn began.
    Timestamp refresh_now();
    // Whether the current step has used its time slice. Reads the clock.
    bool slice_is_over() { return refresh_now() >= slice_end_; }
    bool on_this_thread() const { return std::this_thread::get_id() == thread_.get_id(); }

    void watch(int descriptor, std::uint32_t events, Source& source);
    void rewatch(int descriptor, std::uint32_t events, Source& source);
    void unwatch(int descriptor, Source& source);
    void flush_later(Flushable& socket) { flushing_.push_back(&socket); }
    void forget(Flushable& socket);
    void add_ticking(Tickable& ticking);
    void remove_ticking(Tickable& ticking);
    // Destroys the object when nothing in this turn can refer to it any more.
    void dispose(std::unique_ptr<Source> source) { disposed_.push_back(std::move(source)); }

    // Registers the receiver of effects for a channel or connection. The id contains the index of
    // this reactor.
    std::uint64_t register_sink(engine::EffectSink& sink);
    void release_sink(std::uint64_t id);
    engine::EffectSink* find_sink(std::uint64_t id);
    static std::uint8_t reactor_of(std::uint64_t id) { return static_cast<std::uint8_t>(id >> 56); }

    // Queues an item for another reactor; items are sent at the end of the turn.
    void send(std::uint8_t reactor, MailboxItem item);
    // Counts client bytes that became mailbox items in this turn.
    void note_sent(std::uint8_t reactor, std::size_t bytes);
    // Whether too much is queued for that reactor; its senders must pause.
    bool congested(std::uint8_t reactor) const;

    void adopt_vhost(std::shared_ptr<Vhost> vhost);
    void drop_vhost(const Vhost& vhost);
    const std::vector<std::shared_ptr<Vhost>>& vhosts() const { return vhosts_; }

    const std::shared_ptr<const AccessTable>& access() const { return access_; }
    void set_access(std::shared_ptr<const AccessTable> access) { access_ = std::move(access); }

    // Shared by all sockets of the reactor. A socket keeps only an incomplete frame after a read.
    std::vector<char>& read_buffer() { return read_buffer_; }

    // Recent load of this reactor in percent. May be called from any thread.
    unsigned busy_percent() const { return busy_percent_.load(std::memory_order_relaxed); }
    const TurnTimes& turn_times() const { return turn_times_; }
    std::size_t ticking_count() const { return ticking_.size(); }

  private:
    void run();
    void turn();
    void wait();
    void wake();
    void read_mailbox();
    enum class Took : std::uint8_t { little, much };
    Took read_item(MailboxItem&& item);
    bool is_due(Vhost& vhost) const;
    void run_due_vhosts();
    void serve_ready();
    void tick_all();
    void flush_all();
    void send_outgoing();
    void dispatch_effect(engine::Effect&& effect);
    void end_part(std::string_view name);
    // The slowest command, or the slowest step of the turn if no single command was slow.
    std::string_view heaviest_command(Timestamp since) const;

    const std::uint8_t index_;
    std::vector<Reactor*> all_;
    std::thread thread_;
    std::atomic<bool> stopping_{false};
    int epoll_ = -1;
    int wakeup_ = -1;
    Timestamp now_;
    Duration wall_ahead_;
    Timestamp slice_end_;
    Timestamp next_tick_;
    Mailbox<MailboxItem> mailbox_;
    // Taken from the mailbox. Items before next_batch_ and next_item_ are already handled.
    std::vector<Mailbox<MailboxItem>::Batch> letters_;
    std::size_t next_batch_ = 0;
    std::size_t next_item_ = 0;
    std::vector<Mailbox<MailboxItem>::Batch> outgoing_;  // by reactor
    std::vector<Flushable*> flushing_;
    std::vector<Flushable*> flushing_now_;  // those before next_flush_ are already flushed
    std::size_t next_flush_ = 0;
    std::vector<Tickable*> ticking_;
    std::vector<std::unique_ptr<Source>> disposed_;
    std::vector<std::shared_ptr<Vhost>> vhosts_;
    std::size_t next_vhost_ = 0;  // checked first
    std::shared_ptr<const AccessTable> access_;
    std::vector<char> read_buffer_;
    struct SinkSlot {
        engine::EffectSink* sink = nullptr;
        std::uint32_t generation = 0;
    };
    std::vector<SinkSlot> sinks_;
    std::vector<std::uint32_t> free_sinks_;
    struct Event {
        std::uint32_t events;
        Source* source;
    };
    std::vector<Event>
        ready_;  // those before next_ready_ are already served; unwatch() removes a source
    std::size_t next_ready_ = 0;
    TurnTimes turn_times_;
    struct Part {
        std::string_view name;
        Duration took;
    };
    Part longest_part_;  // of the current turn
    Timestamp part_began_;
    std::int64_t busy_us_ = 0;
    Timestamp busy_since_;
    std::atomic<unsigned> busy_percent_{0};
};

}  // namespace revenant::runtime
