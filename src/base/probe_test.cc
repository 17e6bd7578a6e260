#include "base/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace revenant {
namespace {

void rare_branch(bool taken) {
    if (taken) PROBE("probe_test.rare");
}
void twin_branch() { PROBE("probe_test.rare"); }

TEST(Probe, CountsHowOftenABranchWasTaken) {
    const auto before = Probe::hits("probe_test.rare");
    rare_branch(false);
    EXPECT_EQ(Probe::hits("probe_test.rare"), before);
    rare_branch(true);
    rare_branch(true);
    EXPECT_EQ(Probe::hits("probe_test.rare"), before + 2);
}

TEST(Probe, BranchesOfOneNameAreCountedTogether) {
    const auto before = Probe::hits("probe_test.rare");
    rare_branch(true);
    twin_branch();
    EXPECT_EQ(Probe::hits("probe_test.rare"), before + 2);
}

TEST(Probe, ReachedNamesEachBranchOnceAndInOrder) {
    rare_branch(true);
    twin_branch();
    const auto reached = Probe::reached();
    EXPECT_THAT(reached, ::testing::Contains("probe_test.rare").Times(1));
    EXPECT_TRUE(std::is_sorted(reached.begin(), reached.end()));
    EXPECT_THAT(reached, ::testing::Not(::testing::Contains("probe_test.never")));
    EXPECT_EQ(Probe::hits("probe_test.never"), 0U);
}

}  // namespace
}  // namespace revenant
