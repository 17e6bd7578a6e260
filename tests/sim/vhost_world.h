// VhostWorld: a virtual host with its real engine, store and promises, over a simulated disk, a
// clock that is set and a disk's thread that runs when it is told to.
//
// It writes down how the durable part of the state looked after every turn, and which of these
// turns somebody was told to be safe. What a restart finds must be one of them, and none before the
// last one that was promised.
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

// The disk is gone in the middle of something: the process ends there.
struct ProcessEnded {
    std::string why;
};

class VhostWorld final : private engine::EffectSink {
  public:
    explicit VhostWorld(std::uint64_t seed);
    ~VhostWorld() override;

    // --- a life ---

    // Brings back what survived; an error text if the store refuses.
    std::optional<std::string> start();
    // Does something a client, the clock or the disk's thread might do. False: the process ended.
    bool step();
    // Everything asked of the disk is done, and the virtual host closed in good order.
    bool stop_cleanly();
    void end(SimDisk::Loss loss);

    // --- what is known of it ---

    // Found out without the disk's faults, and without bringing anything into memory if pages are
    // to stay where they are.
    std::string durable_state();
    void leave_pages_alone() { leaves_pages_alone_ = true; }
    // How the durable state looked after each turn of this life, the first at its start.
    const std::vector<std::string>& states() const { return states_; }
    // The last turn that somebody was told to be safe.
    std::size_t promised() const { return promised_; }
    bool accounts_agree();
    // Messages that could not be read.
    std::uint64_t parked();
    // Whether every turn in which a read failed has parked something.
    bool has_parked_the_unreadable() const { return has_parked_the_unreadable_; }
    // How often it was told that the disk is full.
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
    bool will_survive_ = false;  // something of the transaction under way
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
