// Client: sends requests to the HTTP API of a node, one per connection.
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

    // The body as JSON; null if it is not JSON.
    boost::json::value json() const;
    // The reason field of an error response, or the status if there is none.
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
    // Fails if the URL is invalid.
    static Result<Client, std::string> make(const ClientSettings& settings);

    using Headers = std::vector<std::pair<std::string, std::string>>;
    // The path does not include /api.
    Result<Reply, NoResponse> send(std::string_view method, const std::string& path,
                                   const std::string& body = {}, const Headers& headers = {}) const;
    // Checks that a TCP connection is accepted. Returns the error, if any.
    static std::optional<std::string> try_connect(const std::string& host, const std::string& port,
                                                  double timeout_seconds);
    // A client for the same node with other credentials.
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

// Percent-encodes a name for use as a path segment.
std::string escape(std::string_view name);

}  // namespace revenant::cli
