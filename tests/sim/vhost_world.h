// VhostWorld: a virtual host with its real engine, store and deferred effects, on a simulated disk,
// with a simulated clock and a disk thread that runs on request.
//
// It records the durable state after every turn, and which of these turns were reported to a client
// as durable. A restart must restore one of these states, and none before the last one reported.
#pragma once

#include "base/time.h"
#include "engine/words/effect.h"
#include "runtime/reactor.h"
#include "runtime/vhost.h"
#include "tests/sim/dice.h"
#include "tests/sim/sim_disk.h"
#include "tests/sim/sim_worker.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace revenant::sim {

// The disk fails during an operation: the process ends there.
struct ProcessEnded {
    std::string why;
};

class VhostWorld final : private engine::EffectSink {
  public:
    explicit VhostWorld(std::uint64_t seed);
    ~VhostWorld() override;

    // --- lifetime of a process ---

    // Restores the durable state; an error text if the store does not open.
    std::optional<std::string> start();
    // Performs a random action of a client, the clock or the disk thread. False: the process ended.
    bool step();
    // Completes all disk tasks and closes the virtual host.
    bool stop_cleanly();
    void end(SimDisk::Loss loss);

    // --- inspection ---

    // Determined without the disk's failures, and without paging in if pages have to stay on disk.
    std::string durable_state();
    void leave_pages_alone() { leaves_pages_alone_ = true; }
    // The durable state after each turn of this process, starting with the one at startup.
    const std::vector<std::string>& states() const { return states_; }
    // The last turn that was reported as durable.
    std::size_t promised() const { return promised_; }
    bool accounts_agree();
    // Messages that could not be read.
    std::uint64_t parked();
    // Whether every turn with a failed read has parked a message.
    bool has_parked_the_unreadable() const { return has_parked_the_unreadable_; }
    // How often a full disk was reported.
    std::uint64_t times_full() const { return times_full_; }
    bool has_started() const { return vhost_ != nullptr && !states_.empty(); }

    SimDisk disk;

  private:
    bool deliver(engine::Deliver&& effect) override;
    void confirm(const engine::Confirm& effect) override;
    void request(engine::Effect&& effect) override;

    void promise(std::size_t turn);
    void act();
    enum class Answered : std::uint8_t { with_a_promise, without, never };
    static constexpr std::size_t nothing_promised = 0;
    void handle(engine::Command&& command, Answered answered = Answered::with_a_promise);
    void publish();
    void take_or_consume();
    void settle();
    void change_definitions();
    void change_policy();
    void commit();
    void declare_all();
    MessageRef any_message();
    std::string any_queue();
    void open_channel();
    void run_disk();

    Dice dice_;
    bool leaves_pages_alone_ = false;
    bool has_parked_the_unreadable_ = true;
    Timestamp now_{1'700'000'000'000'000};
    SimWorker worker_;
    runtime::Reactor reactor_{0};
    std::unique_ptr<runtime::Vhost> vhost_;
    std::uint64_t connection_ = 0;
    std::uint64_t channel_ = 0;
    bool transactional_ = false;
    bool will_survive_ = false;  // the current transaction has persistent changes
    bool channel_open_ = false;
    std::uint32_t consumers_ = 0;
    std::uint64_t published_ = 0;
    std::vector<std::uint64_t> unsettled_;
    std::uint64_t bodies_ = 0;
    std::vector<std::string> states_;
    std::map<std::uint64_t, std::size_t> turn_of_publish_;
    std::deque<std::size_t> turns_of_answers_;
    std::size_t promised_ = 0;
    std::uint64_t times_full_ = 0;
};

}  // namespace revenant::sim
