// Requests that only RabbitMQ's own management pages send.
#include "http/api_test.h"

#include <algorithm>

namespace revenant::http {
namespace {

class RabbitmqPages : public ApiTest {
  protected:
    std::string node() { return std::string(get("/nodes").at(0).at("name").get_string()); }
    Response ask(const std::string& method, const std::string& target) {
        return send(method, target, "", "");
    }
};

TEST_F(RabbitmqPages, FindTheirScriptAndTheVersionBeforeTheLogin) {
    EXPECT_EQ(get("/extensions"), parse_json(R"([{"javascript":"dispatcher.js"}])").value());
    EXPECT_EQ(ask("GET", "/version").body, "\"4.3.0\"");
    EXPECT_EQ(ask("GET", "/extensions").status, 401U);
}

TEST_F(RabbitmqPages, LogOutWithoutAnAnswerToWaitFor) {
    EXPECT_EQ(ask("DELETE", "/login").status, 204U);
    EXPECT_EQ(ask("GET", "/login").status, 405U);
}

// The two definitions forms of RabbitMQ 3 cannot send a header.
TEST_F(RabbitmqPages, LogInByTheQueryForDefinitionsOnly) {
    const std::string login = "?auth=" + base64_encode("guest:guest");
    EXPECT_EQ(ask("GET", "/definitions" + login).status, 200U);
    EXPECT_EQ(ask("GET", "/definitions/%2F" + login).status, 200U);
    EXPECT_EQ(send("POST", "/definitions" + login, R"({"users":[]})", "").status, 204U);
    EXPECT_EQ(ask("GET", "/definitions?auth=" + base64_encode("guest:wrong")).status, 401U);
    EXPECT_EQ(ask("GET", "/definitions?auth=" + base64_encode("monitoring-user:p")).status, 401U);
    EXPECT_EQ(ask("GET", "/definitions").status, 401U);
    EXPECT_EQ(ask("GET", "/queues" + login).status, 401U);
    // Credentials in the header take precedence.
    EXPECT_EQ(send("GET", "/definitions" + login, "", "monitoring-user:p").status, 401U);
    Request upload;
    upload.target = "/api/definitions" + login;
    upload.from_loopback = true;
    EXPECT_FALSE(api_->refuse_early(upload));
    upload.target = "/api/queues" + login;
    EXPECT_TRUE(api_->refuse_early(upload));
}

TEST_F(RabbitmqPages, ABase64PlusSurvivesTheQuery) {
    ASSERT_EQ(put("/users/plus", R"({"password":"~~>~","tags":"administrator"})"), 201U);
    const std::string login = base64_encode("plus:~~>~");
    ASSERT_NE(login.find('+'), std::string::npos) << login;
    EXPECT_EQ(ask("GET", "/definitions?auth=" + login).status, 200U);
}

TEST_F(RabbitmqPages, SeeWhatTheMemoryOfANodeIsUsedFor) {
    const std::string path = "/nodes/" + node();
    EXPECT_FALSE(get(path).get_object().contains("memory"));
    const json::value view = get(path + "?memory=true&binary=true");
    EXPECT_GT(view.at("memory").at("total").at("rss").to_number<std::int64_t>(), 0);
    EXPECT_TRUE(view.at("memory").get_object().contains("queue_procs"));
    EXPECT_TRUE(view.at("binary").get_object().contains("queue_procs"));
    for (const auto& [name, bytes] : view.at("binary").get_object()) {
        EXPECT_TRUE(bytes.is_number()) << std::string_view(name);
    }
    EXPECT_EQ(get(path + "/memory/ets").at("ets_tables_memory"), "no_tables");
    EXPECT_EQ(send("GET", "/nodes/nosuch/memory/ets").status, 404U);
}

// The pages of RabbitMQ 4.3 read the callbacks of every flag.
TEST_F(RabbitmqPages, FindEveryFieldOfAFeatureFlag) {
    const json::value flags = get("/feature-flags");
    ASSERT_FALSE(flags.get_array().empty());
    for (const json::value& flag : flags.get_array()) {
        EXPECT_EQ(flag.at("callbacks").get_array().size(), 0U);
        EXPECT_EQ(flag.at("experiment_level"), "supported");
        EXPECT_EQ(flag.at("require_level") == "none", flag.at("stability") != "required");
    }
}

TEST_F(RabbitmqPages, AreNotToldOfDeprecatedFeaturesThatNobodyUses) {
    EXPECT_EQ(get("/deprecated-features/used").get_array().size(), 0U);
    ASSERT_EQ(put("/queues/%2F/q", R"({"durable":false})"), 201U);
    EXPECT_EQ(get("/deprecated-features/used").at(0).at("name"), "transient_nonexcl_queues");
}

// No sample is taken in this test.
TEST_F(RabbitmqPages, DrawChartsFromTheFirstLook) {
    ASSERT_EQ(put("/queues/%2F/q", "{}"), 201U);
    send("POST", "/exchanges/%2F/amq.default/publish",
         R"({"properties":{},"routing_key":"q","payload":"x","payload_encoding":"string"})");
    const json::value queue =
        get("/queues/%2F/q?lengths_age=60&lengths_incr=5&msg_rates_age=60&msg_rates_incr=5");
    const json::array& samples = queue.at("messages_details").at("samples").get_array();
    ASSERT_EQ(samples.size(), 13U);
    EXPECT_EQ(samples.front().at("sample"), 1);
    EXPECT_EQ(samples.back().at("sample"), 1);
    EXPECT_EQ(queue.at("messages_details").at("rate").to_number<double>(), 0);
    EXPECT_TRUE(queue.at("message_stats").at("publish_details").get_object().contains("samples"));
    const json::value view = get("/nodes/" + node() + "?node_stats_age=60&node_stats_incr=5");
    EXPECT_GT(
        view.at("mem_used_details").at("samples").at(0).at("sample").to_number<std::int64_t>(), 0);
    // A request without a range gets no samples.
    EXPECT_FALSE(get("/queues/%2F/q").at("messages_details").get_object().contains("samples"));
}

TEST_F(RabbitmqPages, AreToldHowLongALoginLastsWhereThatIsSaid) {
    EXPECT_FALSE(get("/whoami").get_object().contains("login_session_timeout"));
    ApiSettings settings;
    settings.login_session_minutes = 7;
    Api other(std::move(settings), broker_);
    Request request;
    request.from_loopback = true;
    request.method = "GET";
    request.target = "/api/whoami";
    request.headers = {{"authorization", "Basic " + base64_encode("guest:guest")}};
    EXPECT_EQ(parse_json(other.respond(request).body)->at("login_session_timeout"), 7);
    request.method = "POST";
    request.target = "/api/login";
    request.body = "username=guest&password=guest";
    EXPECT_EQ(parse_json(other.respond(request).body)->at("user").at("login_session_timeout"), 7);
}

}  // namespace
}  // namespace revenant::http
