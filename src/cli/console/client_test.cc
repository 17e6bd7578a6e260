#include "cli/console/client.h"

#include <gtest/gtest.h>

namespace revenant::cli {
namespace {

TEST(Client, TakesUrlsOfHttpAndHttpsOnly) {
    for (const char* url : {"http://127.0.0.1:15672", "http://localhost", "http://[::1]:1/",
                            "http://host/prefix/", "https://host", "https://[::1]:1/prefix"}) {
        EXPECT_TRUE(Client::make({.url = url})) << url;
    }
    for (const char* url : {"", "127.0.0.1:15672", "ftp://host", "https://", "http://", "http://:1",
                            "http://host:"}) {
        EXPECT_FALSE(Client::make({.url = url})) << url;
    }
}

TEST(Client, ANodeThatIsNotThereIsAnErrorInWords) {
    // No process listens on the discard port.
    const auto client = Client::make({.url = "http://127.0.0.1:9", .timeout_seconds = 5});
    const auto reply = client->send("GET", "/whoami");
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().reason, NoResponse::Reason::unreachable);
    EXPECT_EQ(reply.error().text, "Connection refused");
}

TEST(Client, NamesAreEscapedForPaths) { EXPECT_EQ(escape("/a b~é"), "%2Fa%20b~%C3%A9"); }

TEST(Reply, TellsTheReasonOfAnError) {
    EXPECT_EQ((Reply{400, R"({"error":"bad_request","reason":"not_json"})"}.reason()), "not_json");
    EXPECT_EQ((Reply{500, ""}.reason()), "HTTP status 500");
}

}  // namespace
}  // namespace revenant::cli
