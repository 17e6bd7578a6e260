// A virtual host on the simulated disk, crashed at steps of the disk. A restart restores the
// durable state after some turn, and not before the last turn that was reported as durable. So no
// confirmed message is lost, no durably settled message is redelivered, a death neither loses nor
// duplicates a message (DL-165, DL-187), and the order is preserved.
//
// REVENANT_HISTORIES=n runs n histories instead of the usual number; REVENANT_SEED=s runs only the
// one with this seed, at every step of its disk.

#include "base/probe.h"
#include "tests/sim/vhost_restart.h"
#include "tests/sim/vhost_world.h"
#include "tests/support/seeds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <optional>
#include <string>

namespace revenant::sim {
namespace {

constexpr int steps_per_life = 60;
#ifdef REVENANT_SANITIZED
constexpr std::uint64_t usual_vhost_histories = 60;
#else
constexpr std::uint64_t usual_vhost_histories = 2000;
#endif

struct Outcome {
    Violation violation;
    bool crashed = false;
};

// One process until the crash, a second one with a clean shutdown, and a third.
Outcome run_history(std::uint64_t seed, std::uint64_t crash_at, bool lying) {
    VhostWorld world(seed);
    world.disk.lie_on_sync(lying);
    world.disk.crash_at_step(crash_at);
    Outcome outcome;
    if (const auto refused = world.start(); refused && !world.disk.crashed()) {
        outcome.violation = "the first startup is refused: " + *refused;
        return outcome;
    }
    if (!world.disk.crashed()) {
        for (int i = 0; i < steps_per_life && world.step(); ++i) {
            if (!world.accounts_agree()) return {"the accounts do not agree", false};
        }
    }
    outcome.crashed = world.disk.crashed();
    if (!world.has_started()) return outcome;  // the crash happened before any state existed
    const SimDisk::Loss loss = seed % 3 == 0 ? SimDisk::Loss::process : SimDisk::Loss::power;
    if ((outcome.violation = restart(world, loss))) return outcome;
    for (int i = 0; i < steps_per_life / 3; ++i) {
        if (!world.step()) return {"the second life ended by itself", outcome.crashed};
    }
    if (!world.stop_cleanly()) return {"it cannot be stopped", outcome.crashed};
    const std::string before = world.states().back();
    world.end(SimDisk::Loss::power);
    if (const auto refused = world.start()) return {*refused, outcome.crashed};
    if (world.states().front() != before) {
        outcome.violation =
            "after a clean stop\n" + first_difference(before, world.states().front());
    }
    return outcome;
}

std::uint64_t run_everywhere(std::uint64_t seed) {
    std::uint64_t runs = 0;
    for (std::uint64_t step = 1; step < 100'000; ++step) {
        const Outcome outcome = run_history(seed, step, /*lying=*/false);
        runs += 1;
        if (outcome.violation) {
            ADD_FAILURE() << "seed " << seed << ", crash at step " << step << ": "
                          << *outcome.violation;
            break;
        }
        if (!outcome.crashed) break;
    }
    return runs;
}

// Every fourth seed, so that the tests can run in parallel.
void run_quarter(std::uint64_t first_seed) {
    SeedWatch watch("vhost crash");
    const std::uint64_t only = number_from_environment("REVENANT_SEED", 0);
    const std::uint64_t histories =
        number_from_environment("REVENANT_HISTORIES", usual_vhost_histories);
    std::uint64_t runs = 0;
    if (only != 0) {
        if (only % 4 == first_seed % 4) run_everywhere(only);
        return;
    }
    for (std::uint64_t seed = first_seed; seed <= histories; seed += 4) {
        watch.begin(seed);
        if (seed / 4 % 100 == 0) runs += run_everywhere(seed);
        Dice dice(seed);
        for (int i = 0; i < 2; ++i) {
            const std::uint64_t step = 1 + dice.below(160);
            const Outcome outcome = run_history(seed, step, /*lying=*/false);
            runs += 1;
            if (!outcome.violation) continue;
            ADD_FAILURE() << "seed " << seed << ", crash at step " << step << ": "
                          << *outcome.violation;
            return;
        }
    }
    std::printf("%llu runs\n", static_cast<unsigned long long>(runs));
}

TEST(VhostCrash, FirstQuarterKeepsEveryPromise) { run_quarter(1); }
TEST(VhostCrash, SecondQuarterKeepsEveryPromise) { run_quarter(2); }
TEST(VhostCrash, ThirdQuarterKeepsEveryPromise) { run_quarter(3); }
TEST(VhostCrash, LastQuarterKeepsEveryPromise) { run_quarter(4); }

TEST(VhostCrash, TheHistoriesGoEverywhere) {
    for (const char* const place :
         {"journal.compacted", "segments.spare_used", "segments.tail_cut"}) {
        const std::uint64_t before = Probe::hits(place);
        for (std::uint64_t seed = 1; seed <= 100 && Probe::hits(place) == before; ++seed) {
            EXPECT_EQ(run_history(seed, 60 + seed, /*lying=*/false).violation, std::nullopt);
        }
        EXPECT_GT(Probe::hits(place), before) << place;
    }
}

TEST(VhostCrash, ADiskThatLiesIsCaught) {
    std::uint64_t caught = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        const Outcome outcome = run_history(seed * 3 + 1, 60 + seed * 2, /*lying=*/true);
        if (outcome.violation) caught += 1;
    }
    EXPECT_GT(caught, 10U);
}

}  // namespace
}  // namespace revenant::sim
