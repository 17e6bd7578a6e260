#include "http/api_test.h"
#include "http/metrics/metrics.h"

namespace revenant::http {
namespace {

class ApiPoliciesTest : public ApiTest {
  protected:
    std::string put_refused(const std::string& body, const std::string& kind = "policies") {
        return refusal(send("PUT", "/" + kind + "/%2F/p", body));
    }
    // The error text inside RabbitMQ's frame.
    std::string fault(const std::string& body, const std::string& kind = "policies") {
        const std::string text = put_refused(body, kind);
        const std::string head = "400 Validation failed\n\n";
        EXPECT_TRUE(text.starts_with(head) && text.ends_with('\n')) << text;
        return text.substr(head.size(), text.size() - head.size() - 1);
    }
    json::value policy_of(const std::string& queue) {
        return get("/queues/%2F/" + queue +
                   "?columns=policy,operator_policy,effective_policy_definition");
    }
};

TEST_F(ApiPoliciesTest, ComeAndGo) {  // management 4.11
    for (const std::string kind : {"policies", "operator-policies"}) {
        const std::string one = "/" + kind + "/%2F/p";
        EXPECT_EQ(put(one, R"({"pattern":"^a","definition":{"max-length":5}})"), 201U);
        EXPECT_EQ(get(one), (json::value{{"vhost", "/"},
                                         {"name", "p"},
                                         {"pattern", "^a"},
                                         {"apply-to", "all"},
                                         {"definition", {{"max-length", 5}}},
                                         {"priority", 0}}));
        EXPECT_EQ(
            put(one,
                R"({"pattern":"b","definition":{"expires":5},"apply-to":"streams","priority":-7})"),
            204U);
        EXPECT_EQ(get(one).at("priority"), json::value(-7));
        EXPECT_EQ(get(one).at("apply-to"), json::value("streams"));
        EXPECT_EQ(get("/" + kind).get_array().size(), 1U);
        EXPECT_EQ(get("/" + kind + "/%2F").get_array().size(), 1U);
        EXPECT_EQ(remove(one), 204U);
        EXPECT_EQ(remove(one), 404U);
        EXPECT_EQ(send("GET", one).status, 404U);
    }
}

TEST_F(ApiPoliciesTest, AreListedWithTheWeakestFirst) {
    for (const char* priority : {"3", "-1", "0"}) {
        ASSERT_EQ(put("/policies/%2F/p" + std::string(priority),
                      R"({"pattern":"","definition":{"expires":5},"priority":)" +
                          std::string(priority) + "}"),
                  201U);
    }
    EXPECT_EQ(get("/policies?columns=name"),
              (json::value{{{"name", "p-1"}}, {{"name", "p0"}}, {{"name", "p3"}}}));
}

TEST_F(ApiPoliciesTest, MistakesAreNamed) {  // management 4.12, 1.5
    EXPECT_EQ(put_refused("{}"), "400 [{key_missing,pattern},{key_missing,definition}]");
    EXPECT_EQ(put_refused(R"({"definition":{}})"), "400 [{key_missing,pattern}]");
    EXPECT_EQ(fault(R"({"pattern":"","definition":{}})"), "no policy provided");
    EXPECT_EQ(fault(R"({"pattern":"","definition":"x"})"),
              R"(definition must be a dictionary: <<"x">>)");
    EXPECT_EQ(fault(R"({"pattern":"","definition":{"foo":1}})"),
              R"([{<<"foo">>,1}] are not recognised policy settings)");
    EXPECT_EQ(fault(R"({"pattern":"","definition":{"message-ttl":-1}})"),
              "-1 is not a valid message TTL");
    EXPECT_EQ(fault(R"({"pattern":5,"definition":{"expires":5}})"),
              "pattern should be a binary but was 5");
    EXPECT_TRUE(fault(R"({"pattern":"(","definition":{"expires":5}})")
                    .starts_with("pattern should be regular expression but is invalid: "));
    EXPECT_EQ(fault(R"({"pattern":"","definition":{"expires":5},"priority":"x"})"),
              R"(priority should be a number, actually was <<"x">>)");
    EXPECT_TRUE(fault(R"({"pattern":"","definition":{"expires":5},"apply-to":"x"})")
                    .starts_with("apply-to 'x' unrecognised"));
    EXPECT_FALSE(
        fault(R"({"pattern":"","definition":{"dead-letter-exchange":""}})", "operator-policies")
            .empty());
    EXPECT_EQ(get("/policies").get_array().size() + get("/operator-policies").get_array().size(),
              0U);
}

TEST_F(ApiPoliciesTest, AreMadeByPolicymakersInTheirVhosts) {  // management 3.2
    const std::string body = R"({"pattern":"","definition":{"expires":5}})";
    const std::string one = "/policies/%2F/p";
    const auto puts = [&](const std::string& path, const std::string& user) {
        return refusal(send("PUT", path, body, user + ":p"));
    };
    const std::string object = "401 User not authorised to access object";
    EXPECT_EQ(puts(one, "policymaker-user"), object);
    for (const char* user : {"policymaker-user", "management-user"}) {
        ASSERT_EQ(put("/permissions/%2F/" + std::string(user),
                      R"({"configure":"","write":"","read":""})"),
                  201U);
    }
    EXPECT_EQ(puts(one, "policymaker-user"), "201");
    EXPECT_EQ(puts(one, "management-user"), object);
    EXPECT_EQ(refusal(send("GET", one, "", "management-user:p")), object);
    EXPECT_EQ(get(one, "policymaker-user:p").at("name"), json::value("p"));
    EXPECT_EQ(puts(one, "monitoring-user"), object);
    EXPECT_EQ(puts("/operator-policies/%2F/p", "policymaker-user"), "401 Not administrator user");
    EXPECT_EQ(puts("/policies/nosuch/p", "management-user"), object);
    EXPECT_EQ(puts("/policies/nosuch/p", "policymaker-user"), "404 vhost_not_found");
    EXPECT_EQ(get("/policies/%2F", "management-user:p").get_array().size(), 1U);
    EXPECT_EQ(send("DELETE", one, "", "policymaker-user:p").status, 204U);
}

TEST_F(ApiPoliciesTest, AreToldByTheirQueues) {  // DL-200, management C.6
    ASSERT_EQ(put("/queues/%2F/q", R"({"durable":true})"), 201U);
    ASSERT_EQ(put("/queues/%2F/qq", R"({"durable":true,"arguments":{"x-queue-type":"quorum"}})"),
              201U);
    const json::value none{{"policy", nullptr},
                           {"operator_policy", nullptr},
                           {"effective_policy_definition", json::object{}}};
    EXPECT_EQ(policy_of("q"), none);
    ASSERT_EQ(put("/policies/%2F/p", R"({"pattern":"^q","apply-to":"quorum_queues","definition":
                                         {"delivery-limit":7,"dead-letter-exchange":"x"}})"),
              201U);
    ASSERT_EQ(
        put("/operator-policies/%2F/o", R"({"pattern":"^qq$","definition":{"delivery-limit":5}})"),
        201U);
    EXPECT_EQ(policy_of("q"), none);
    EXPECT_EQ(policy_of("qq"),
              (json::value{{"policy", "p"},
                           {"operator_policy", "o"},
                           {"effective_policy_definition",
                            {{"dead-letter-exchange", "x"}, {"delivery-limit", 5}}}}));
    EXPECT_EQ(get("/queues/%2F/qq").at("delivery_limit"), json::value(5));
    EXPECT_EQ(get("/queues/%2F/qq").at("type"), json::value("quorum"));
    EXPECT_EQ(get("/queues/%2F/qq").at("members").get_array().size(), 1U);
    EXPECT_EQ(get("/queues/%2F/q").at("type"), json::value("classic"));
}

TEST_F(ApiPoliciesTest, AreToldByTheirExchanges) {
    EXPECT_TRUE(get("/exchanges/%2F/amq.topic").at("policy").is_null());
    ASSERT_EQ(put("/policies/%2F/p",
                  R"({"pattern":"topic","definition":{"alternate-exchange":"amq.fanout"}})"),
              201U);
    EXPECT_EQ(get("/exchanges/%2F/amq.topic").at("policy"), json::value("p"));
    EXPECT_TRUE(get("/exchanges/%2F/amq.direct").at("policy").is_null());
}

TEST_F(ApiPoliciesTest, MetricsHaveTheDeathsThatCanHappen) {  // DL-209
    Metrics metrics(api_->context());
    Request request;
    request.method = "GET";
    request.target = "/metrics";
    const std::string page = metrics.respond(request).body;
    const auto has = [&](const std::string& reason, const std::string& type,
                         const std::string& strategy) {
        return page.find("\nrabbitmq_global_messages_dead_lettered_" + reason +
                         "_total{queue_type=\"rabbit_" + type + "_queue\",dead_letter_strategy=\"" +
                         strategy + "\"} 0\n") != std::string::npos;
    };
    for (const char* strategy : {"disabled", "at_most_once"}) {
        for (const char* reason : {"maxlen", "expired", "rejected"}) {
            EXPECT_TRUE(has(reason, "classic", strategy)) << reason;
            EXPECT_TRUE(has(reason, "quorum", strategy)) << reason;
        }
        EXPECT_FALSE(has("delivery_limit", "classic", strategy));
        EXPECT_TRUE(has("delivery_limit", "quorum", strategy));
    }
    EXPECT_TRUE(has("confirmed", "quorum", "at_least_once"));
    EXPECT_TRUE(has("expired", "quorum", "at_least_once"));
    EXPECT_FALSE(has("maxlen", "quorum", "at_least_once"));
    EXPECT_FALSE(has("rejected", "classic", "at_least_once"));
}

}  // namespace
}  // namespace revenant::http
