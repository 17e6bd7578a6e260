// The progress of a publisher: the messages it may send, and the confirms it has received.
#pragma once

#include "outcome.h"

#include <cstdint>
#include <vector>

namespace bench {

class Connection;

class Publishing {
  public:
    // Sends `count` messages, limited by allow() and the confirm window.
    explicit Publishing(uint64_t count) : count_(count), allowed_(count) {}
    virtual ~Publishing() = default;
    Publishing(const Publishing&) = delete;
    Publishing& operator=(const Publishing&) = delete;
    Publishing(Publishing&&) = delete;
    Publishing& operator=(Publishing&&) = delete;

    // The publisher's connection, for the loop.
    virtual Connection& connection() = 0;

    void limit_unconfirmed(uint64_t window);
    void allow(uint64_t messages) { allowed_ = messages; }

    bool all_confirmed() const { return confirmed_count_ == count_; }
    uint64_t confirmed_count() const { return confirmed_count_; }
    uint64_t refused_count() const { return refused_count_; }

  protected:
    uint64_t count() const { return count_; }
    // The number of messages that may be sent so far.
    uint64_t limit() const;
    // Messages are counted from 1. Throws Failure if they were not published.
    void confirm(uint64_t first, uint64_t last, Outcome outcome);
    uint64_t lowest_unconfirmed() const { return lowest_unconfirmed_; }

  private:
    uint64_t count_;
    uint64_t allowed_;
    uint64_t window_ = 0;  // 0: no confirms
    uint64_t confirmed_count_ = 0;
    uint64_t refused_count_ = 0;
    uint64_t lowest_unconfirmed_ = 1;
    std::vector<bool> confirmed_;
};

}  // namespace bench
