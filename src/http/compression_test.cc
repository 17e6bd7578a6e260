#include "http/compression.h"

#include <boost/beast/zlib/inflate_stream.hpp>
#include <gtest/gtest.h>

namespace revenant::http {
namespace {

// Undoes gzip(), without looking at the checksum.
std::string gunzip(std::string_view bytes, std::size_t size_max) {
    namespace zlib = boost::beast::zlib;
    bytes.remove_prefix(10);
    std::string out(size_max, '\0');
    zlib::inflate_stream stream;
    zlib::z_params params;
    params.next_in = bytes.data();
    params.avail_in = bytes.size();
    params.next_out = out.data();
    params.avail_out = out.size();
    boost::system::error_code error;
    stream.write(params, zlib::Flush::sync, error);
    EXPECT_EQ(error, zlib::error::end_of_stream);
    out.resize(params.total_out);
    return out;
}

TEST(Compression, GivesBackWhatWentIn) {
    for (const std::size_t size : {0U, 1U, 299U, 70'000U, 1'000'000U}) {
        std::string text;
        while (text.size() < size) text += "queue" + std::to_string(text.size() * 7919 % 1000);
        const std::string packed = gzip(text);
        ASSERT_GE(packed.size(), 18U);
        EXPECT_EQ(gunzip(packed, text.size() + 1), text) << size;
    }
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
