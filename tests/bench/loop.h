// The one epoll thread that drives all peers of a run: read, then flush every peer, once per turn.
// Bounded by a time limit; borrowed peers must outlive it.
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

    // Called after the reading and before the writing of each turn.
    std::function<void()> on_turn;
    // Called when nothing happened for a few milliseconds.
    std::function<void()> on_idle;
    // When the next turn has to come at the latest, in now_ns() time.
    std::function<uint64_t()> wake_at_ns;

    // Turns until done() holds. Throws Failure with `what` when the time is up.
    void run_until(const std::function<bool()>& done, std::chrono::seconds limit, const char* what);

  private:
    struct Member {
        Connection* peer;
        Flushed flushed = Flushed::all;
        bool writable = true;  // While the socket is full there is no use in trying.
    };

    void turn();
    void flush(size_t index);
    int wait(epoll_event* events, int events_max) const;

    int epoll_;
    std::vector<Member> members_;
};

}  // namespace bench
