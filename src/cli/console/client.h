// Client: asks the HTTP API of a node, one request per connection.
#pragma once

#include "base/result.h"
#include "cli/console/stream.h"

#include <boost/json/value.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace revenant::cli {

struct Reply {
    unsigned status = 0;
    std::string body;

    // The body as JSON; null if it is none.
    boost::json::value json() const;
    // What the API gave as the reason of an error, or the status if it gave none.
    std::string reason() const;
};

struct ClientSettings {
    std::string url = "http://127.0.0.1:15672";
    std::string user = "guest";
    std::string password = "guest";
    double timeout_seconds = 60;
    Trust trust;  // for https
};

class Client {
  public:
    // The error says what is wrong with the URL.
    static Result<Client, std::string> make(const ClientSettings& settings);

    using Headers = std::vector<std::pair<std::string, std::string>>;
    // The path begins behind /api.
    Result<Reply, NoResponse> send(std::string_view method, const std::string& path,
                                   const std::string& body = {}, const Headers& headers = {}) const;
    // Whether somebody accepts there; if not, why.
    static std::optional<std::string> try_connect(const std::string& host, const std::string& port,
                                                  double timeout_seconds);
    // The same node for another user.
    Client as(std::string user, std::string password) const;

    const ClientSettings& settings() const { return settings_; }

  private:
    explicit Client(ClientSettings settings) : settings_(std::move(settings)) {}

    ClientSettings settings_;
    std::string host_;
    std::string port_;
    std::string prefix_;
    bool secure_ = false;
};

// A name as a part of a path.
std::string escape(std::string_view name);

}  // namespace revenant::cli
