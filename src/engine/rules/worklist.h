// Worklist: work to be done before a turn ends, and work left over from earlier turns because their
// portion was used up. Each Tick does one portion of the latter, so that other commands need not
// wait.
//
// Unfinished work is not visible: an expired message that is still in its queue is neither
// delivered nor counted, settled deliveries are settled from the channel's view, and a channel is
// reported as closed only when it is closed completely.
#pragma once

#include "base/ids.h"
#include "engine/state/queue.h"
#include "engine/words/effect.h"

#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace revenant::engine {

class Turn;

struct Worklist {
    using Queues =
        boost::intrusive::list<Queue,
                               boost::intrusive::member_hook<Queue, WorkHook, &Queue::work_hook>,
                               boost::intrusive::constant_time_size<false>>;

    Queues touched;                    // with work from this turn
    Queues left;                       // with work from earlier turns
    std::deque<ChannelId> settling;    // channels with unfinished settlements
    std::deque<ConnectionId> closing;  // connections that are being closed
    std::deque<Queue*> cancelling;     // deleted queues with consumers that are not cancelled yet
    bool expiry_is_behind = false;     // there are due messages that have not expired yet
    bool letters_wait = false;         // not all outboxes were processed
    QueueId last_outbox;               // the last one processed
    std::size_t ticks = 0;             // that did leftover work
    std::uint64_t turn = 0;            // number of this turn
    // Effects of this turn that follow the answer to its command.
    std::vector<Effect> after_answer;

    // Whether the next Tick is needed immediately.
    bool has_work() const {
        return expiry_is_behind || letters_wait || !left.empty() || !settling.empty() ||
               !closing.empty() || !cancelling.empty();
    }
};

// Serves every queue with work from this turn and expires messages that become due, until nothing
// is left or the portion is used up. A death may add further queues; they are served in the same
// loop, never by recursion.
void serve_touched(Turn& turn);

// Does one portion of the work left by earlier turns: expiry, settlements, closing connections,
// consumers of deleted queues, policies, retired bindings and queues.
void go_on_with_work(Turn& turn);

}  // namespace revenant::engine
