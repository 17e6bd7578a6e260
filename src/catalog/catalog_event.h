// Every fact the catalog's journal can hold. Once released, a struct only gains fields.
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
    PasswordHash password;  // Empty: cleared.
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

// Its permissions were cleared by earlier facts of the same record.
struct UserDeleted {
    std::string name;
    friend bool operator==(const UserDeleted&, const UserDeleted&) = default;
};

// It has the next id, and a directory named after it, unless VhostNumbered follows. Only catalogs
// of brokers that knew no ids leave it at that.
struct VhostAdded {
    Vhost vhost;  // its id and its directory are not part of the fact
    friend bool operator==(const VhostAdded&, const VhostAdded&) = default;
};

struct VhostChanged {
    Vhost vhost;  // As it is now; its id and its directory stay.
    friend bool operator==(const VhostChanged&, const VhostChanged&) = default;
};

// Its permissions were cleared by earlier facts of the same record.
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

// In a snapshot, where vhosts that are gone do not tell which ids they had.
struct VhostIdsUsed {
    std::uint64_t last = 0;
    friend bool operator==(const VhostIdsUsed&, const VhostIdsUsed&) = default;
};

using CatalogEvent =
    std::variant<UserAdded, PasswordChanged, TagsSet, UserLimitsSet, UserDeleted, VhostAdded,
                 VhostChanged, VhostDeleted, PermissionsSet, PermissionsCleared,
                 TopicPermissionsSet, TopicPermissionsCleared, GlobalParameterSet,
                 GlobalParameterCleared, VhostNumbered, VhostIdsUsed>;

// All facts of one command: durable together or not at all.
using CatalogRecord = std::vector<CatalogEvent>;

}  // namespace revenant
