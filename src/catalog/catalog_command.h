// Every wish the catalog can be asked for, by HTTP, the command line, an import or the first start.
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

// Refused when the user is there already.
struct AddUser {
    std::string name;
    PasswordHash password;
    std::vector<std::string> tags;
    UserLimits limits;
};

// Makes the user or changes it. Without a password an existing user loses its own, as RabbitMQ
// does.
struct PutUser {
    std::string name;
    std::optional<PasswordHash> password;
    std::vector<std::string> tags;
    std::optional<UserLimits> limits;
    std::vector<PermissionsInVhost> permissions;  // For a new user only.
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

// A directory with the messages of a vhost that the catalog has lost.
struct FoundDirectory {
    std::uint64_t id = 0;  // 0: it has none yet
    bool is_named = false;
};

// What is absent stays as it is in an existing vhost.
struct PutVhost {
    std::string name;
    std::optional<std::string> description;
    std::optional<std::vector<std::string>> tags;
    std::optional<std::string> default_queue_type;
    std::optional<std::string> compat;  // "3.12", "4.3"; empty: that of the node
    std::optional<bool> tracing;
    // Gets every permission in a new vhost, if there is such a user. management 4.6
    std::optional<std::string> grant_to;
    // For a new vhost only. Absent: an empty directory, named by the next id.
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
    std::optional<std::string> exchange;  // Absent: of every exchange.
};

// Limits that are present are set, the others stay.
struct SetUserLimits {
    std::string user;
    UserLimits limits;
};

enum class UserLimit : std::uint8_t { max_connections, max_channels };
struct ClearUserLimits {
    std::string user;
    std::optional<UserLimit> only;  // Absent: all.
};

// Limits that are present are set, the others stay.
struct SetVhostLimits {
    std::string vhost;
    VhostLimits limits;
};

enum class VhostLimit : std::uint8_t { max_connections, max_queues };
struct ClearVhostLimits {
    std::string vhost;
    std::optional<VhostLimit> only;  // Absent: all.
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
