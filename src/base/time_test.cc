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

TEST(Time, WhatIsTooLongIsTheLongest) {
    EXPECT_EQ(milliseconds(INT64_MAX).us, INT64_MAX);
    EXPECT_EQ(seconds(INT64_MAX / 1000).us, INT64_MAX);
    EXPECT_EQ(seconds(INT64_MIN).us, INT64_MIN);
    EXPECT_EQ(milliseconds(duration_ms_max).us, duration_ms_max * 1000);
}

TEST(Time, AMomentBeyondAllOthersIsNever) {
    const Timestamp at{1'700'000'000'123'456};
    EXPECT_EQ(at + milliseconds(INT64_MAX), never);
    EXPECT_EQ(at + Duration{INT64_MAX - at.us + 1}, never);
    EXPECT_EQ(never + seconds(1), never);
    EXPECT_LT(at + milliseconds(duration_ms_max), never);
}

TEST(Time, DifferencesStopAtTheEnds) {
    const Timestamp first{INT64_MIN};
    EXPECT_EQ((never - first).us, INT64_MAX);
    EXPECT_EQ((first - never).us, INT64_MIN);
    EXPECT_EQ((first - seconds(1)).us, INT64_MIN);
    EXPECT_EQ((Timestamp{5} - Timestamp{7}).us, -2);
}

}  // namespace
}  // namespace revenant
