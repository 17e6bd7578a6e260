#include "http/cors.h"

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

}  // namespace
}  // namespace revenant::http
