// The epoll thread that drives all peers of a run: it reads, then flushes every peer, once per
// turn. Has a time limit. Peers are borrowed and must outlive it.
#pragma once

#include "connection.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <sys/epoll.h>
#include <vector>

namespace bench {

class Loop {
  public:
    Loop();
    ~Loop();
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;
    Loop(Loop&&) = delete;
    Loop& operator=(Loop&&) = delete;

    void add(Connection& peer);

    // Called after reading and before writing in each turn.
    std::function<void()> on_turn;
    // Called after a few milliseconds without events.
    std::function<void()> on_idle;
    // The latest time of the next turn, as now_ns().
    std::function<uint64_t()> wake_at_ns;

    // Runs until done() returns true. Throws Failure with `what` when the time is up.
    void run_until(const std::function<bool()>& done, std::chrono::seconds limit, const char* what);

  private:
    struct Member {
        Connection* peer;
        Flushed flushed = Flushed::all;
        bool writable = true;  // false while the socket is full
    };

    void turn();
    void flush(size_t index);
    int wait(epoll_event* events, int events_max) const;

    int epoll_;
    std::vector<Member> members_;
};

}  // namespace bench
