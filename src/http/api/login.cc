#include "http/api/login.h"

#include "auth/sasl.h"
#include "base/base64.h"
#include "http/api/responses.h"
#include "http/api/router.h"
#include "http/server/ascii_text.h"
#include "runtime/system_clock.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace revenant::http {
namespace {

Response credentials_wanted() {
    Response response;
    response.status = 401;
    response.headers = {{"www-authenticate", R"(Basic realm="RabbitMQ Management")"}};
    return response;
}

// RFC 6585, 4
Response too_many_failures(Duration wait) {
    Response response =
        error_response(429, "too_many_requests", "Too many failed logins from this address");
    const std::int64_t whole_seconds = (wait.us + 999'999) / 1'000'000;
    response.headers.push_back({"retry-after", std::to_string(whole_seconds)});
    return response;
}

// The scheme, such as Basic or Bearer, is case-insensitive (RFC 9110, 11.1).
bool has_scheme(std::string_view header, std::string_view scheme) {
    return to_lower_ascii(header.substr(0, header.find(' '))) == scheme;
}

// Tokens are not supported, so a bearer token is unknown. Any other header is malformed.
Response malformed_or_unknown(std::string_view header) {
    if (has_scheme(header, "bearer")) {
        return error_response(401, "not_authorized", "Not_Authorized");
    }
    Response malformed;
    malformed.status = 400;
    return malformed;
}

// RFC 7617
std::optional<Credentials> basic_credentials(std::string_view header) {
    if (!has_scheme(header, "basic")) return std::nullopt;
    header.remove_prefix(std::min(header.size(), std::string_view("basic ").size()));
    while (header.starts_with(' ')) header.remove_prefix(1);
    while (header.ends_with(' ')) header.remove_suffix(1);
    const auto decoded = base64_decode(header);
    if (!decoded) return std::nullopt;
    const std::size_t colon = decoded->find(':');
    if (colon == std::string::npos) return std::nullopt;
    return Credentials{decoded->substr(0, colon), decoded->substr(colon + 1)};
}

Result<const User*, Response> check_password(const AccessTable& access,
                                             const Credentials& credentials, const Request& request,
                                             PeerLocation place, const LoginRules& rules) {
    const Timestamp now = runtime::system_now();
    if (rules.guard != nullptr) {
        const Duration wait = rules.guard->wait(request.peer_address, now);
        if (wait.us > 0) return Unexpected{too_many_failures(wait)};
    }
    const auto user = log_in(access, credentials);
    if (user) return *user;
    if (rules.guard != nullptr) rules.guard->failed(request.peer_address, place, now);
    return Unexpected{error_response(401, "not_authorized", "Not_Authorized")};
}

}  // namespace

Result<Login, Response> log_in(const AccessTable& access, const Request& request,
                               const LoginRules& rules) {
    const std::string* const header = request.find_header("authorization");
    if (header == nullptr) return Unexpected{credentials_wanted()};
    auto credentials = basic_credentials(*header);
    if (!credentials) return Unexpected{malformed_or_unknown(*header)};
    const PeerLocation place =
        request.from_loopback ? PeerLocation::loopback : PeerLocation::remote;
    REVENANT_TRY(const User* const user,
                 check_password(access, *credentials, request, place, rules));
    if (!check_location(credentials->user, place, rules.loopback_users)) {
        return Unexpected{not_authorised("User can only log in via localhost")};
    }
    if (!may_use_management(*user)) return Unexpected{not_authorised("Not management user")};
    return Login{user, std::move(credentials->password)};
}

}  // namespace revenant::http
