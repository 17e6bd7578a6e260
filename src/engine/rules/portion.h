// Portion: how much accumulated work is done before other work is served. A turn does the work of
// its command, and at most one portion of the consequences; the rest stays on the worklist for the
// next Tick (worklist.h).
#pragma once

#include <cstddef>

namespace revenant::engine {

class Portion {
  public:
    // A step is about a microsecond of work: one death, one settlement, one queue visited. Bytes
    // are those that deaths add to the journal.
    struct Size {
        std::size_t steps = 1'500;
        std::size_t bytes = 1024 * 1024;
    };

    explicit Portion(Size size) : steps_left_(size.steps), bytes_left_(size.bytes) {}

    bool is_used_up() const { return steps_left_ == 0; }
    std::size_t steps_left() const { return steps_left_; }
    void spend(std::size_t steps, std::size_t bytes = 0) {
        steps_left_ -= steps < steps_left_ ? steps : steps_left_;
        if (bytes < bytes_left_) {
            bytes_left_ -= bytes;
        } else {
            steps_left_ = bytes_left_ = 0;
        }
    }

  private:
    std::size_t steps_left_;
    std::size_t bytes_left_;
};

}  // namespace revenant::engine
