#include "runtime/login_throttle.h"

#include <gtest/gtest.h>

namespace revenant::runtime {
namespace {

TEST(LoginSource, IsTheAddressOrTheNetworkOfIpv6) {
    EXPECT_EQ(login_source("192.0.2.1"), "192.0.2.1");
    EXPECT_EQ(login_source("::ffff:192.0.2.1"), "192.0.2.1");
    EXPECT_EQ(login_source("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
    EXPECT_EQ(login_source("2001:db8:1:2:ffff::1"), "2001:db8:1:2::/64");
    EXPECT_EQ(login_source("fe80::1%eth0"), "fe80::/64");
    EXPECT_EQ(login_source("::1"), "::1");
    EXPECT_EQ(login_source("no address"), "no address");
}

TEST(LoginThrottle, TellsOfAnAddressOnce) {
    std::vector<std::string> told;
    LoginThrottle guard({.failures_per_minute = 3},
                        [&](std::string_view source) { told.emplace_back(source); });
    const Timestamp now{1'000'000'000};
    for (int i = 0; i < 10; ++i) guard.failed("::ffff:192.0.2.1", PeerLocation::remote, now);
    EXPECT_EQ(told, std::vector<std::string>{"192.0.2.1"});
    EXPECT_GT(guard.wait("192.0.2.1", now), Duration{});
    EXPECT_EQ(guard.wait("192.0.2.2", now), Duration{});
}

}  // namespace
}  // namespace revenant::runtime
