// Router: maps method and path to an action and to the role that it requires.
#pragma once

#include "auth/access.h"
#include "base/result.h"
#include "http/server/request.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace revenant::http {

// The role that a caller must have at least. management 3.2
enum class Role : std::uint8_t {
    anybody,  // even without credentials
    management,
    vhost,                 // an administrator, or has permissions in the path's virtual host
    vhost_visible,         // as vhost, or a monitoring user
    policymaker,           // a policymaker with permissions in the path's virtual host
    policymaker_anywhere,  // a policymaker, for any virtual host
    monitoring,
    administrator,
};

// A request to the API, after routing and authentication.
struct Call {
    const Request& request;
    std::vector<std::string> parameters;  // path segments matched by `*`, decoded
    std::map<std::string, std::string, std::less<>> query;
    std::shared_ptr<const AccessTable> access;
    const User* user = nullptr;  // null for Role::anybody
    std::string password;        // in clear text

    const std::string& parameter(std::size_t index) const { return parameters[index]; }
    // The value of a query parameter; empty if it is absent.
    std::string_view query_parameter(std::string_view name) const {
        const auto found = query.find(name);
        return found == query.end() ? std::string_view() : std::string_view(found->second);
    }
};

using Action = std::function<Response(const Call&)>;

class Router {
  public:
    // The path does not include /api; `*` matches one segment. If the role depends on a virtual
    // host, the first `*` is its name.
    void add(std::string_view method, std::string_view path, Role role, Action action);

    struct Match {
        const Action* action = nullptr;
        Role role = Role::administrator;
        std::vector<std::string> parameters;
    };
    struct NoRoute {
        std::vector<std::string_view> allowed;  // methods of the path; empty: no such path
    };
    Result<Match, NoRoute> find(std::string_view method,
                                const std::vector<std::string>& segments) const;

    // All routes in the order they were added, such as "GET /queues/*".
    std::vector<std::string> routes() const;

  private:
    struct Route {
        std::string method;
        std::vector<std::string> segments;
        Role role;
        Action action;
    };
    std::vector<Route> routes_;
};

// A request target, split and decoded.
struct Target {
    std::vector<std::string> segments;
    std::map<std::string, std::string, std::less<>> query;
    // The query parameters in the order they were sent, including repeated names.
    std::vector<std::pair<std::string, std::string>> query_pairs;
};
// Absent if an escape sequence or the UTF-8 is malformed.
std::optional<Target> parse_target(std::string_view target);
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space);
// Escapes everything except letters, digits, `-`, `_`, `.` and `~`.
std::string percent_encode(std::string_view text);

// The permissions that follow from a user's tags. management 3.1
bool is_administrator(const User& user);
bool is_monitor(const User& user);
bool is_policymaker(const User& user);
bool may_use_management(const User& user);
// Whether the user may see the virtual host.
bool can_see_vhost(const AccessTable& access, const User& user, std::string_view vhost);

}  // namespace revenant::http
