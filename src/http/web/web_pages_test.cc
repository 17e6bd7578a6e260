#include "http/web/web_pages.h"

#include "http/server/compression.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace revenant::http {
namespace {

class EchoBelow final : public Responder {
  public:
    Response respond(const Request& request) override {
        return {200, "text/plain", "api " + request.target, {}};
    }
    std::optional<Response> refuse_early(const Request& request) override {
        return Response{401, "text/plain", "early " + request.target, {}};
    }
};

std::string header(const Response& response, std::string_view name) {
    for (const Header& one : response.headers) {
        if (one.name == name) return one.value;
    }
    return "";
}

class WebPagesTest : public testing::Test {
  protected:
    Response ask(const std::string& target, std::vector<Header> headers = {},
                 const std::string& method = "GET") {
        Request request;
        request.method = method;
        request.target = target;
        request.headers = std::move(headers);
        return pages_.respond(request);
    }

    const std::string page_ = "<!doctype html>" + std::string(500, ' ');
    const std::string packed_ = gzip(page_);
    const std::array<WebAsset, 2> assets_ = {{
        {"index.html", "text/html; charset=utf-8", "\"a1\"", false, packed_, page_.size()},
        {"main-ABCDEFGH.js", "text/javascript; charset=utf-8", "\"b2\"", true, packed_,
         page_.size()},
    }};
    EchoBelow api_;
    WebPages pages_{api_, assets_};
};

TEST_F(WebPagesTest, ServesTheFirstPageAtTheRoot) {
    const Response page = ask("/?x=1");
    EXPECT_EQ(page.status, 200U);
    EXPECT_EQ(page.body, page_);
    EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
    EXPECT_EQ(header(page, "cache-control"), "no-cache");
    EXPECT_EQ(header(page, "etag"), "\"a1\"");
    EXPECT_EQ(header(page, "x-content-type-options"), "nosniff");
    const std::string policy = header(page, "content-security-policy");
    EXPECT_TRUE(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"));
    EXPECT_EQ(policy.find("unsafe"), std::string::npos);
}

TEST_F(WebPagesTest, SendsFilesCompressedToThoseWhoAcceptIt) {
    const Response packed = ask("/main-ABCDEFGH.js", {{"accept-encoding", "gzip, br"}});
    EXPECT_EQ(packed.body, packed_);
    EXPECT_EQ(header(packed, "content-encoding"), "gzip");
    EXPECT_EQ(header(packed, "cache-control"), "public, max-age=31536000, immutable");
    const Response plain = ask("/main-ABCDEFGH.js");
    EXPECT_EQ(plain.body, page_);
    EXPECT_EQ(header(plain, "content-encoding"), "");
}

TEST_F(WebPagesTest, SendsNothingThatTheClientHas) {
    const Response known = ask("/", {{"if-none-match", "W/\"a1\""}});
    EXPECT_EQ(known.status, 304U);
    EXPECT_EQ(known.body, "");
    EXPECT_EQ(ask("/", {{"if-none-match", "\"old\""}}).status, 200U);
}

TEST_F(WebPagesTest, LeavesTheApiToItself) {
    EXPECT_EQ(ask("/api/queues?x").body, "api /api/queues?x");
    EXPECT_EQ(ask("/api").body, "api /api");
    Request request;
    request.method = "POST";
    request.target = "/api/definitions";
    EXPECT_EQ(pages_.refuse_early(request)->body, "early /api/definitions");
}

TEST_F(WebPagesTest, KnowsNothingElse) {
    EXPECT_EQ(ask("/apiary").status, 404U);
    EXPECT_EQ(ask("/../index.html").status, 404U);
    EXPECT_EQ(ask("/main.js").status, 404U);
    EXPECT_EQ(ask("//").status, 404U);
    EXPECT_EQ(ask("*").status, 404U);
    EXPECT_EQ(ask("/", {}, "POST").status, 405U);
    Request large;
    large.method = "POST";
    large.target = "/";
    EXPECT_EQ(pages_.refuse_early(large)->status, 405U);
}

TEST_F(WebPagesTest, SaysThatTheBuildHasNoPages) {
    WebPages none(api_, {});
    Request request;
    request.method = "GET";
    request.target = "/";
    const Response page = none.respond(request);
    EXPECT_EQ(page.status, 200U);
    EXPECT_NE(page.body.find("REVENANT_WEB=OFF"), std::string::npos);
    request.target = "/index.html";
    EXPECT_EQ(none.respond(request).status, 404U);
}

}  // namespace
}  // namespace revenant::http
