#include "node/path_prefix.h"

namespace revenant::node {
namespace {

http::Response not_found() {
    return {404, "application/json", R"({"error":"Object Not Found","reason":"Not Found"})", {}};
}

}  // namespace

std::optional<http::Request> PathPrefix::translate(const http::Request& request) const {
    if (!request.target.starts_with(outside_)) return std::nullopt;
    const std::string rest = request.target.substr(outside_.size());
    if (!rest.empty() && rest.front() != '/' && rest.front() != '?') return std::nullopt;
    http::Request translated = request;
    translated.target = inside_ + rest;
    if (translated.target.empty() || translated.target.front() != '/') {
        translated.target.insert(0, "/");
    }
    return translated;
}

http::Response PathPrefix::respond(const http::Request& request) {
    // The web pages use relative paths, which do not resolve from /prefix without a slash.
    if (inside_.empty() && request.target == outside_ && request.method == "GET") {
        http::Response response;
        response.status = 301;
        response.headers = {{"location", outside_ + "/"}};
        return response;
    }
    const auto translated = translate(request);
    return translated ? responder_.respond(*translated) : not_found();
}

std::optional<http::Response> PathPrefix::refuse_early(const http::Request& request) {
    const auto translated = translate(request);
    return translated ? responder_.refuse_early(*translated) : not_found();
}

}  // namespace revenant::node
