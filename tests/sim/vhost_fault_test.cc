// A virtual host on a disk with failures: it is full for a while, a write or sync fails, or reads
// fail for a while. A full disk delays deferred effects. After a failed write or sync the process
// ends, and the next one finds everything that was reported as durable, with or without a power
// loss. A message that cannot be read is parked, and the next process has it again.
//
// REVENANT_HISTORIES=n runs n histories instead of the usual number; REVENANT_SEED=s runs only the
// one with this seed.

#include "tests/sim/dice.h"
#include "tests/sim/vhost_restart.h"
#include "tests/sim/vhost_world.h"
#include "tests/support/seeds.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace revenant::sim {
namespace {

constexpr int steps_per_faulty_life = 60;
#ifdef REVENANT_SANITIZED
constexpr std::uint64_t usual_faulty_histories = 40;
#else
constexpr std::uint64_t usual_faulty_histories = 300;
#endif

SimDisk::Loss any_loss(Dice& dice) {
    return dice.one_in(3) ? SimDisk::Loss::process : SimDisk::Loss::power;
}

// The last process of every history: it runs without failures.
Violation live_well(VhostWorld& world) {
    for (int i = 0; i < steps_per_faulty_life / 3; ++i) {
        if (!world.step()) return "the process ended without a failure of the disk";
        if (!world.accounts_agree()) return "the entry counters do not balance";
    }
    if (!world.stop_cleanly()) return "cannot stop";
    const std::string before = world.states().back();
    world.end(SimDisk::Loss::power);
    if (const auto refused = world.start()) return "after a clean shutdown: " + *refused;
    if (world.states().front() == before) return std::nullopt;
    return "after a clean shutdown\n" + first_difference(before, world.states().front());
}

// ------------------------------------------------------------------------- a full disk

class Shortage {
  public:
    Shortage(VhostWorld& world, Dice& dice) : world_(world), dice_(dice) {}
    void before_step() {
        if (steps_left_ > 0) {
            if (--steps_left_ == 0) world_.disk.set_capacity(std::nullopt);
        } else if (dice_.one_in(15)) {
            steps_left_ = 3 + dice_.below(25);
            world_.disk.set_capacity(world_.disk.used_bytes() + dice_.below(3000));
        }
    }

  private:
    VhostWorld& world_;
    Dice& dice_;
    std::uint64_t steps_left_ = 0;
};

struct FullOutcome {
    Violation violation;
    std::uint64_t times_full = 0;
};

FullOutcome run_with_full_disk(std::uint64_t seed) {
    VhostWorld world(seed);
    Dice dice(seed * 7919);
    FullOutcome outcome;
    if (const auto refused = world.start()) return {"the first start is refused: " + *refused, 0};
    for (int life = 0; life < 3 && !outcome.violation; ++life) {
        Shortage shortage(world, dice);
        if (dice.one_in(2)) world.disk.crash_at_step(world.disk.steps() + 1 + dice.below(200));
        for (int i = 0; i < steps_per_faulty_life; ++i) {
            shortage.before_step();
            if (!world.step()) break;
            if (!world.accounts_agree()) return {"the entry counters do not balance", 0};
        }
        // The disk may also be full at the restart.
        if (dice.one_in(2)) world.disk.set_capacity(std::nullopt);
        outcome.violation = restart(world, any_loss(dice));
    }
    world.disk.set_capacity(std::nullopt);
    if (!outcome.violation) outcome.violation = live_well(world);
    outcome.times_full = world.times_full();
    return outcome;
}

// ------------------------------------------------------------------------- failures

void break_something(SimDisk& disk, Dice& dice) {
    switch (dice.below(4)) {
        case 0:
            return disk.fail_next_write();
        case 1:
            return disk.fail_next_sync_as_full();
        default:
            return disk.fail_next_sync();
    }
}

struct FailedOutcome {
    Violation violation;
    std::uint64_t ended = 0;  // processes ended by a failure
};

FailedOutcome run_with_failures(std::uint64_t seed) {
    VhostWorld world(seed);
    Dice dice(seed * 104729);
    FailedOutcome outcome;
    if (const auto refused = world.start()) return {"the first start is refused: " + *refused, 0};
    for (int life = 0; life < 4 && !outcome.violation; ++life) {
        const std::uint64_t when = dice.below(steps_per_faulty_life);
        bool running = true;
        for (std::uint64_t i = 0; running && i < steps_per_faulty_life; ++i) {
            if (i == when) break_something(world.disk, dice);
            running = world.step();
        }
        if (!running) outcome.ended += 1;
        world.disk.heal();
        outcome.violation = restart(world, any_loss(dice));
    }
    if (!outcome.violation) outcome.violation = live_well(world);
    return outcome;
}

// ------------------------------------------------------------------------- read failures

class Blindness {
  public:
    Blindness(VhostWorld& world, Dice& dice) : world_(world), dice_(dice) {}
    void before_step() {
        if (steps_left_ > 0) {
            if (--steps_left_ == 0) world_.disk.fail_reads(false);
        } else if (dice_.one_in(8)) {
            steps_left_ = 1 + dice_.below(12);
            world_.disk.fail_reads(true);
        }
    }

