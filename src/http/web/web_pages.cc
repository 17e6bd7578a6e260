#include "http/web/web_pages.h"

#include "http/api/responses.h"
#include "http/server/compression.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace revenant::http {
namespace {

constexpr std::string_view policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

constexpr std::string_view page_without_pages =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Revenant</title>"
    "</head><body><h1>Revenant</h1><p>This build has no web pages (REVENANT_WEB=OFF). "
    "The HTTP API is below <code>api/</code>.</p></body></html>\n";

std::string_view path_of(std::string_view target) {
    return target.substr(0, std::min(target.find_first_of("?#"), target.size()));
}

bool is_for_api(std::string_view path) { return path == "/api" || path.starts_with("/api/"); }

void add_page_headers(Response& response) {
    response.headers.push_back({"content-security-policy", std::string(policy)});
    response.headers.push_back({"x-content-type-options", "nosniff"});
    response.headers.push_back({"referrer-policy", "no-referrer"});
    response.headers.push_back({"vary", "accept-encoding"});
}

// If-None-Match is * or a list of tags, which may be weak.
bool has_tag(const Request& request, std::string_view tag) {
    const std::string* const known = request.find_header("if-none-match");
    return known != nullptr && (*known == "*" || known->find(tag) != std::string::npos);
}

Response show_asset(const Request& request, const WebAsset& asset) {
    Response response;
    response.content_type = asset.content_type;
    response.headers = {
        {"etag", std::string(asset.tag)},
        {"cache-control", asset.immutable ? "public, max-age=31536000, immutable" : "no-cache"}};
    add_page_headers(response);
    if (has_tag(request, asset.tag)) {
        response.status = 304;
        return response;
    }
    const std::string* const accepted = request.find_header("accept-encoding");
    if (accepted != nullptr && accepts_gzip(*accepted)) {
        response.body = asset.gzip;
        response.headers.push_back({"content-encoding", "gzip"});
    } else {
        response.body = gunzip(asset.gzip, asset.plain_size);
    }
    return response;
}

Response method_not_allowed() {
    Response response = error_response(405, "method_not_allowed", "Method Not Allowed");
    response.headers.push_back({"allow", "GET, HEAD, OPTIONS"});
    return response;
}

}  // namespace

Response WebPages::respond(const Request& request) {
    const std::string_view path = path_of(request.target);
    if (is_for_api(path)) return api_.respond(request);
    const std::string_view name = path == "/" ? "index.html" : path.substr(path.empty() ? 0 : 1);
    const auto found = std::find_if(assets_.begin(), assets_.end(),
                                    [&](const WebAsset& asset) { return asset.name == name; });
    const bool says_none = assets_.empty() && path == "/";
    if (found == assets_.end() && !says_none) return not_found();
    if (request.method != "GET") return method_not_allowed();
    if (found != assets_.end()) return show_asset(request, *found);
    Response response;
    response.content_type = "text/html; charset=utf-8";
    response.body = page_without_pages;
    response.headers = {{"cache-control", "no-cache"}};
    add_page_headers(response);
    return response;
}

std::optional<Response> WebPages::refuse_early(const Request& request) {
    // Only the API accepts large bodies.
    if (!is_for_api(path_of(request.target))) return respond(request);
    return api_.refuse_early(request);
}

}  // namespace revenant::http
