// LogOutlet: one output of the log, with a thread that writes to it. Callers never wait: lines that
// the output does not accept in time are dropped and counted, and a later line reports their
// number.
#pragma once

#include "base/time.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace revenant::node {

class LogOutlet {
  public:
    // Writes whole lines and may block. Returns false if they are lost.
    using Write = std::function<bool(std::string_view lines)>;
    // Formats the line that reports the number of dropped lines.
    using Loss = std::function<std::string(std::uint64_t lines)>;

    static constexpr std::size_t waiting_bytes_max = 1024 * 1024;

    LogOutlet(Write write, Loss loss);
    // Waits briefly for pending lines. A thread that is still blocked then is detached and keeps
    // its state.
    ~LogOutlet();
    LogOutlet(const LogOutlet&) = delete;
    LogOutlet& operator=(const LogOutlet&) = delete;

    void push(std::string_view line);
    // Waits until all lines pushed so far are written or dropped; returns false on a timeout.
    bool drain(Duration patience);
    // Whether all lines are written. Async-signal-safe.
    bool is_drained() const;
    std::uint64_t lines_dropped() const;

  private:
    struct State;
    static void run(State& state);

    std::shared_ptr<State> state_;  // shared with the thread
};

// How long shutdown waits for an output that is blocked.
constexpr Duration log_patience = seconds(1);

}  // namespace revenant::node
