#include "publishing.h"

#include "failure.h"

#include <algorithm>

namespace bench {

void Publishing::limit_unconfirmed(uint64_t window) {
    window_ = window;
    confirmed_.assign(count_ + 1, false);
}

uint64_t Publishing::limit() const {
    const uint64_t allowed = std::min(count_, allowed_);
    return window_ == 0 ? allowed : std::min(allowed, confirmed_count_ + window_);
}

void Publishing::confirm(uint64_t first, uint64_t last, Outcome outcome) {
    if (first == 0 || last >= confirmed_.size())
        throw Failure("the broker confirmed what was never published");
    for (uint64_t each = first; each <= last; ++each) {
        if (confirmed_[each]) continue;
        confirmed_[each] = true;
        ++confirmed_count_;
        if (outcome == Outcome::rejected) ++refused_count_;
    }
    while (lowest_unconfirmed_ < confirmed_.size() && confirmed_[lowest_unconfirmed_])
        ++lowest_unconfirmed_;
}

}  // namespace bench