  private:
    VhostWorld& world_;
    Dice& dice_;
    std::uint64_t steps_left_ = 0;
};

struct BlindOutcome {
    Violation violation;
    std::uint64_t parked = 0;  // at the end of their process
};

Violation live_blindly(VhostWorld& world, Dice& dice) {
    Blindness blindness(world, dice);
    if (dice.one_in(3)) world.disk.crash_at_step(world.disk.steps() + 1 + dice.below(200));
    for (int i = 0; i < steps_per_faulty_life; ++i) {
        blindness.before_step();
        if (!world.step()) {
            if (world.disk.crashed()) break;
            return "a failed read ended the process";
        }
        if (!world.has_parked_the_unreadable()) return "an unreadable message is not parked";
        if (!world.accounts_agree()) return "the entry counters do not balance";
    }
    return std::nullopt;
}

BlindOutcome run_with_failing_reads(std::uint64_t seed) {
    VhostWorld world(seed);
    world.leave_pages_alone();
    Dice dice(seed * 15'485'863);
    BlindOutcome outcome;
    if (const auto refused = world.start()) return {"the first start is refused: " + *refused, 0};
    for (int life = 0; life < 4 && !outcome.violation; ++life) {
        if ((outcome.violation = live_blindly(world, dice))) break;
        outcome.parked += world.parked();
        world.disk.fail_reads(false);
        outcome.violation = restart(world, any_loss(dice), /*blindly=*/dice.one_in(3));
        if (!outcome.violation && world.parked() > 0) {
            outcome.violation = "messages are parked although all are readable";
        }
    }
    if (!outcome.violation) outcome.violation = live_well(world);
    return outcome;
}

// ------------------------------------------------------------------------- tests

void run_all(const char* name, const std::function<Violation(std::uint64_t)>& run) {
    SeedWatch watch(name);
    if (const std::uint64_t only = number_from_environment("REVENANT_SEED", 0); only != 0) {
        EXPECT_EQ(run(only).value_or(""), "");
        return;
    }
    const std::uint64_t histories =
        number_from_environment("REVENANT_HISTORIES", usual_faulty_histories);
    for (std::uint64_t seed = 1; seed <= histories; ++seed) {
        watch.begin(seed);
        const Violation violation = run(seed);
        if (!violation) continue;
        ADD_FAILURE() << name << ", seed " << seed << ": " << *violation;
        return;
    }
}

// The sum of a counter over all histories.
template <typename Outcome>
std::uint64_t run_and_sum(const char* name, Outcome (*run)(std::uint64_t),
                          std::uint64_t Outcome::*count) {
    std::uint64_t sum = 0;
    run_all(name, [&](std::uint64_t seed) {
        const Outcome outcome = run(seed);
        sum += outcome.*count;
        return outcome.violation;
    });
    return sum;
}

TEST(VhostFault, ADiskThatIsFullForAWhileBreaksNoPromise) {
    EXPECT_GT(run_and_sum("full disk", run_with_full_disk, &FullOutcome::times_full), 10U);
}

TEST(VhostFault, AfterAFailedWriteOrSyncEveryPromiseIsKept) {
    EXPECT_GT(run_and_sum("failures", run_with_failures, &FailedOutcome::ended), 3U);
}

TEST(VhostFault, WhatCannotBeReadForAWhileIsBackAfterTheRestart) {
    EXPECT_GT(run_and_sum("failing reads", run_with_failing_reads, &BlindOutcome::parked), 100U);
}

}  // namespace
}  // namespace revenant::sim
