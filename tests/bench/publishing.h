// How far a publisher has come: what it may send, and what the broker has said about it.
#pragma once

#include "outcome.h"

#include <cstdint>
#include <vector>

namespace bench {

class Connection;

class Publishing {
  public:
    // Sends `count` messages, no more than allow() and the confirm window let go.
    explicit Publishing(uint64_t count) : count_(count), allowed_(count) {}
    virtual ~Publishing() = default;
    Publishing(const Publishing&) = delete;
    Publishing& operator=(const Publishing&) = delete;
    Publishing(Publishing&&) = delete;
    Publishing& operator=(Publishing&&) = delete;

    // The one it publishes on, for the loop.
    virtual Connection& connection() = 0;

    void limit_unconfirmed(uint64_t window);
    void allow(uint64_t messages) { allowed_ = messages; }

    bool all_confirmed() const { return confirmed_count_ == count_; }
    uint64_t confirmed_count() const { return confirmed_count_; }
    uint64_t refused_count() const { return refused_count_; }

  protected:
    uint64_t count() const { return count_; }
    // How many messages may have been sent by now.
    uint64_t limit() const;
    // Of messages counted from 1. Throws Failure if they were never published.
    void confirm(uint64_t first, uint64_t last, Outcome outcome);
    uint64_t lowest_unconfirmed() const { return lowest_unconfirmed_; }

  private:
    uint64_t count_;
    uint64_t allowed_;
    uint64_t window_ = 0;  // 0: confirms are off.
    uint64_t confirmed_count_ = 0;
    uint64_t refused_count_ = 0;
    uint64_t lowest_unconfirmed_ = 1;
    std::vector<bool> confirmed_;
};

}  // namespace bench
