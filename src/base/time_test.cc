#include "base/time.h"

#include <gtest/gtest.h>

namespace revenant {
namespace {

TEST(Time, DurationsCountMicroseconds) {
    EXPECT_EQ(milliseconds(2), microseconds(2000));
    EXPECT_EQ(seconds(2), milliseconds(2000));
    EXPECT_LT(milliseconds(999), seconds(1));
}

TEST(Time, MomentsAndDurationsAddUp) {
    const Timestamp at{1'700'000'000'123'456};
    EXPECT_EQ((at + seconds(1)) - at, seconds(1));
    EXPECT_EQ((at - milliseconds(1)) + milliseconds(1), at);
    EXPECT_LT(at, at + microseconds(1));
    EXPECT_LT(at, never);
}

TEST(Time, WholeUnitsAreCutOff) {
    const Timestamp at{1'700'000'000'999'999};
    EXPECT_EQ(at.whole_ms(), 1'700'000'000'999);
    EXPECT_EQ(at.whole_seconds(), 1'700'000'000);
}

}  // namespace
}  // namespace revenant
