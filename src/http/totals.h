// Totals: the sums over a vhost or the node, with what lies in a queue and is neither ready nor
// unacknowledged.
#pragma once

#include "engine/query.h"

#include <cstdint>

namespace revenant::http {

struct Totals : engine::Totals {
    std::uint64_t delayed = 0;
    std::uint64_t delayed_bytes = 0;
    std::uint64_t dead_letters_waiting = 0;  // in outboxes
    std::uint64_t dead_letter_bytes_waiting = 0;

    // Everything that has entered a queue and has not left it.
    std::uint64_t messages() const { return ready + unacked + delayed + dead_letters_waiting; }
    std::uint64_t bytes() const {
        return ready_bytes + unacked_bytes + delayed_bytes + dead_letter_bytes_waiting;
    }
    Totals& operator+=(const Totals& other);
};

// On the engine's own thread.
Totals totals_of(engine::Engine& engine);

}  // namespace revenant::http
