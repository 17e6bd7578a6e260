// Router: from method and path to the action that answers, and whether the caller may ask for it.
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

// The least a caller must be. management 3.2
enum class Role : std::uint8_t {
    anybody,  // even without credentials
    management,
    vhost,          // has permissions in the vhost of the path, or administrates
    vhost_visible,  // the same, and monitors see every vhost
    policymaker,  // makes policies, and has permissions in the vhost of the path, or administrates
    policymaker_anywhere,  // makes policies, whatever vhost the path names
    monitoring,
    administrator,
};

// One request on its way through the API.
struct Call {
    const Request& request;
    std::vector<std::string> parameters;  // the parts of the path that stand for names, decoded
    std::map<std::string, std::string, std::less<>> query;
    std::shared_ptr<const AccessTable> access;
    const User* user = nullptr;  // null for Role::anybody
    std::string password;        // as it was sent

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
    // The path begins behind /api; `*` stands for a name. A vhost, where the role asks for one, is
    // the first name of the path.
    void add(std::string_view method, std::string_view path, Role role, Action action);

    struct Match {
        const Action* action = nullptr;
        Role role = Role::administrator;
        std::vector<std::string> parameters;
    };
    struct NoRoute {
        std::vector<std::string_view> allowed;  // the methods the path knows; empty: no such path
    };
    Result<Match, NoRoute> find(std::string_view method,
                                const std::vector<std::string>& segments) const;

    // As they were added: "GET /queues/*".
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

// A target cut into its parts; absent if an escape or the UTF-8 in it is broken.
struct Target {
    std::vector<std::string> segments;
    std::map<std::string, std::string, std::less<>> query;
    // The same in the order they were sent, those that repeat a name included.
    std::vector<std::pair<std::string, std::string>> query_pairs;
};
std::optional<Target> parse_target(std::string_view target);
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space);
// Everything but letters, digits, `-`, `_`, `.` and `~` is escaped.
std::string percent_encode(std::string_view text);

// What a user may see by its tags. management 3.1
bool is_administrator(const User& user);
bool is_monitor(const User& user);
bool is_policymaker(const User& user);
bool may_use_management(const User& user);
// May the user look into the vhost?
bool can_see_vhost(const AccessTable& access, const User& user, std::string_view vhost);

}  // namespace revenant::http
