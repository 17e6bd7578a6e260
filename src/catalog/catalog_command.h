// Every command of the catalog. They come from HTTP, the command line, an import or the first
// startup.
#pragma once

#include "auth/access.h"
#include "auth/password.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace revenant {

struct PermissionsInVhost {
    std::string vhost;
    Permissions permissions;
};

// Refused if the user exists.
struct AddUser {
    std::string name;
    PasswordHash password;
    std::vector<std::string> tags;
    UserLimits limits;
};

// Creates or changes a user. Without a password, an existing user loses its password, as in
// RabbitMQ.
struct PutUser {
    std::string name;
    std::optional<PasswordHash> password;
    std::vector<std::string> tags;
    std::optional<UserLimits> limits;
    std::vector<PermissionsInVhost> permissions;  // for a new user only
};

struct ChangePassword {
    std::string user;
    PasswordHash password;
};

struct ClearPassword {
    std::string user;
};

struct SetTags {
    std::string user;
    std::vector<std::string> tags;
};

struct DeleteUser {
    std::string name;
};

// A directory with the messages of a vhost that is not in the catalog.
struct FoundDirectory {
    std::uint64_t id = 0;  // 0: none yet
    bool is_named = false;
};

// Absent values leave an existing vhost unchanged.
struct PutVhost {
    std::string name;
    std::optional<std::string> description;
    std::optional<std::vector<std::string>> tags;
    std::optional<std::string> default_queue_type;
    std::optional<std::string> compat;  // "3.12", "4.3"; empty: the node's default
    std::optional<bool> tracing;
    // If this user exists, it gets all permissions in a new vhost. management 4.6
    std::optional<std::string> grant_to;
    // For a new vhost only. Absent: an empty directory named by the next id.
    std::optional<FoundDirectory> directory;
};

// management 4.7
struct ProtectVhost {
    std::string name;
    bool protected_from_deletion = true;
};

struct DeleteVhost {
    std::string name;
};

struct SetPermissions {
    std::string user;
    std::string vhost;
    Permissions permissions;
};

struct ClearPermissions {
    std::string user;
    std::string vhost;
};

struct SetTopicPermissions {
    std::string user;
    std::string vhost;
    std::string exchange;
    TopicPermissions permissions;
};

struct ClearTopicPermissions {
    std::string user;
    std::string vhost;
    std::optional<std::string> exchange;  // absent: for all exchanges
};

// Sets the limits that are present and keeps the others.
struct SetUserLimits {
    std::string user;
    UserLimits limits;
};

enum class UserLimit : std::uint8_t { max_connections, max_channels };
struct ClearUserLimits {
    std::string user;
    std::optional<UserLimit> only;  // absent: all
};

// Sets the limits that are present and keeps the others.
struct SetVhostLimits {
    std::string vhost;
    VhostLimits limits;
};

enum class VhostLimit : std::uint8_t { max_connections, max_queues };
struct ClearVhostLimits {
    std::string vhost;
    std::optional<VhostLimit> only;  // absent: all
};

// management 4.15
struct SetGlobalParameter {
    std::string name;
    std::string value;  // JSON
};

struct ClearGlobalParameter {
    std::string name;
};

using CatalogCommand =
    std::variant<AddUser, PutUser, ChangePassword, ClearPassword, SetTags, DeleteUser, PutVhost,
                 ProtectVhost, DeleteVhost, SetPermissions, ClearPermissions, SetTopicPermissions,
                 ClearTopicPermissions, SetUserLimits, ClearUserLimits, SetVhostLimits,
                 ClearVhostLimits, SetGlobalParameter, ClearGlobalParameter>;

}  // namespace revenant
