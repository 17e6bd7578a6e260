// The topology of one run, and actions that several cases share: filling a queue, waiting for a
// depth.
#pragma once

#include "options.h"
#include "peer.h"
#include "report.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench {

// Declares queues and deletes them at the end, also after a failed run. Queues left over from a
// killed run are deleted before they are declared.
class Stage {
  public:
    explicit Stage(const Options& options);
    ~Stage();
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;
    Stage(Stage&&) = delete;
    Stage& operator=(Stage&&) = delete;

    void add_queue(const std::string& name, const Table& arguments = {});
    // A queue for dead letters that have its name as their dead-letter routing key.
    void add_dead_letter_queue(const std::string& name, const Table& arguments = {});
    void delete_queues();

    Session& session() { return session_; }

  private:
    const Options& options_;
    Session session_;
    std::vector<std::string> queues_;
};

std::string queue_name(uint64_t index);
inline const std::string dead_letter_queue = "bench.dead";
// The arguments of a queue that dead-letters to a queue of add_dead_letter_queue().
Table dead_letters_to(const std::string& queue);

enum class Confirms { off, on };
// Always uses AMQP 0-9-1, regardless of --protocol.
std::unique_ptr<Publisher> make_publisher(const Options& options, const std::string& queue,
                                          uint64_t count, Confirms confirms);

// A publisher for --protocol that waits for confirms.
std::unique_ptr<Publishing> make_confirmed_publisher(const Options& options,
                                                     const std::string& queue, uint64_t count);
// A consumer for --protocol with its prefetch, not started.
std::unique_ptr<Consuming> make_consumer(const Options& options, const std::string& queue);

struct Filling {
    uint64_t count = 0;
    uint64_t deadline_ns = 0;  // 0: no per-message expiration
};

// Publishes with confirms until all messages are confirmed.
void fill_queue(const Options& options, const std::string& queue, const Filling& filling);

// Requests the depth every few milliseconds until it is reached, or throws Failure.
void wait_for_depth(Session& session, const Options& options, const std::string& queue,
                    uint64_t depth);

// Starts the consumer of --queue and rejects all --messages, until the dead-letter queue contains
// every one.
void reject_all(const Options& options, Stage& stage, Consuming& consumer);

// Reports how much of a persistent load that is still queued cannot be on disk.
void report_unsaved(const Options& options, Report& report);

// Waits, a few seconds at most, until the broker has finished work caused by the preparation.
void wait_until_idle(pid_t broker);

void pause_ms(uint64_t milliseconds);

}  // namespace bench
