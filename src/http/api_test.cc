#include "http/api_test.h"

#include "http/metrics/metrics.h"

#include <algorithm>

namespace revenant::http {
namespace {

std::string challenge(const Response& response) {
    for (const Header& header : response.headers) {
        if (header.name == "www-authenticate") return header.value;
    }
    return "";
}

TEST_F(ApiTest, CredentialsAreWantedAndChecked) {  // management 1.2
    const Response without = send("GET", "/whoami", "", "");
    EXPECT_EQ(without.status, 401U);
    EXPECT_EQ(without.body, "");
    EXPECT_EQ(challenge(without), R"(Basic realm="RabbitMQ Management")");
    for (const char* wrong : {"guest:wrong", "guest:", "nobody:guest", ":"}) {
        const Response response = send("GET", "/whoami", "", wrong);
        EXPECT_EQ(response.body, R"({"error":"not_authorized","reason":"Not_Authorized"})")
            << wrong;
        EXPECT_EQ(response.status, 401U);
        EXPECT_EQ(challenge(response), "");
    }
    EXPECT_EQ(send("GET", "/whoami", "", "no colon").status, 400U);
    EXPECT_EQ(refusal(send("GET", "/whoami", "", "none-user:p")), "401 Not management user");
    from_loopback_ = false;
    EXPECT_EQ(refusal(send("GET", "/whoami")), "401 User can only log in via localhost");
    EXPECT_EQ(send("GET", "/whoami", "", "management-user:p").status, 200U);
}

TEST_F(ApiTest, LargeBodiesAreForThoseWhoLogIn) {
    Request request;
    EXPECT_EQ(api_->refuse_early(request)->status, 401U);
    request.from_loopback = true;
    request.headers = {{"authorization", "Basic " + base64_encode("guest:guest")}};
    EXPECT_FALSE(api_->refuse_early(request));
}

TEST_F(ApiTest, WhatCannotBeUndoneIsNotedWithItsDoer) {
    ASSERT_EQ(put("/queues/%2f/q", "{}"), 201U);
    ASSERT_EQ(put("/exchanges/%2f/e", R"({"type":"fanout"})"), 201U);
    EXPECT_TRUE(deeds_.empty());
    EXPECT_EQ(send("POST", "/queues/%2f/q/get?secret",
                   R"({"count":1,"ackmode":"ack_requeue_true","encoding":"auto"})")
                  .status,
              200U);
    EXPECT_EQ(remove("/queues/%2f/q/contents"), 204U);
    EXPECT_EQ(remove("/queues/%2f/q?if-empty=true"), 204U);
    EXPECT_EQ(remove("/queues/%2f/q"), 404U);
    EXPECT_EQ(remove("/exchanges/%2f/e"), 204U);
    EXPECT_EQ(send("POST", "/users/bulk-delete", R"({"users":["none-user"]})").status, 204U);
    EXPECT_EQ(send("DELETE", "/users/guest", "", "monitoring-user:p").status, 401U);
    EXPECT_EQ(deeds_, (std::vector<std::string>{
                          "messages read over HTTP: /api/queues/%2f/q/get guest",
                          "purged over HTTP: /api/queues/%2f/q/contents guest",
                          "deleted over HTTP: /api/queues/%2f/q guest",
                          "deleted over HTTP: /api/exchanges/%2f/e guest",
                          "deleted over HTTP: /api/users/bulk-delete guest",
                      }));
}

TEST_F(ApiTest, APageOfAnotherOriginChangesNothing) {
    Request request;
    request.method = "PUT";
    request.target = "/api/queues/%2f/q";
    request.from_loopback = true;
    request.headers = {{"authorization", "Basic " + base64_encode("guest:guest")},
                       {"host", "localhost:15672"},
                       {"origin", "http://evil.example"}};
    EXPECT_EQ(api_->respond(request).status, 403U);
    EXPECT_EQ(api_->refuse_early(request)->status, 403U);
    EXPECT_EQ(send("GET", "/queues/%2f/q").status, 404U);
    request.headers.back().value = "http://localhost:15672";
    EXPECT_EQ(api_->respond(request).status, 201U);
}

TEST_F(ApiTest, EachRoleReachesWhatItMay) {  // management 3.2
    struct Row {
        const char* path;
        const char* management;
        const char* policymaker;
        const char* monitoring;
    };
    const char* admin = "401 Not administrator user";
    const char* monitor = "401 Not monitor user";
    const char* vhost = "401 User not authorised to access virtual host";
    for (const auto& [path, management, policymaker, monitoring] : std::vector<Row>{
             {"/overview", "200", "200", "200"},
             {"/vhosts", "200", "200", "200"},
             {"/connections", "200", "200", "200"},
             {"/health/checks/alarms", "200", "200", "200"},
             {"/nodes", monitor, monitor, "200"},
             {"/users", admin, admin, admin},
             {"/users/guest", admin, admin, admin},
             {"/permissions", admin, admin, admin},
             {"/topic-permissions", admin, admin, admin},
             {"/vhosts/%2F", admin, admin, admin},
             {"/queues/%2F", vhost, vhost, "200"},
             {"/exchanges/%2F", vhost, vhost, "200"},
             {"/bindings/%2F", vhost, vhost, "200"},
             {"/consumers/%2F", vhost, vhost, "200"},
             {"/policies", "200", "200", "200"},
             {"/policies/%2F", vhost, vhost, "200"},
             {"/operator-policies/%2F", vhost, vhost, "200"},
         }) {
        const auto asked = [&, path = path](const std::string& user) {
            const Response response = send("GET", path, "", user + "-user:p");
            return response.status == 200 ? "200" : refusal(response);
        };
        EXPECT_EQ(asked("management"), management) << path;
        EXPECT_EQ(asked("policymaker"), policymaker) << path;
        EXPECT_EQ(asked("monitoring"), monitoring) << path;
        EXPECT_EQ(asked("none"), "401 Not management user") << path;
        EXPECT_EQ(send("GET", path).status, 200U) << path;
    }
}

TEST_F(ApiTest, MonitorsLookButDoNotTouch) {
    EXPECT_EQ(refusal(send("PUT", "/queues/%2F/q", "{}", "monitoring-user:p")),
              "401 User not authorised to access virtual host");
    EXPECT_EQ(refusal(send("PUT", "/vhosts/v", "", "monitoring-user:p")),
              "401 Not administrator user");
}

TEST_F(ApiTest, DeclaringFollowsThePermissionsOfAmqp) {  // management 1.7
    ASSERT_EQ(put("/permissions/%2F/management-user",
                  R"({"configure":"^mine","write":"^mine","read":"^mine"})"),
              201U);
    const std::string user = "management-user:p";
    EXPECT_EQ(put("/queues/%2F/mine", "{}", user), 201U);
    EXPECT_EQ(refusal(send("PUT", "/queues/%2F/other", "{}", user)), "401 Access refused.");
    EXPECT_EQ(refusal(send("DELETE", "/queues/%2F/mine/contents", "", user)), "204");
    ASSERT_EQ(put("/queues/%2F/other", "{}"), 201U);
    EXPECT_EQ(refusal(send("DELETE", "/queues/%2F/other", "", user)), "401 Access refused.");
    EXPECT_EQ(refusal(send("DELETE", "/queues/%2F/other/contents", "", user)),
              "401 Access refused.");
    EXPECT_EQ(refusal(send("PUT", "/exchanges/%2F/other", "{}", user)), "401 Access refused.");
    EXPECT_EQ(put("/exchanges/%2F/mine", "{}", user), 201U);
    EXPECT_EQ(refusal(send("POST", "/bindings/%2F/e/amq.topic/q/mine", "{}", user)),
              "401 Access refused.");
    EXPECT_EQ(send("POST", "/bindings/%2F/e/mine/q/mine", "{}", user).status, 201U);
    EXPECT_EQ(refusal(send("POST", "/bindings/%2F/e/mine/q/other", "{}", user)),
              "401 Access refused.");
    // DL-33
    EXPECT_EQ(refusal(send("PUT", "/queues/%2F/mine2",
                           R"({"arguments":{"x-dead-letter-exchange":"amq.topic"}})", user)),
              "401 Access refused.");
    EXPECT_EQ(put("/queues/%2F/mine2", R"({"arguments":{"x-dead-letter-exchange":"mine"}})", user),
              201U);
    EXPECT_EQ(refusal(send("PUT", "/exchanges/%2F/mine2",
                           R"({"arguments":{"alternate-exchange":"amq.topic"}})", user)),
              "401 Access refused.");
}

TEST_F(ApiTest, TopicPermissionsHoldForBindingToo) {  // amqp091 15.4
    ASSERT_EQ(put("/queues/%2F/q", "{}"), 201U);
    ASSERT_EQ(put("/topic-permissions/%2F/guest",
                  R"({"exchange":"amq.topic","write":".*","read":"^ok"})"),
              201U);
    const auto bind = [&](const char* key) {
        return send("POST", "/bindings/%2F/e/amq.topic/q/q",
                    R"({"routing_key":")" + std::string(key) + "\"}")
            .status;
    };
    EXPECT_EQ(bind("ok.1"), 201U);
    EXPECT_EQ(bind("other"), 401U);
}

TEST_F(ApiTest, AQueueIsDeclaredComparedPurgedAndDeleted) {  // management C.2
    const std::string durable = R"({"durable":true,"arguments":{"x-max-length":5}})";
    EXPECT_EQ(put("/queues/%2F/q", durable), 201U);
    EXPECT_EQ(put("/queues/%2F/q", durable), 204U);
    EXPECT_EQ(refusal(send("PUT", "/queues/%2F/q", R"({"arguments":{"x-max-length":5}})")),
              "400 inequivalent arg 'durable' for queue 'q' in vhost '/': received 'false' but "
              "current is 'true'");
    const json::value queue = get("/queues/%2F/q");
    EXPECT_EQ(queue.at("name"), json::value("q"));
    EXPECT_EQ(queue.at("arguments").at("x-max-length"), json::value(5));
    EXPECT_EQ(queue.at("durable"), json::value(true));
    EXPECT_EQ(get("/queues/%2F/q/bindings").get_array().size(), 1U);
    EXPECT_EQ(queue.at("messages_parked"), json::value(0));
    for (const char* stats : {"", "?disable_stats=true"}) {
        EXPECT_EQ(get(std::string("/overview") + stats).at("queue_totals").at("messages_parked"),
                  json::value(0));
    }
    EXPECT_EQ(get("/queues/%2F/q/parked"), json::value(json::array{}));
    EXPECT_EQ(remove("/queues/%2F/q/parked"), 204U);
    EXPECT_EQ(remove("/queues/%2F/q/contents"), 204U);
    EXPECT_EQ(remove("/queues/%2F/q?if-empty=true&if-unused=true"), 204U);
    EXPECT_EQ(remove("/queues/%2F/q"), 404U);
    EXPECT_EQ(remove("/queues/%2F/q/contents"), 404U);
    EXPECT_EQ(remove("/queues/%2F/q/parked"), 404U);
    EXPECT_EQ(send("GET", "/queues/%2F/q/parked").status, 404U);
    EXPECT_EQ(get("/health/checks/parked-messages").at("status"), json::value("ok"));
    EXPECT_EQ(send("GET", "/queues/%2F/q").status, 404U);
}

TEST_F(ApiTest, ThePassingConnectionLeavesNothingBehind) {
    ASSERT_EQ(put("/queues/%2F/q", "{}"), 201U);
    ASSERT_EQ(put("/queues/%2F/q", R"({"durable":true})"), 400U);
    const engine::Totals totals = api_->context().totals();
    EXPECT_EQ(totals.connections, 0U);
    EXPECT_EQ(totals.channels, 0U);
    EXPECT_EQ(totals.queues, 1U);
}

TEST_F(ApiTest, TheLimitOfQueuesHolds) {  // amqp091 8.19
    ASSERT_EQ(put("/vhost-limits/%2F/max-queues", R"({"value":1})"), 204U);
    EXPECT_EQ(put("/queues/%2F/a", "{}"), 201U);
    EXPECT_EQ(put("/queues/%2F/a", "{}"), 204U);
    EXPECT_NE(put("/queues/%2F/b", "{}"), 201U);
    ASSERT_EQ(remove("/vhost-limits/%2F/max-queues"), 204U);
    EXPECT_EQ(put("/queues/%2F/b", "{}"), 201U);
}

TEST_F(ApiTest, ABindingIsFoundUnderItsLocation) {  // management C.3
    ASSERT_EQ(put("/queues/%2F/q", "{}"), 201U);
    for (const char* body :
         {R"({"routing_key":"a.#"})", R"({"routing_key":"b c/~","arguments":{"k":1}})",
          R"({"routing_key":"b c/~","arguments":{"k":2}})", "{}"}) {
        const std::string pair = "/bindings/%2F/e/amq.topic/q/";
        const Response posted = send("POST", pair + "q", body);
        ASSERT_EQ(posted.status, 201U) << posted.body;
        const std::string location = pair + posted.headers.at(0).value;
        EXPECT_EQ(get(location).at("destination"), json::value("q")) << location;
    }
    EXPECT_EQ(get("/bindings/%2F/e/amq.topic/q/q").get_array().size(), 4U);
    EXPECT_EQ(remove("/bindings/%2F/e/amq.topic/q/q/~"), 204U);
    EXPECT_EQ(remove("/bindings/%2F/e/amq.topic/q/q/~"), 404U);
    EXPECT_EQ(remove("/bindings/%2F/e/amq.topic/q/q/a.%2523"), 204U);
    EXPECT_EQ(get("/exchanges/%2F/amq.topic/bindings/source").get_array().size(), 2U);
    EXPECT_EQ(refusal(send("POST", "/bindings/%2F/e/amq.topic/q/nosuch", "{}")),
              "404 no queue 'nosuch' in vhost '/'");
}

TEST_F(ApiTest, AVhostComesWithItsMakersRightsAndGoesWithItsConnections) {  // management C.1
    EXPECT_EQ(put("/vhosts/v", R"({"description":"d","tags":"a,b"})"), 201U);
    EXPECT_EQ(put("/vhosts/v", ""), 204U);
    EXPECT_EQ(get("/vhosts/v").at("tags"), (json::value{"a", "b"}));
    EXPECT_EQ(get("/permissions/v/guest").at("configure"), json::value(".*"));
    EXPECT_EQ(put("/queues/v/q", "{}"), 201U);
    connections_ = {{.name = "in v", .user = "guest", .vhost = "v"},
                    {.name = "elsewhere", .user = "guest", .vhost = "/"}};
    EXPECT_EQ(remove("/vhosts/v"), 204U);
    EXPECT_EQ(closed_, std::set<std::string>{"in v: vhost 'v' is deleted"});
    EXPECT_EQ(remove("/vhosts/v"), 404U);
    EXPECT_EQ(put("/queues/v/q", "{}"), 404U);
}

TEST_F(ApiTest, AVhostNamesTheRabbitMqItFollows) {  // dead-lettering 24
    EXPECT_EQ(get("/vhosts/%2F").at("compat"), json::value("4.3"));
    ASSERT_EQ(put("/vhosts/v", R"({"compat":"3.12"})"), 201U);
    EXPECT_EQ(get("/vhosts/v").at("compat"), json::value("3.12"));
    EXPECT_EQ(put("/vhosts/v", R"({"compat":"3.11"})"), 400U);
    EXPECT_EQ(get("/vhosts/v").at("compat"), json::value("3.12"));
    EXPECT_EQ(put("/vhosts/v", R"({"compat":"4.3","default_queue_type":"quorum"})"), 204U);
    EXPECT_EQ(get("/vhosts/v").at("compat"), json::value("4.3"));
    EXPECT_EQ(get("/vhosts/v").at("default_queue_type"), json::value("quorum"));
}

TEST_F(ApiTest, AProtectedVhostStays) {
    ASSERT_EQ(put("/vhosts/v"), 201U);
    ASSERT_EQ(send("POST", "/vhosts/v/deletion/protection").status, 204U);
    EXPECT_EQ(remove("/vhosts/v"), 412U);
    ASSERT_EQ(remove("/vhosts/v/deletion/protection"), 204U);
    EXPECT_EQ(remove("/vhosts/v"), 204U);
}

TEST_F(ApiTest, NoCounterGoesBackWhenAVhostGoes) {
    ASSERT_EQ(put("/vhosts/v"), 201U);
    ASSERT_EQ(put("/queues/v/q", "{}"), 201U);
    const engine::Totals before = api_->context().totals();
    ASSERT_EQ(remove("/vhosts/v"), 204U);
    const engine::Totals after = api_->context().totals();
    EXPECT_EQ(after.traffic.queues_created, before.traffic.queues_created);
    EXPECT_EQ(after.queues, before.queues - 1);
}

TEST_F(ApiTest, UsersComeWithPasswordOrHash) {  // management 4.9, C.8
    EXPECT_EQ(refusal(send("PUT", "/users/u", "{}")), "400 tags_not_present");
    EXPECT_EQ(refusal(send("PUT", "/users/u", R"({"tags":"","password":"p","password_hash":"h"})")),
              "400 both_password_and_password_hash_are_provided");
    EXPECT_EQ(put("/users/u", R"({"password":"p","tags":"management, custom"})"), 201U);
    EXPECT_EQ(get("/users/u").at("tags"), (json::value{"management", "custom"}));
    EXPECT_EQ(get("/whoami", "u:p").at("name"), json::value("u"));
    const std::string hash(get("/users/u").at("password_hash").get_string());
    EXPECT_EQ(put("/users/u2", R"({"password_hash":")" + hash + R"(","tags":["management"]})"),
              201U);
    EXPECT_EQ(get("/whoami", "u2:p").at("name"), json::value("u2"));
    EXPECT_EQ(put("/users/u", R"({"tags":"management"})"), 204U);
    EXPECT_EQ(send("GET", "/whoami", "", "u:p").status, 401U);
    EXPECT_EQ(put("/users/u", R"({"password":"","tags":"management"})"), 204U);
    EXPECT_EQ(send("GET", "/whoami", "", "u:").status, 401U);
    connections_ = {{.name = "c", .user = "u", .vhost = "/"}};
    EXPECT_EQ(remove("/users/u"), 204U);
    EXPECT_EQ(closed_, std::set<std::string>{"c: user 'u' was deleted"});
    EXPECT_EQ(remove("/users/u"), 404U);
    EXPECT_EQ(send("POST", "/users/bulk-delete", R"({"users":["u2"]})").status, 204U);
    EXPECT_EQ(send("GET", "/users/u2").status, 404U);
}

TEST_F(ApiTest, PermissionsAreRowsWithThreePatterns) {  // management 4.10
    const std::string row = R"({"configure":"a","write":"b","read":"c"})";
    EXPECT_EQ(put("/permissions/%2F/none-user", row), 201U);
    EXPECT_EQ(put("/permissions/%2F/none-user", row), 204U);
    EXPECT_EQ(get("/permissions/%2F/none-user").at("write"), json::value("b"));
    EXPECT_EQ(refusal(send("PUT", "/permissions/%2F/nobody", row)), "400 vhost_or_user_not_found");
    EXPECT_EQ(refusal(send("PUT", "/permissions/nowhere/guest", row)),
              "400 vhost_or_user_not_found");
    EXPECT_EQ(refusal(send("PUT", "/permissions/%2F/none-user", R"({"write":""})")),
              "400 [{key_missing,configure},{key_missing,read}]");
    EXPECT_EQ(put("/permissions/%2F/none-user", R"({"configure":"(","write":"","read":""})"), 400U);
    EXPECT_EQ(remove("/permissions/%2F/none-user"), 204U);
    EXPECT_EQ(remove("/permissions/%2F/none-user"), 404U);
}

TEST_F(ApiTest, EverybodySeesAndClosesHisOwnConnections) {  // management 4.24
    connections_ = {{.name = "127.0.0.1:1 -> 127.0.0.1:2", .user = "guest", .vhost = "/"},
                    {.name = "mine", .user = "management-user", .vhost = "/"}};
    EXPECT_EQ(get("/connections").get_array().size(), 2U);
    EXPECT_EQ(get("/connections", "monitoring-user:p").get_array().size(), 2U);
    EXPECT_EQ(get("/connections", "management-user:p").get_array().size(), 1U);
    const std::string other = "/connections/127.0.0.1%3A1%20-%3E%20127.0.0.1%3A2";
    const json::value connection = get(other);
    EXPECT_EQ(connection.at("peer_port"), json::value(1));
    EXPECT_EQ(connection.at("port"), json::value(2));
    EXPECT_EQ(connection.at("peer_host"), json::value("127.0.0.1"));
    EXPECT_EQ(refusal(send("GET", other, "", "management-user:p")),
              "401 User not authorised to access object");
    EXPECT_EQ(refusal(send("DELETE", other, "", "monitoring-user:p")),
              "401 User not authorised to access object");
    EXPECT_EQ(send("DELETE", "/connections/mine", "", "management-user:p").status, 204U);
    EXPECT_EQ(remove("/connections/nosuch"), 404U);
    EXPECT_EQ(closed_, std::set<std::string>{"mine: Closed via management plugin"});
}

TEST_F(ApiTest, AConnectionTellsItsProtocol) {  // management 4.24
    connections_ = {
        {.name = "old", .protocol = engine::ClientProtocol::amqp091, .user = "guest", .vhost = "/"},
        {.name = "new", .protocol = engine::ClientProtocol::amqp10, .user = "guest", .vhost = "/"}};
    EXPECT_EQ(get("/connections/old").at("protocol"), json::value("AMQP 0-9-1"));
    EXPECT_EQ(get("/connections/new").at("protocol"), json::value("AMQP 1-0"));
}

TEST_F(ApiTest, AnAlarmFailsTheHealthCheck) {  // management C.12
    EXPECT_EQ(get("/health/checks/alarms").at("status"), json::value("ok"));
    alarm_ = true;
    const Response response = send("GET", "/health/checks/alarms");
    EXPECT_EQ(response.status, 503U);
    EXPECT_EQ(parse_json(response.body)->at("alarms").at(0).at("resource"), json::value("memory"));
    EXPECT_EQ(send("GET", "/health/checks/port-listener/5672").status, 200U);
    EXPECT_EQ(send("GET", "/health/checks/port-listener/1").status, 503U);
    EXPECT_EQ(send("GET", "/health/checks/port-listener/x").status, 400U);
    EXPECT_EQ(send("GET", "/health/checks/protocol-listener/amqp091").status, 200U);
    EXPECT_EQ(send("GET", "/health/checks/protocol-listener/mqtt").status, 503U);
}

TEST_F(ApiTest, WhatIsNoJsonIsA400Everywhere) {  // management 1.5
    const std::string deep =
        R"({"arguments":)" + std::string(100, '[') + std::string(100, ']') + "}";
    for (const std::string& body :
         {std::string("{"), std::string("[]"), std::string("\"x\""),
          std::string("{\"a\":\"\xFF\"}"), deep, std::string(100000, '[')}) {
        for (const char* path : {"/queues/%2F/q", "/exchanges/%2F/x", "/vhosts/v", "/users/u",
                                 "/permissions/%2F/guest", "/vhost-limits/%2F/max-queues",
                                 "/policies/%2F/p", "/operator-policies/%2F/p"}) {
            EXPECT_EQ(refusal(send("PUT", path, body)), "400 not_json")
                << path << body.substr(0, 20);
        }
    }
    EXPECT_EQ(put("/queues/%2F/q", R"({"durable":"x"})"), 400U);
    EXPECT_EQ(put("/queues/%2F/q", R"({"durable":{}})"), 400U);
    EXPECT_EQ(put("/queues/%2F/q", R"({"arguments":5})"), 400U);
    EXPECT_EQ(put("/queues/%2F/q", R"({"arguments":{"a":18446744073709551615}})"), 400U);
    EXPECT_EQ(put("/queues/%2F/" + std::string(256, 'x'), "{}"), 400U);
    EXPECT_EQ(put("/users/u", R"({"tags":5})"), 400U);
    EXPECT_EQ(put("/users/u", R"({"tags":"","password":5})"), 400U);
    EXPECT_EQ(send("GET", "/queues/%FF").status, 400U);
    EXPECT_EQ(get("/queues").get_array().size(), 0U);
}

TEST_F(ApiTest, UnknownPathsAndMethods) {  // management 1.4
    EXPECT_EQ(send("GET", "/nosuch").status, 404U);
    EXPECT_EQ(send("GET", "").status, 404U);
    const Response response = send("DELETE", "/overview");
    EXPECT_EQ(response.status, 405U);
    EXPECT_EQ(response.headers.at(0).value, "HEAD, GET, OPTIONS");
    EXPECT_EQ(send("OPTIONS", "/overview", "", "").status, 200U);
}

TEST_F(ApiTest, TheOverviewHidesTheNodeFromThoseWhoDoNotMonitor) {  // management 4.1
    EXPECT_TRUE(get("/overview").get_object().contains("listeners"));
    EXPECT_TRUE(get("/overview", "monitoring-user:p").get_object().contains("listeners"));
    EXPECT_FALSE(get("/overview", "management-user:p").get_object().contains("listeners"));
    EXPECT_EQ(get("/overview").at("object_totals").at("exchanges"), json::value(7));
}

TEST_F(ApiTest, MetricsAccountForEveryEntry) {
    Metrics metrics(api_->context());
    Request request;
    request.method = "GET";
    request.target = "/metrics";
    const Response response = metrics.respond(request);
    EXPECT_EQ(response.status, 200U);
    EXPECT_NE(response.body.find("\nrevenant_entries_ended_total{ending=\"dead_lettered\"} 0\n"),
              std::string::npos);
    EXPECT_NE(response.body.find("\nrabbitmq_exchanges 7\n"), std::string::npos);
    EXPECT_NE(response.body.find("\nrevenant_entries_present{state=\"delayed\"} 0\n"),
              std::string::npos);
    request.target = "/nosuch";
    EXPECT_EQ(metrics.respond(request).status, 404U);
    request.target = "/metrics";
    request.method = "POST";
    EXPECT_EQ(metrics.respond(request).status, 405U);
}

// Long enough that every list is read in several parts.
TEST_F(ApiTest, ListsAreWholeHoweverLong) {
    constexpr std::size_t count = 2 * engine::part_items_max + 50;
    json::array queues;
    json::array exchanges;
    json::array bindings;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string number = std::to_string(count - i);
        queues.push_back(json::object{{"name", "q" + number}, {"vhost", "/"}, {"durable", true}});
        exchanges.push_back(json::object{{"name", "x" + number}, {"vhost", "/"}});
        bindings.push_back(json::object{{"source", "amq.topic"},
                                        {"vhost", "/"},
                                        {"destination", "q1"},
                                        {"destination_type", "queue"},
                                        {"routing_key", "k" + number}});
    }
    const json::object document{
        {"queues", queues}, {"exchanges", exchanges}, {"bindings", bindings}};
    ASSERT_EQ(send("POST", "/definitions", to_text(document)).status, 204U);
    const auto names = [&](const std::string& path) {
        std::vector<std::string> found;
        const json::value answer = get(path);
        const json::array& items =
            answer.is_array() ? answer.get_array() : answer.at("items").get_array();
        for (const json::value& item : items) found.emplace_back(item.at("name").get_string());
        return found;
    };
    for (const char* list : {"/queues", "/queues/%2F", "/queues?disable_stats=true"}) {
        const auto all = names(list);
        EXPECT_EQ(all.size(), count) << list;
        EXPECT_TRUE(std::is_sorted(all.begin(), all.end())) << list;
    }
    EXPECT_EQ(names("/queues?sort=name&sort_reverse=true").front(), "q99");
    EXPECT_EQ(names("/queues?page=3&page_size=200").size(), count - 400);
    EXPECT_EQ(names("/queues?page=1&name=q44&sort=messages"),
              (std::vector<std::string>{"q44", "q440", "q441", "q442", "q443", "q444", "q445",
                                        "q446", "q447", "q448", "q449"}));
    EXPECT_EQ(names("/exchanges").size(), count + 7);
    EXPECT_EQ(get("/bindings").get_array().size(), 2 * count);
    EXPECT_EQ(get("/exchanges/%2F/amq.topic/bindings/source").get_array().size(), count);
    EXPECT_EQ(get("/exchanges/%2F/amq.default/bindings/source").get_array().size(), count);
    EXPECT_EQ(get("/queues/%2F/q1/bindings").get_array().size(), count + 1);
    EXPECT_EQ(get("/bindings/%2F/e/amq.topic/q/q1").get_array().size(), count);
    EXPECT_EQ(get("/bindings/%2F/e/amq.topic/q/q1/k7").at("routing_key").get_string(), "k7");
    const json::value exported = get("/definitions");
    for (const char* list : {"queues", "exchanges", "bindings"}) {
        EXPECT_EQ(exported.at(list).get_array().size(), count) << list;
    }
    EXPECT_EQ(get("/overview").at("object_totals").at("queues").to_number<std::size_t>(), count);
}

}  // namespace
}  // namespace revenant::http
