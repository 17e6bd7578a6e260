// Recorder: records the events of a turn.
#pragma once

#include "engine/state/queue.h"
#include "engine/words/event.h"

namespace revenant::engine {

// Receives the events of a turn in order, each before it is applied. Not called if nothing is
// recorded.
class Recorder {
  public:
    virtual ~Recorder() = default;
    virtual void record(const Event& event) = 0;
    // Fast paths for the most frequent events.
    virtual void enqueued(const Queue& queue, const MessageRef& message,
                          const Placement& placement) {
        static_cast<void>(queue);
        record(Enqueued{message, placement});
    }
    virtual void removed(const Queue& queue, Position position, Ending ending) {
        record(Removed{queue.id(), position, ending});
    }
    // The events since the last call form one record, durable as a whole or not at all.
    virtual void turn_ended() {}
};

}  // namespace revenant::engine
