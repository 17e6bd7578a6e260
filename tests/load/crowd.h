// Thousands of connections from one thread: each opens, waits until all are open, and then works or
// stays idle. Unlike a peer of tests/bench, a member of the crowd is small and not optimized for
// speed.
#pragma once

#include "amqp.h"
#include "handshake.h"
#include "session.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace load {

// One connection. After the handshake it declares its own queue, consumes from it, publishes `work`
// numbered messages, acknowledges the deliveries and finally requests the depth of the queue.
class Member {
  public:
    Member(int descriptor, uint64_t index, const bench::Login& login);
    ~Member();
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;
    Member(Member&&) = delete;
    Member& operator=(Member&&) = delete;

    enum class Phase { opening, open, declaring, consuming, working, checking, finished };

    void start_work(uint64_t messages);
    // Reads and replies. Throws bench::Failure if the broker refuses, closes or violates the order.
    void on_readable();
    // Returns whether all output is written.
    bool flush();
    // Whether the broker has closed the connection or sent anything unexpected.
    bool is_disturbed() const;

    int descriptor() const { return descriptor_; }
    Phase phase() const { return phase_; }
    uint64_t received_count() const { return received_count_; }

  private:
    void handle(const bench::Frame& frame);
    void handle_method(bench::MethodId id, std::string_view arguments);
    void publish_all();
    void on_body(std::string_view body);
    std::string queue() const { return "load.queue." + std::to_string(index_); }
    std::string body_of(uint64_t ordinal) const;

    int descriptor_;
    uint64_t index_;
    bench::Handshake handshake_;
    Phase phase_ = Phase::opening;
    std::string input_;
    std::string output_;
    uint64_t message_count_ = 0;
    uint64_t received_count_ = 0;
    uint64_t delivery_tag_ = 0;
};

class Crowd {
  public:
    explicit Crowd(bench::Endpoint endpoint);
    ~Crowd();
    Crowd(const Crowd&) = delete;
    Crowd& operator=(const Crowd&) = delete;
    Crowd(Crowd&&) = delete;
    Crowd& operator=(Crowd&&) = delete;

    // Opens connections, up to one hundred at a time. Throws bench::Failure unless all are open in
    // time.
    void open(uint64_t count);
    // Makes all members work simultaneously and returns when all have finished.
    void work(uint64_t messages);

    uint64_t open_count() const { return members_.size(); }
    uint64_t disturbed_count() const;
    uint64_t received_count() const;

  private:
    void add_member();
    int connect_next();
    uint64_t count_in(Member::Phase phase) const {
        return phase_counts_.at(static_cast<size_t>(phase));
    }
    // Calls the action for a member and updates the counts by phase.
    void step(size_t index, const std::function<void(Member&)>& action);
    void turn();
    void flush(size_t index);

    bench::Endpoint endpoint_;
    int epoll_;
    uint32_t source_address_;  // of the next connections; changes when its ports are used up
    std::vector<std::unique_ptr<Member>> members_;
    std::array<uint64_t, static_cast<size_t>(Member::Phase::finished) + 1> phase_counts_{};
};

// Raises the limit of open files to this number, as far as the system allows.
void raise_open_files_limit(uint64_t count);

}  // namespace load
