#include "engine/rules/worklist.h"

#include "base/probe.h"
#include "engine/rules/closing.h"
#include "engine/rules/consumers.h"
#include "engine/rules/dispatch.h"
#include "engine/rules/expiry.h"
#include "engine/rules/overflow.h"
#include "engine/rules/policy_change.h"
#include "engine/rules/settle.h"
#include "engine/rules/topology.h"
#include "engine/rules/turn.h"

#include <array>
#include <cstddef>

namespace revenant::engine {
namespace {

// The number of further queues that are served after the portion is used up, without expiry:
// messages with a TTL of zero are offered to consumers before they expire (DL-126).
constexpr std::size_t served_beyond_portion = 16;

Queue& take_first(Worklist::Queues& queues) {
    Queue& queue = queues.front();
    queues.pop_front();
    return queue;
}

void serve_and_keep_limits(Turn& turn, Queue& queue) {
    serve(turn, queue);
    enforce_limits(turn, queue);
}

void leave_the_rest(Turn& turn) {
    Worklist& worklist = turn.worklist();
    for (std::size_t i = 0; i < served_beyond_portion && !worklist.touched.empty(); ++i) {
        serve_and_keep_limits(turn, take_first(worklist.touched));
    }
    PROBE("worklist.left");
    worklist.left.splice(worklist.left.end(), worklist.touched);
}

void go_on_with_channels(Turn& turn) {
    auto& settling = turn.worklist().settling;
    for (std::size_t i = settling.size(); i > 0 && !turn.portion().is_used_up(); --i) {
        const ChannelId id = settling.front();
        settling.pop_front();
        Channel* const channel = turn.attached().find_channel(id);
        if (channel == nullptr) continue;  // closed with its connection
        const bool done =
            channel->closing ? go_on_closing(turn, *channel) : go_on_settling(turn, *channel);
        if (!done) settling.push_back(id);
    }
}

void go_on_with_connections(Turn& turn) {
    auto& closing = turn.worklist().closing;
    for (std::size_t i = closing.size(); i > 0 && !turn.portion().is_used_up(); --i) {
        const ConnectionId id = closing.front();
        closing.pop_front();
        if (!go_on_closing(turn, *turn.attached().find_connection(id))) closing.push_back(id);
    }
}

void go_on_with_policies(Turn& turn) { apply_policies(turn); }

void go_on_with_bindings(Turn& turn) { free_retired_bindings(turn); }

void go_on_with_queues(Turn& turn) {
    Worklist& worklist = turn.worklist();
    // Queues added in this turn come after this one.
    if (worklist.left.empty()) return;
    const Queue* const last = &worklist.left.back();
    while (!worklist.left.empty() && !turn.portion().is_used_up()) {
        Queue& queue = take_first(worklist.left);
        const bool was_last = &queue == last;
        serve_and_keep_limits(turn, queue);
        turn.portion().spend(1);
        if (was_last) return;
    }
}

}  // namespace

void serve_touched(Turn& turn) {
    Worklist& worklist = turn.worklist();
    do {
        // Grows during the loop: deaths add messages to other queues.
        while (!worklist.touched.empty()) {
            if (turn.portion().is_used_up()) {
                leave_the_rest(turn);
                return;
            }
            serve_and_keep_limits(turn, take_first(worklist.touched));
            turn.portion().spend(1);
        }
        // With a TTL of zero, a message that no consumer could take immediately expires now
        // (DL-126).
        if (!worklist.expiry_is_behind && turn.state().deadlines_next() <= turn.now()) {
            expire_due(turn);
        }
    } while (!worklist.touched.empty());
}

void go_on_with_work(Turn& turn) {
    // The first kind of work rotates, so that no kind has to wait until another is finished.
    constexpr std::array kinds{expire_due,       go_on_with_channels, go_on_with_connections,
                               go_on_cancelling, go_on_with_policies, go_on_with_bindings,
                               go_on_with_queues};
    const std::size_t first = turn.worklist().ticks++ % kinds.size();
    for (std::size_t i = 0; i < kinds.size() && !turn.portion().is_used_up(); ++i) {
        kinds[(first + i) % kinds.size()](turn);
    }
}

}  // namespace revenant::engine
