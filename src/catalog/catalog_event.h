// Every event in the catalog's journal. Once released, a struct only gains fields.
#pragma once

#include "auth/access.h"
#include "auth/password.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace revenant {

struct UserAdded {
    User user;
    friend bool operator==(const UserAdded&, const UserAdded&) = default;
};

struct PasswordChanged {
    std::string user;
    PasswordHash password;  // empty: cleared
    friend bool operator==(const PasswordChanged&, const PasswordChanged&) = default;
};

struct TagsSet {
    std::string user;
    std::vector<std::string> tags;
    friend bool operator==(const TagsSet&, const TagsSet&) = default;
};

struct UserLimitsSet {
    std::string user;
    UserLimits limits;
    friend bool operator==(const UserLimitsSet&, const UserLimitsSet&) = default;
};

// The permissions of the user were cleared by earlier events of the same record.
struct UserDeleted {
    std::string name;
    friend bool operator==(const UserDeleted&, const UserDeleted&) = default;
};

// The vhost gets the next id and a directory with its name, unless VhostNumbered follows.
// VhostNumbered is missing only in catalogs of brokers without vhost ids.
struct VhostAdded {
    Vhost vhost;  // its id and directory are not part of the event
    friend bool operator==(const VhostAdded&, const VhostAdded&) = default;
};

struct VhostChanged {
    Vhost vhost;  // the new values; id and directory do not change
    friend bool operator==(const VhostChanged&, const VhostChanged&) = default;
};

// The permissions in the vhost were cleared by earlier events of the same record.
struct VhostDeleted {
    std::string name;
    friend bool operator==(const VhostDeleted&, const VhostDeleted&) = default;
};

struct PermissionsSet {
    UserAndVhost of;
    Permissions permissions;
    friend bool operator==(const PermissionsSet&, const PermissionsSet&) = default;
};

struct PermissionsCleared {
    UserAndVhost of;
    friend bool operator==(const PermissionsCleared&, const PermissionsCleared&) = default;
};

struct TopicPermissionsSet {
    TopicKey of;
    TopicPermissions permissions;
    friend bool operator==(const TopicPermissionsSet&, const TopicPermissionsSet&) = default;
};

struct TopicPermissionsCleared {
    TopicKey of;
    friend bool operator==(const TopicPermissionsCleared&,
                           const TopicPermissionsCleared&) = default;
};

struct GlobalParameterSet {
    std::string name;
    std::string value;
    friend bool operator==(const GlobalParameterSet&, const GlobalParameterSet&) = default;
};

struct GlobalParameterCleared {
    std::string name;
    friend bool operator==(const GlobalParameterCleared&, const GlobalParameterCleared&) = default;
};

struct VhostNumbered {
    std::string vhost;
    std::uint64_t id = 0;
    bool has_named_directory = false;
    friend bool operator==(const VhostNumbered&, const VhostNumbered&) = default;
};

// Part of a snapshot, which does not contain the ids of deleted vhosts.
struct VhostIdsUsed {
    std::uint64_t last = 0;
    friend bool operator==(const VhostIdsUsed&, const VhostIdsUsed&) = default;
};

using CatalogEvent =
    std::variant<UserAdded, PasswordChanged, TagsSet, UserLimitsSet, UserDeleted, VhostAdded,
                 VhostChanged, VhostDeleted, PermissionsSet, PermissionsCleared,
                 TopicPermissionsSet, TopicPermissionsCleared, GlobalParameterSet,
                 GlobalParameterCleared, VhostNumbered, VhostIdsUsed>;

// All events of one command, written as a whole or not at all.
using CatalogRecord = std::vector<CatalogEvent>;

}  // namespace revenant
