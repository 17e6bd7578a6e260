// Worklist: what is to be done before a turn ends, and what earlier turns left undone because their
// portion was used up. Each Tick does one portion of that, so that nobody waits for the whole of
// it.
//
// What is due but not yet done is never seen half done: an expired message that is still in its
// queue is neither handed out nor counted, deliveries that were settled are settled for their
// channel, and a channel is closed for its client when all of it is.
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

    Queues touched;                    // by this turn
    Queues left;                       // by earlier ones
    std::deque<ChannelId> settling;    // channels with settlements that are not carried out yet
    std::deque<ConnectionId> closing;  // connections that are being closed
    std::deque<Queue*> cancelling;     // deleted queues with consumers that are not told yet
    bool expiry_is_behind = false;     // something is due that has not died yet
    bool letters_wait = false;         // outboxes that were not all looked at
    QueueId last_outbox;               // that was looked at
    std::size_t ticks = 0;             // that went on with work
    std::uint64_t turn = 0;            // the number of this turn
    // Effects of this turn that follow the answer to its command.
    std::vector<Effect> after_answer;

    // Whether the next Tick has something to do at once.
    bool has_work() const {
        return expiry_is_behind || letters_wait || !left.empty() || !settling.empty() ||
               !closing.empty() || !cancelling.empty();
    }
};

// Serves every queue touched in this turn, expires what came up on the way, and so on until nothing
// is left or the portion is used up. A death may touch further queues; they are served in the same
// loop, never by recursion.
void serve_touched(Turn& turn);

// One portion of what earlier turns left: expiry, settlements, closing connections, consumers of
// deleted queues, policies, retired bindings and queues.
void go_on_with_work(Turn& turn);

}  // namespace revenant::engine
