// The invariant of a restart: a virtual host has the durable state after some turn, and not before
// the last turn that was reported as durable.
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

// Whether startup is refused while no file can be read. There may be nothing to read.
inline bool refuses_blind_start(VhostWorld& world, SimDisk::Loss loss) {
    world.disk.fail_reads(true);
    const bool refused = world.start().has_value();
    world.disk.fail_reads(false);
    if (refused) world.end(loss);
    return refused;
}

// Ends this process and starts the next; with `blindly`, after a first attempt without any reads.
inline Violation restart(VhostWorld& world, SimDisk::Loss loss, bool blindly = false) {
    const std::vector<std::string> states = world.states();
    const std::size_t promised = world.promised();
    world.end(loss);
    if (!blindly || refuses_blind_start(world, loss)) {
        if (const auto refused = world.start()) return "startup is refused: " + *refused;
    }
    const std::string& found = world.states().front();
    for (std::size_t turn = states.size(); turn-- > promised;) {
        if (states[turn] == found) return std::nullopt;
    }
    for (std::size_t turn = promised; turn-- > 0;) {
        if (states[turn] == found) {
            return "back to turn " + std::to_string(turn) + " although turn " +
                   std::to_string(promised) + " was reported as durable";
        }
    }
    return "a state that never existed, after " + std::to_string(states.size()) + " turns, " +
           std::to_string(promised) + " reported as durable:\n" +
           first_difference(states[promised], found);
}

}  // namespace revenant::sim
