#include "consuming.h"

namespace bench {

void Consuming::on_delivered(uint64_t number) {
    const Outcome outcome = decide ? decide(delivered_count_) : Outcome::accepted;
    ++delivered_count_;
    if (outcome != pending_outcome_) settle_pending();
    pending_outcome_ = outcome;
    if (pending_count_ == 0) pending_first_ = number;
    pending_last_ = number;
    if (++pending_count_ >= settle_every_) settle_pending();
}

void Consuming::settle_pending() {
    if (pending_count_ == 0) return;
    settle(pending_first_, pending_last_, pending_outcome_);
    pending_count_ = 0;
}

}  // namespace bench
