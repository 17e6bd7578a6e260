// What a virtual host must find after a restart: the durable part of its state as it was after some
// turn, and of no turn before the last one that somebody was told to be safe.
#pragma once

#include "tests/sim/vhost_world.h"
#include "tests/sim/violation.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace revenant::sim {

inline std::string first_difference(const std::string& expected, const std::string& found) {
    std::size_t at = 0;
    while (at < expected.size() && at < found.size() && expected[at] == found[at]) ++at;
    const std::size_t line = at == 0 ? 0 : found.rfind('\n', at - 1) + 1;
    return "expected ..." + expected.substr(std::min(line, expected.size()), 200) + "\nfound ..." +
           found.substr(std::min(line, found.size()), 200);
}

// Whether a start that can read nothing is refused; there may be nothing to read.
inline bool refuses_blind_start(VhostWorld& world, SimDisk::Loss loss) {
    world.disk.fail_reads(true);
    const bool refused = world.start().has_value();
    world.disk.fail_reads(false);
    if (refused) world.end(loss);
    return refused;
}

// Ends this life and begins the next; if told so, with a first attempt that can read nothing.
inline Violation restart(VhostWorld& world, SimDisk::Loss loss, bool blindly = false) {
    const std::vector<std::string> states = world.states();
    const std::size_t promised = world.promised();
    world.end(loss);
    if (!blindly || refuses_blind_start(world, loss)) {
        if (const auto refused = world.start()) return "the start is refused: " + *refused;
    }
    const std::string& found = world.states().front();
    for (std::size_t turn = states.size(); turn-- > promised;) {
        if (states[turn] == found) return std::nullopt;
    }
    for (std::size_t turn = promised; turn-- > 0;) {
        if (states[turn] == found) {
            return "back to turn " + std::to_string(turn) + " though turn " +
                   std::to_string(promised) + " was promised";
        }
    }
    return "a state that never was, after " + std::to_string(states.size()) + " turns, " +
           std::to_string(promised) + " promised:\n" + first_difference(states[promised], found);
}

}  // namespace revenant::sim
