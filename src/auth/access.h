// AccessTable: an immutable snapshot of users, virtual hosts and permissions with all patterns
// compiled. The catalog creates it; all reactors and HTTP share it. A change creates a new table
// with a higher version, which tells a channel that its cached permissions are outdated.
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

// A limit as it was set; absent or negative means unlimited.
using Limit = std::optional<std::int64_t>;
// Whether the limit forbids one more if `count` exist.
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
    std::string default_queue_type;  // empty: the node's default
    std::string compat;              // "3.12" or "4.3"; empty: the node's default
    bool tracing = false;
    bool protected_from_deletion = false;
    VhostLimits limits;
    // Names the directory of the vhost. A vhost that is deleted and created again has another id;
    // ids are never reused.
    std::uint64_t id = 0;
    bool has_named_directory = false;  // older vhosts: the directory has the vhost's name
    friend bool operator==(const Vhost&, const Vhost&) = default;
};

enum class Permission : std::uint8_t { configure, write, read };
// "configure", "write", "read", as in refusal texts.
std::string_view permission_name(Permission permission);

// The three patterns of one user in one vhost. An empty pattern means ^$.
struct Permissions {
    std::string configure;
    std::string write;
    std::string read;
    friend bool operator==(const Permissions&, const Permissions&) = default;
};

// The two patterns for routing keys. {vhost} and {username} are replaced by their values,
// literally.
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

// The data of a table, sorted by name. Catalog events change it.
struct AccessRules {
    std::map<std::string, User, std::less<>> users;
    std::map<std::string, Vhost, std::less<>> vhosts;
    std::map<UserAndVhost, Permissions> permissions;
    std::map<TopicKey, TopicPermissions> topic_permissions;
    // Values for the whole node, such as the cluster name, as JSON.
    std::map<std::string, std::string, std::less<>> global_parameters;
    std::uint64_t last_vhost_id = 0;  // the highest id ever used, also by deleted vhosts
    friend bool operator==(const AccessRules&, const AccessRules&) = default;
};

class AccessTable {
  public:
    // Reuses compiled patterns of the previous table, so that a change does not recompile all.
    explicit AccessTable(AccessRules rules, std::uint64_t version = 0,
                         const AccessTable* previous = nullptr);

    std::uint64_t version() const { return version_; }
    const AccessRules& rules() const { return rules_; }

    const User* find_user(std::string_view name) const;
    const Vhost* find_vhost(std::string_view name) const;

    // Whether a permission row exists, even an empty one. amqp091 3.8
    bool can_access_vhost(std::string_view user, std::string_view vhost) const;
    // The default exchange has the name amq.default. amqp091 15.1
    bool allowed(std::string_view user, std::string_view vhost, Permission permission,
                 std::string_view resource) const;
    // For topic exchanges only, with Permission::write or ::read. Without a row everything is
    // allowed. amqp091 15.4
    bool topic_allowed(std::string_view user, std::string_view vhost, std::string_view exchange,
                       Permission permission, std::string_view routing_key) const;

  private:
    using SharedPattern = std::shared_ptr<const Pattern>;
    // A pattern that did not compile is nullptr and matches nothing.
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
