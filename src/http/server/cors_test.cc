#include "http/server/cors.h"

#include <gtest/gtest.h>

#include <map>

namespace revenant::http {
namespace {

std::map<std::string, std::string> headers_for(const CorsRules& rules, const std::string& origin,
                                               const std::string& method = "GET") {
    Request request;
    request.method = method;
    if (!origin.empty()) request.headers.push_back({"origin", origin});
    request.headers.push_back({"access-control-request-headers", "authorization"});
    Response response;
    response.headers = {{"allow", "HEAD, GET, OPTIONS"}};
    add_cors_headers(rules, request, response);
    std::map<std::string, std::string> headers;
    for (const Header& header : response.headers) headers[header.name] = header.value;
    headers.erase("allow");
    return headers;
}

TEST(Cors, NobodyIsAllowedUnlessNamed) {  // management 1.8
    EXPECT_TRUE(headers_for({}, "http://a").empty());
    EXPECT_TRUE(headers_for({{"http://b"}, 5}, "http://a").empty());
    EXPECT_TRUE(headers_for({{"*"}, 5}, "").empty());
}

TEST(Cors, AllowedPagesMayReadAnswers) {
    for (const CorsRules& rules : {CorsRules{{"http://b", "http://a"}, 5}, CorsRules{{"*"}, 5}}) {
        const auto headers = headers_for(rules, "http://a");
        EXPECT_EQ(headers.at("access-control-allow-origin"), "http://a");
        EXPECT_FALSE(headers.contains("access-control-max-age"));
    }
}

TEST(Cors, OptionsTellWhatMayBeAsked) {
    const auto headers = headers_for({{"*"}, 5}, "http://a", "OPTIONS");
    EXPECT_EQ(headers.at("access-control-max-age"), "5");
    EXPECT_EQ(headers.at("access-control-allow-methods"), "HEAD, GET, OPTIONS");
    EXPECT_EQ(headers.at("access-control-allow-headers"), "authorization");
}

bool is_refused(std::vector<Header> headers, const std::string& method = "POST",
                const CorsRules& rules = {}) {
    Request request;
    request.method = method;
    request.headers = std::move(headers);
    request.headers.push_back({"host", "broker.example:15672"});
    return is_foreign_wish(rules, request);
}

TEST(ForeignWish, IsThatOfAPageOfAnotherOrigin) {
    for (const char* method : {"POST", "PUT", "DELETE"}) {
        EXPECT_TRUE(is_refused({{"origin", "http://evil.example"}}, method));
        EXPECT_TRUE(is_refused({{"origin", "http://broker.example:8080"}}, method));
        EXPECT_TRUE(is_refused({{"origin", "null"}}, method));
        EXPECT_TRUE(is_refused({{"sec-fetch-site", "cross-site"}}, method));
    }
    EXPECT_TRUE(
        is_refused({{"origin", "http://a.broker.example:15672"}, {"sec-fetch-site", "same-site"}}));
    EXPECT_TRUE(
        is_refused({{"origin", "http://broker.example:15672"}, {"sec-fetch-site", "cross-site"}}));
}

TEST(ForeignWish, IsNotThatOfAProgramOrOfOurOwnPages) {
    EXPECT_FALSE(is_refused({}));
    EXPECT_FALSE(is_refused({{"content-type", "application/x-www-form-urlencoded"}}));
    EXPECT_FALSE(is_refused({{"origin", "http://broker.example:15672"}}));
    EXPECT_FALSE(is_refused({{"origin", "https://Broker.example:15672"}}));
    EXPECT_FALSE(is_refused({{"sec-fetch-site", "none"}}));
}

TEST(ForeignWish, ToLookIsGranted) {
    for (const char* method : {"GET", "HEAD", "OPTIONS"}) {
        EXPECT_FALSE(is_refused(
            {{"origin", "http://evil.example"}, {"sec-fetch-site", "cross-site"}}, method));
    }
}

TEST(ForeignWish, OfAnOriginThatMayAskIsGranted) {
    const CorsRules named{{"http://friend.example"}, 5};
    EXPECT_FALSE(is_refused({{"origin", "http://friend.example"}, {"sec-fetch-site", "cross-site"}},
                            "PUT", named));
    EXPECT_TRUE(is_refused({{"origin", "http://evil.example"}}, "PUT", named));
    EXPECT_FALSE(is_refused({{"origin", "http://evil.example"}}, "PUT", {{"*"}, 5}));
}

TEST(ForeignWish, OfOurOwnPagesPassesAProxyThatNamesAnotherHost) {
    EXPECT_FALSE(
        is_refused({{"origin", "https://shown.example"}, {"sec-fetch-site", "same-origin"}}));
    EXPECT_FALSE(
        is_refused({{"origin", "https://shown.example"}, {"x-forwarded-host", "shown.example"}}));
    EXPECT_FALSE(is_refused(
        {{"origin", "https://shown.example"}, {"x-forwarded-host", "shown.example:443"}}));
}

}  // namespace
}  // namespace revenant::http
