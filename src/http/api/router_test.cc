#include "http/api/router.h"

#include <gtest/gtest.h>

namespace revenant::http {
namespace {

Action saying(std::string word) {
    return [word](const Call&) {
        Response response;
        response.body = word;
        return response;
    };
}

struct Routed {
    std::string word;
    std::vector<std::string> parameters;
};

// The response and the parameters of the matching route.
std::optional<Routed> follow(const Router& router, std::string_view method, std::string_view path) {
    const auto target = parse_target(path);
    const auto match = router.find(method, target->segments);
    if (!match) return std::nullopt;
    const Request request;
    const Call call{.request = request};
    return Routed{(*match->action)(call).body, match->parameters};
}

TEST(Router, NamesStandWhereAsterisksStand) {
    Router router;
    router.add("GET", "/queues/*/*", Role::vhost, saying("one"));
    router.add("GET", "/queues/*", Role::vhost, saying("some"));
    router.add("GET", "/queues", Role::management, saying("all"));
    EXPECT_EQ(follow(router, "GET", "/queues")->word, "all");
    EXPECT_EQ(follow(router, "GET", "/queues/%2F")->parameters, std::vector<std::string>{"/"});
    const auto one = follow(router, "GET", "/queues/%2F/a%20b");
    EXPECT_EQ(one->word, "one");
    EXPECT_EQ(one->parameters, (std::vector<std::string>{"/", "a b"}));
}

TEST(Router, AWordBeatsANameWhateverCameFirst) {
    for (const bool word_first : {true, false}) {
        Router router;
        if (word_first) router.add("GET", "/queues/detailed", Role::management, saying("word"));
        router.add("GET", "/queues/*", Role::vhost, saying("name"));
        if (!word_first) router.add("GET", "/queues/detailed", Role::management, saying("word"));
        EXPECT_EQ(follow(router, "GET", "/queues/detailed")->word, "word");
        EXPECT_EQ(follow(router, "GET", "/queues/other")->word, "name");
    }
}

TEST(Router, TellsWhichMethodsAPathKnows) {
    Router router;
    router.add("GET", "/users/*", Role::administrator, saying("get"));
    router.add("PUT", "/users/*", Role::administrator, saying("put"));
    router.add("POST", "/users/bulk-delete", Role::administrator, saying("bulk"));
    const auto missing = router.find("POST", {"users", "u"});
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().allowed, (std::vector<std::string_view>{"GET", "PUT"}));
    const auto bulk = router.find("GET", {"users", "bulk-delete"});
    ASSERT_FALSE(bulk);
    EXPECT_EQ(bulk.error().allowed, std::vector<std::string_view>{"POST"});
    EXPECT_TRUE(router.find("GET", {"nosuch"}).error().allowed.empty());
    EXPECT_TRUE(router.find("GET", {"users", "u", "more"}).error().allowed.empty());
}

TEST(Target, PathAndQueryAreDecoded) {
    const auto target = parse_target("/api/queues/%2F?columns=a,b&name=x+y%26z&flag");
    ASSERT_TRUE(target);
    EXPECT_EQ(target->segments, (std::vector<std::string>{"api", "queues", "/"}));
    EXPECT_EQ(target->query.at("columns"), "a,b");
    EXPECT_EQ(target->query.at("name"), "x y&z");
    EXPECT_EQ(target->query.at("flag"), "");
}

TEST(Target, APlusInAPathIsAPlus) {
    EXPECT_EQ(parse_target("/a+b")->segments, std::vector<std::string>{"a+b"});
}

TEST(Target, ATrailingSlashIsNoPart) {
    EXPECT_EQ(parse_target("/api/queues/")->segments, (std::vector<std::string>{"api", "queues"}));
}

TEST(Target, BrokenEscapesAndBytesAreRefused) {
    for (const char* target : {"/%", "/%2", "/%zz", "/a?b=%", "/%FF", "/a?%C3=1", "*", "", "a/b"}) {
        EXPECT_FALSE(parse_target(target)) << target;
    }
}

TEST(Target, EncodingAndDecodingGiveTheSameBack) {
    std::string every;
    for (int c = 1; c < 128; ++c) every += static_cast<char>(c);
    const std::string encoded = percent_encode(every + "é");
    EXPECT_EQ(encoded.find_first_of("/+ %?&#\n"), encoded.find('%'));
    EXPECT_EQ(percent_decode(encoded, /*plus_is_space=*/true), every + "é");
}

User with_tags(std::vector<std::string> tags) { return {.name = "u", .tags = std::move(tags)}; }

TEST(Roles, FollowTheTags) {  // management 3.1
    EXPECT_FALSE(may_use_management(with_tags({})));
    EXPECT_FALSE(may_use_management(with_tags({"impersonator", "custom"})));
    for (const char* tag : {"management", "policymaker", "monitoring", "administrator"}) {
        EXPECT_TRUE(may_use_management(with_tags({"custom", tag}))) << tag;
    }
    EXPECT_FALSE(is_monitor(with_tags({"management", "policymaker"})));
    EXPECT_TRUE(is_monitor(with_tags({"monitoring"})));
    EXPECT_FALSE(is_policymaker(with_tags({"monitoring"})));
    EXPECT_TRUE(is_policymaker(with_tags({"policymaker"})));
    EXPECT_FALSE(is_administrator(with_tags({"monitoring", "policymaker"})));
    EXPECT_TRUE(is_monitor(with_tags({"administrator"})));
    EXPECT_TRUE(is_policymaker(with_tags({"administrator"})));
}

}  // namespace
}  // namespace revenant::http
