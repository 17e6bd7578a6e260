// LogOutlet: one place where lines go, and the thread that brings them there. Whoever has something
// to say is never kept waiting: what the place does not take in time is dropped and counted, and
// when there is room again a line says how many are missing.
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
    // Writes whole lines, and takes its time. False: they are lost.
    using Write = std::function<bool(std::string_view lines)>;
    // The line that says how many were lost.
    using Loss = std::function<std::string(std::uint64_t lines)>;

    static constexpr std::size_t waiting_bytes_max = 1024 * 1024;

    LogOutlet(Write write, Loss loss);
    // Waits a moment for what was said. A thread that is still stuck then is left behind, with all
    // it needs.
    ~LogOutlet();
    LogOutlet(const LogOutlet&) = delete;
    LogOutlet& operator=(const LogOutlet&) = delete;

    void push(std::string_view line);
    // Waits until what was pushed before is written or lost; false if that takes longer.
    bool drain(Duration patience);
    // The same question without waiting; also in a signal handler.
    bool is_drained() const;
    std::uint64_t lines_dropped() const;

  private:
    struct State;
    static void run(State& state);

    std::shared_ptr<State> state_;  // with the thread
};

// How long the end of the process waits for a place that takes nothing.
constexpr Duration log_patience = seconds(1);

}  // namespace revenant::node
