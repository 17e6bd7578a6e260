// Recorder: where the events of a turn are written down.
#pragma once

#include "engine/state/queue.h"
#include "engine/words/event.h"

namespace revenant::engine {

// Where the facts of a turn are written down, in order, each before it is applied. Not called when
// nobody keeps a record.
class Recorder {
  public:
    virtual ~Recorder() = default;
    virtual void record(const Event& event) = 0;
    // The doors for what passes by the million.
    virtual void enqueued(const Queue& queue, const MessageRef& message,
                          const Placement& placement) {
        static_cast<void>(queue);
        record(Enqueued{message, placement});
    }
    virtual void removed(const Queue& queue, Position position, Ending ending) {
        record(Removed{queue.id(), position, ending});
    }
    // What was recorded since the last turn is one record, safe as a whole or not at all.
    virtual void turn_ended() {}
};

}  // namespace revenant::engine
