// AccessTable: who may do what. An immutable snapshot of users, vhosts and permissions with every
// pattern compiled, made by the catalog and shared by all reactors and HTTP; a change makes a new
// table with a higher version, by which a channel sees that what it cached is old.
#pragma once

#include "auth/password.h"
#include "pattern/pattern.h"

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace revenant {

// A limit as it was set; absent or negative means none.
using Limit = std::optional<std::int64_t>;
// Whether one more is forbidden when there are `count` already.
constexpr bool limit_reached(Limit limit, std::uint64_t count) {
    return limit && *limit >= 0 && count >= static_cast<std::uint64_t>(*limit);
}

struct UserLimits {
    Limit max_connections;
    Limit max_channels;
    friend bool operator==(const UserLimits&, const UserLimits&) = default;
};

struct VhostLimits {
    Limit max_connections;
    Limit max_queues;
    friend bool operator==(const VhostLimits&, const VhostLimits&) = default;
};

struct User {
    std::string name;
    PasswordHash password;
    std::vector<std::string> tags;
    UserLimits limits;

    bool has_tag(std::string_view tag) const;
    friend bool operator==(const User&, const User&) = default;
};

struct Vhost {
    std::string name;
    std::string description;
    std::vector<std::string> tags;
    std::string default_queue_type;  // Empty: that of the node.
    std::string compat;              // "3.12" or "4.3". Empty: that of the node.
    bool tracing = false;
    bool protected_from_deletion = false;
    VhostLimits limits;
    // Of this incarnation: a vhost that is deleted and made again has another id, and no id is used
    // twice. Its directory is named by it.
    std::uint64_t id = 0;
    bool has_named_directory = false;  // made before that: its directory is named after the vhost
    friend bool operator==(const Vhost&, const Vhost&) = default;
};

enum class Permission : std::uint8_t { configure, write, read };
// "configure", "write", "read": the words of the refusal texts.
std::string_view permission_name(Permission permission);

// The three patterns of one user in one vhost. An empty pattern means ^$.
struct Permissions {
    std::string configure;
    std::string write;
    std::string read;
    friend bool operator==(const Permissions&, const Permissions&) = default;
};

// The two patterns over routing keys; {vhost} and {username} stand for the values, taken literally.
struct TopicPermissions {
    std::string write;
    std::string read;
    friend bool operator==(const TopicPermissions&, const TopicPermissions&) = default;
};

struct UserAndVhost {
    std::string user;
    std::string vhost;
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 misreads the generated comparison.
    friend auto operator<=>(const UserAndVhost&, const UserAndVhost&) = default;
};

struct TopicKey {
    std::string user;
    std::string vhost;
    std::string exchange;
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 misreads the generated comparison.
    friend auto operator<=>(const TopicKey&, const TopicKey&) = default;
};

// The plain content of a table, in the order of the names; also what the catalog's events change.
struct AccessRules {
    std::map<std::string, User, std::less<>> users;
    std::map<std::string, Vhost, std::less<>> vhosts;
    std::map<UserAndVhost, Permissions> permissions;
    std::map<TopicKey, TopicPermissions> topic_permissions;
    // What operators note down for the node as a whole, such as its name; values are JSON.
    std::map<std::string, std::string, std::less<>> global_parameters;
    std::uint64_t last_vhost_id = 0;  // that was given, also to a vhost that is gone
    friend bool operator==(const AccessRules&, const AccessRules&) = default;
};

class AccessTable {
  public:
    // Takes over compiled patterns from the previous table, so that one change does not compile
    // all.
    explicit AccessTable(AccessRules rules, std::uint64_t version = 0,
                         const AccessTable* previous = nullptr);

    std::uint64_t version() const { return version_; }
    const AccessRules& rules() const { return rules_; }

    const User* find_user(std::string_view name) const;
    const Vhost* find_vhost(std::string_view name) const;

    // Whether there is a permission row, even an empty one. amqp091 3.8
    bool can_access_vhost(std::string_view user, std::string_view vhost) const;
    // The default exchange goes by the name amq.default. amqp091 15.1
    bool allowed(std::string_view user, std::string_view vhost, Permission permission,
                 std::string_view resource) const;
    // For topic exchanges only, with Permission::write or ::read; without a row everything is
    // allowed. amqp091 15.4
    bool topic_allowed(std::string_view user, std::string_view vhost, std::string_view exchange,
                       Permission permission, std::string_view routing_key) const;

  private:
    using SharedPattern = std::shared_ptr<const Pattern>;
    // An absent pattern could not be compiled and matches nothing.
    struct Grant {
        SharedPattern configure;
        SharedPattern write;
        SharedPattern read;
    };
    struct ExchangeGrant {
        std::string exchange;
        SharedPattern write;
        SharedPattern read;
    };
    struct UserPermissions {
        std::optional<Grant> grant;
        std::vector<ExchangeGrant> topics;
    };
    using PermissionsByVhost = std::map<std::string, UserPermissions, std::less<>>;

    SharedPattern intern(std::string_view source, const AccessTable* previous);
    const UserPermissions* find_permissions(std::string_view user, std::string_view vhost) const;

    AccessRules rules_;
    std::uint64_t version_;
    std::map<std::string, PermissionsByVhost, std::less<>> permissions_;
    std::map<std::string, SharedPattern, std::less<>> patterns_;
};

}  // namespace revenant
