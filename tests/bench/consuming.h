// The progress of a consumer: received and unsettled deliveries.
#pragma once

#include "outcome.h"

#include <cstdint>
#include <functional>

namespace bench {

class Connection;

class Consuming {
  public:
    // Settles every `settle_every` deliveries with one frame.
    explicit Consuming(uint64_t settle_every) : settle_every_(settle_every) {}
    virtual ~Consuming() = default;
    Consuming(const Consuming&) = delete;
    Consuming& operator=(const Consuming&) = delete;
    Consuming(Consuming&&) = delete;
    Consuming& operator=(Consuming&&) = delete;

    // The consumer's connection, for the loop.
    virtual Connection& connection() = 0;

    // Requests the first messages.
    virtual void start() = 0;

    // Chooses the outcome of a delivery by its index from 0. By default all are accepted.
    std::function<Outcome(uint64_t ordinal)> decide;

    uint64_t delivered_count() const { return delivered_count_; }
    void settle_pending();

  protected:
    // A complete message has arrived; `number` settles it.
    void on_delivered(uint64_t number);
    virtual void settle(uint64_t first, uint64_t last, Outcome outcome) = 0;

  private:
    uint64_t settle_every_;
    uint64_t delivered_count_ = 0;
    uint64_t pending_count_ = 0;
    uint64_t pending_first_ = 0;
    uint64_t pending_last_ = 0;
    Outcome pending_outcome_ = Outcome::accepted;
};

}  // namespace bench
