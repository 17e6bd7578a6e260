#include "node/config/config_value.h"

#include <gtest/gtest.h>

namespace revenant::node {
namespace {

TEST(ConfigValue, SizesHaveRabbitmqsUnits) {
    const std::pair<const char*, std::uint64_t> sizes[] = {
        {"1000", 1000},         {"1k", 1024},         {"1K", 1024},
        {"1kB", 1000},          {"1kiB", 1024},       {"1KiB", 1024},
        {"50MB", 50'000'000},   {"1M", 1 << 20},      {"1MiB", 1 << 20},
        {"2GB", 2'000'000'000}, {"1gib", 1ULL << 30}, {"1TB", 1'000'000'000'000}};
    for (const auto& [text, bytes] : sizes) {
        const auto parsed = parse_bytes(text);
        ASSERT_TRUE(parsed) << text;
        EXPECT_EQ(*parsed, bytes) << text;
    }
    for (const char* text :
         {"", "MB", "-1", "1.5GB", "1 GB", "1XB", "1MBs", "99999999999999999TB"}) {
        EXPECT_FALSE(parse_bytes(text)) << text;
    }
    EXPECT_EQ(parse_bytes("x").error(),
              "'x' is not a size: a number of bytes, or a number with a unit such as 50MB or "
              "2GiB, at most 9007199254740992 bytes");
    EXPECT_EQ(*parse_bytes("8192TiB"), 1ULL << 53);
    EXPECT_FALSE(parse_bytes("9007199254740993"));
    EXPECT_FALSE(parse_bytes("8193TiB"));
}

TEST(ConfigValue, EndpointsAreAPortOrAnAddressAndAPort) {
    const auto reach = Endpoint::BindScope::all_interfaces;
    EXPECT_EQ(*parse_endpoint("5672", reach), (Endpoint{"", 5672, reach}));
    EXPECT_EQ(*parse_endpoint("127.0.0.1:1", reach), (Endpoint{"127.0.0.1", 1, reach}));
    EXPECT_EQ(*parse_endpoint("[::1]:2", reach), (Endpoint{"::1", 2, reach}));
    EXPECT_EQ(*parse_endpoint(":::3", reach), (Endpoint{"::", 3, reach}));
    for (const char* text :
         {"", "x", "65536", "localhost:5672", "127.0.0.1:", "1.2.3:4", "[::1]"}) {
        EXPECT_FALSE(parse_endpoint(text, reach)) << text;
    }
}

TEST(ConfigValue, OthersAreTakenExactly) {
    EXPECT_TRUE(*parse_flag("true"));
    EXPECT_FALSE(parse_flag("yes"));
    EXPECT_EQ(*parse_limit("infinity", 7), std::nullopt);
    EXPECT_EQ(**parse_limit("7", 7), 7U);
    EXPECT_FALSE(parse_limit("8", 7));
    EXPECT_FALSE(parse_limit("-1", 7));
    EXPECT_DOUBLE_EQ(*parse_share("0.4", 1), 0.4);
    EXPECT_FALSE(parse_share("1.4", 1));
    EXPECT_FALSE(parse_share("nan", 1));
    EXPECT_EQ(*parse_log_level("warning"), LogLevel::warning);
    EXPECT_FALSE(parse_log_level("loud"));
}

}  // namespace
}  // namespace revenant::node
