#include "auth/failed_logins.h"

#include <gtest/gtest.h>

namespace revenant {
namespace {

constexpr Timestamp start{1'000'000'000'000};

class FailedLoginsTest : public testing::Test {
  protected:
    // Returns the number of failures that started throttling.
    int fail(int count, std::string_view source = "192.0.2.1",
             PeerLocation place = PeerLocation::remote) {
        int told = 0;
        for (int i = 0; i < count; ++i) told += failed_.failed(source, place, now_) ? 1 : 0;
        return told;
    }
    Duration wait(std::string_view source = "192.0.2.1") { return failed_.wait(source, now_); }

    FailedLogins failed_{{}};
    Timestamp now_ = start;
};

TEST_F(FailedLoginsTest, NobodyWaitsBeforeTheLimit) {
    EXPECT_EQ(wait(), Duration{});
    EXPECT_EQ(fail(10), 0);
    EXPECT_EQ(wait(), Duration{});
}

TEST_F(FailedLoginsTest, BeyondTheLimitTheWaitDoublesUpToItsMost) {
    fail(10);
    std::vector<std::int64_t> waits;
    for (int i = 0; i < 6; ++i) {
        fail(1);
        waits.push_back(wait().us / 1000);
        now_ = now_ + wait();
        EXPECT_EQ(wait(), Duration{}) << "the delay ends";
    }
    EXPECT_EQ(waits, (std::vector<std::int64_t>{500, 1000, 2000, 4000, 8000, 8000}));
}

TEST_F(FailedLoginsTest, TheFirstWaitIsToldOnceUntilTheAddressHasBeenQuiet) {
    EXPECT_EQ(fail(30), 1);
    now_ = now_ + seconds(5);
    EXPECT_EQ(fail(30), 0);
    now_ = now_ + seconds(61);
    EXPECT_EQ(fail(10), 0);
    EXPECT_EQ(wait(), Duration{});
    EXPECT_EQ(fail(1), 1);
    EXPECT_EQ(wait(), milliseconds(500));
}

TEST_F(FailedLoginsTest, AsManyAMinuteAsAreAllowedNeverWait) {
    for (int i = 0; i < 1000; ++i) {
        EXPECT_EQ(fail(1), 0);
        EXPECT_EQ(wait(), Duration{});
        now_ = now_ + seconds(6);
    }
}

TEST_F(FailedLoginsTest, OtherAddressesAreNotConcerned) {
    fail(100);
    EXPECT_NE(wait(), Duration{});
    EXPECT_EQ(wait("192.0.2.2"), Duration{});
    fail(1, "192.0.2.2");
    EXPECT_EQ(wait("192.0.2.2"), Duration{});
}

TEST_F(FailedLoginsTest, ThisMachineMayFailMoreOften) {
    EXPECT_EQ(fail(1000, "127.0.0.1", PeerLocation::loopback), 0);
    EXPECT_EQ(wait("127.0.0.1"), Duration{});
    EXPECT_EQ(fail(1, "127.0.0.1", PeerLocation::loopback), 1);
    EXPECT_EQ(wait("127.0.0.1"), milliseconds(500));
}

TEST_F(FailedLoginsTest, WithoutALimitNothingIsKept) {
    FailedLogins unlimited({.failures_per_minute = 0, .failures_per_minute_loopback = 0});
    for (int i = 0; i < 100; ++i) {
        EXPECT_FALSE(unlimited.failed("192.0.2.1", PeerLocation::remote, start));
    }
    EXPECT_EQ(unlimited.wait("192.0.2.1", start), Duration{});
    EXPECT_EQ(unlimited.source_count(), 0U);
}

TEST_F(FailedLoginsTest, AddressesWithoutNumberTakeNoMoreThanTheirRoom) {
    fail(100, "192.0.2.1");
    for (std::size_t i = 0; i < FailedLogins::sources_max * 2; ++i) {
        fail(1, "10.0.0." + std::to_string(i));
        fail(1, "192.0.2.1");
    }
    EXPECT_EQ(failed_.source_count(), FailedLogins::sources_max);
    EXPECT_EQ(wait("192.0.2.1"), seconds(8)) << "an address with recent failures is kept";
}

TEST_F(FailedLoginsTest, AClockSetBackKeepsNobodyOut) {
    fail(100);
    now_ = now_ - seconds(3600);
    EXPECT_EQ(wait(), Duration{});
    fail(1);
    EXPECT_LE(wait(), seconds(8));
}

}  // namespace
}  // namespace revenant
