// ApiTest: the API with a real broker, without a socket.
#pragma once

#include "base/base64.h"
#include "http/api.h"
#include "http/api/json.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace revenant::http {

class ApiTest : public testing::Test {
  protected:
    void SetUp() override {
        broker_.start();
        for (const CatalogCommand& command : initial_commands({}, Salt{1, 2, 3, 4})) {
            ASSERT_TRUE(broker_.change(command));
        }
        ApiSettings settings;
        settings.connections = [this] { return connections_; };
        settings.close_connections_if = [this](const auto& chosen, const std::string& reason) {
            for (const auto& connection : connections_) {
                if (chosen(connection)) closed_.insert(connection.name + ": " + reason);
            }
        };
        settings.note_deed = [this](const Deed& deed) {
            deeds_.push_back(std::string(deed.text) + ": " + std::string(deed.path) + " " +
                             std::string(deed.user));
        };
        settings.memory_alarm = [this] { return alarm_; };
        settings.listeners = {{"amqp", "127.0.0.1", 5672}};
        api_ = std::make_unique<Api>(std::move(settings), broker_);
        for (const char* tag : {"none", "management", "policymaker", "monitoring"}) {
            const std::string name = std::string(tag) + "-user";
            ASSERT_EQ(
                put("/users/" + name, R"({"password":"p","tags":")" + std::string(tag) + "\"}"),
                201U);
        }
    }
    void TearDown() override { broker_.stop(); }

    Response send(std::string method, std::string path, std::string body = "",
                  const std::string& credentials = "guest:guest") {
        Request request;
        request.method = std::move(method);
        request.target = "/api" + path;
        request.body = std::move(body);
        request.from_loopback = from_loopback_;
        if (!credentials.empty()) {
            request.headers = {{"authorization", "Basic " + base64_encode(credentials)}};
        }
        return api_->respond(request);
    }
    unsigned put(const std::string& path, const std::string& body = "",
                 const std::string& credentials = "guest:guest") {
        return send("PUT", path, body, credentials).status;
    }
    unsigned remove(const std::string& path) { return send("DELETE", path).status; }
    json::value get(const std::string& path, const std::string& credentials = "guest:guest") {
        const Response response = send("GET", path, "", credentials);
        EXPECT_EQ(response.status, 200U) << path << " " << response.body;
        return parse_json(response.body).value();
    }
    // "401 Not administrator user"
    std::string refusal(const Response& response) {
        const auto body = parse_json(response.body);
        return std::to_string(response.status) +
               (body ? " " + std::string(body->at("reason").get_string()) : "");
    }

    runtime::Broker broker_{{.reactors = 2}};
    std::vector<runtime::ConnectionView> connections_;
    std::set<std::string> closed_;
    std::vector<std::string> deeds_;
    bool alarm_ = false;
    bool from_loopback_ = true;
    std::unique_ptr<Api> api_;
};

}  // namespace revenant::http
