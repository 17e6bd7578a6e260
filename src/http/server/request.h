// HTTP requests and responses, independent of a socket.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace revenant::http {

struct Header {
    std::string name;  // in lower case
    std::string value;
};

struct Request {
    std::string method;
    std::string target;  // path and query, not decoded
    std::vector<Header> headers;
    std::string body;
    bool from_loopback = false;
    std::string peer_address;

    // Without the query, which may contain secrets.
    std::string_view path() const {
        return std::string_view(target).substr(0, target.find_first_of("?#"));
    }
    // The first header with that lower-case name; null if there is none.
    const std::string* find_header(std::string_view name) const {
        for (const Header& header : headers) {
            if (header.name == name) return &header.value;
        }
        return nullptr;
    }
};

struct Response {
    unsigned status = 200;
    std::string content_type = "application/json";
    std::string body;
    std::vector<Header> headers;
};

// Called by several threads concurrently.
class Responder {
  public:
    virtual ~Responder() = default;
    virtual Response respond(const Request& request) = 0;
    // Called after the headers of a request with a large body. If it returns a response, the body
    // is not read.
    virtual std::optional<Response> refuse_early(const Request& /*request*/) {
        return std::nullopt;
    }
};

}  // namespace revenant::http
