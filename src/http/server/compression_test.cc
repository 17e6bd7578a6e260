#include "http/server/compression.h"

#include <gtest/gtest.h>

namespace revenant::http {
namespace {

TEST(Compression, GivesBackWhatWentIn) {
    for (const std::size_t size : {0U, 1U, 299U, 70'000U, 1'000'000U}) {
        std::string text;
        while (text.size() < size) text += "queue" + std::to_string(text.size() * 7919 % 1000);
        const std::string packed = gzip(text);
        ASSERT_GE(packed.size(), 18U);
        EXPECT_EQ(gunzip(packed, text.size()), text) << size;
        EXPECT_EQ(gunzip(packed, text.size() + 1), "") << size;
    }
}

TEST(Compression, RefusesWhatIsBroken) {
    const std::string packed = gzip(std::string(1000, 'x'));
    EXPECT_EQ(gunzip("", 10), "");
    EXPECT_EQ(gunzip(packed.substr(0, packed.size() / 2), 1000), "");
    EXPECT_EQ(gunzip(packed, 999), "");
}

TEST(Compression, IsForThoseWhoAcceptIt) {
    EXPECT_TRUE(accepts_gzip("gzip"));
    EXPECT_TRUE(accepts_gzip("deflate, GZip;q=0.5"));
    EXPECT_TRUE(accepts_gzip("*"));
    EXPECT_FALSE(accepts_gzip(""));
    EXPECT_FALSE(accepts_gzip("gzip;q=0, deflate"));
    EXPECT_FALSE(accepts_gzip("identity, x-gzip"));
    EXPECT_FALSE(accepts_gzip("gzip; q=0.000"));
}

TEST(Compression, LeavesSmallAnswersAlone) {
    Request request;
    request.headers = {{"accept-encoding", "gzip"}};
    Response small;
    small.body = "{}";
    compress(request, small);
    EXPECT_EQ(small.body, "{}");
    EXPECT_TRUE(small.headers.empty());
    Response large;
    large.body = std::string(10'000, 'x');
    compress(request, large);
    EXPECT_LT(large.body.size(), 200U);
    ASSERT_EQ(large.headers.size(), 1U);
    EXPECT_EQ(large.headers[0].value, "gzip");
}

}  // namespace
}  // namespace revenant::http
