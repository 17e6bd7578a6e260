#include "auth/access.h"

#include "base/check.h"
#include "base/probe.h"

#include <algorithm>
#include <array>

namespace revenant {
namespace {

// An empty pattern allows only the empty name. amqp091 15.1
std::string_view or_only_empty(std::string_view source) { return source.empty() ? "^$" : source; }

// Expands in one pass, so that a user named "{vhost}" is not expanded again.
std::string expand(std::string_view source, std::string_view user, std::string_view vhost) {
    struct Variable {
        std::string_view name;
        std::string_view value;
    };
    const std::array<Variable, 2> variables{{{"{username}", user}, {"{vhost}", vhost}}};
    std::string expanded;
    while (!source.empty()) {
        const auto found =
            std::find_if(variables.begin(), variables.end(),
                         [&](const Variable& one) { return source.starts_with(one.name); });
        if (found != variables.end()) {
            expanded += escape_for_pattern(found->value);
            source.remove_prefix(found->name.size());
        } else {
            expanded.push_back(source.front());
            source.remove_prefix(1);
        }
    }
    return expanded;
}

bool matches(const std::shared_ptr<const Pattern>& pattern, std::string_view name) {
    return pattern && pattern->matches(name);
}

}  // namespace

bool User::has_tag(std::string_view tag) const {
    return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

std::string_view permission_name(Permission permission) {
    switch (permission) {
        case Permission::configure:
            return "configure";
        case Permission::write:
            return "write";
        case Permission::read:
            return "read";
    }
    UNREACHABLE();
}

AccessTable::AccessTable(AccessRules rules, std::uint64_t version, const AccessTable* previous)
    : rules_(std::move(rules)), version_(version) {
    const auto pattern = [&](std::string_view source) {
        return intern(or_only_empty(source), previous);
    };
    for (const auto& [of, given] : rules_.permissions)
        permissions_[of.user][of.vhost].grant =
            Grant{pattern(given.configure), pattern(given.write), pattern(given.read)};
    for (const auto& [of, given] : rules_.topic_permissions)
        permissions_[of.user][of.vhost].topics.push_back(
            {of.exchange, pattern(expand(given.write, of.user, of.vhost)),
             pattern(expand(given.read, of.user, of.vhost))});
}

AccessTable::SharedPattern AccessTable::intern(std::string_view source,
                                               const AccessTable* previous) {
    if (const auto found = patterns_.find(source); found != patterns_.end()) return found->second;
    SharedPattern shared;
    if (previous) {
        const auto found = previous->patterns_.find(source);
        if (found != previous->patterns_.end()) shared = found->second;
    }
    if (!shared) {
        auto compiled = Pattern::compile(source);
        if (compiled) {
            shared = std::make_shared<const Pattern>(std::move(compiled).value());
        } else {
            // The catalog checks patterns when they are set, but another version of the library may
            // read the journal, and expansion makes a source longer. Such a row allows nothing.
            PROBE("access.pattern_refused");
        }
    }
    patterns_.emplace(source, shared);
    return shared;
}

const User* AccessTable::find_user(std::string_view name) const {
    const auto found = rules_.users.find(name);
    return found == rules_.users.end() ? nullptr : &found->second;
}

const Vhost* AccessTable::find_vhost(std::string_view name) const {
    const auto found = rules_.vhosts.find(name);
    return found == rules_.vhosts.end() ? nullptr : &found->second;
}

const AccessTable::UserPermissions* AccessTable::find_permissions(std::string_view user,
                                                                  std::string_view vhost) const {
    const auto of_user = permissions_.find(user);
    if (of_user == permissions_.end()) return nullptr;
    const auto in_vhost = of_user->second.find(vhost);
    return in_vhost == of_user->second.end() ? nullptr : &in_vhost->second;
}

bool AccessTable::can_access_vhost(std::string_view user, std::string_view vhost) const {
    const UserPermissions* rights = find_permissions(user, vhost);
    return rights && rights->grant;
}

bool AccessTable::allowed(std::string_view user, std::string_view vhost, Permission permission,
                          std::string_view resource) const {
    const UserPermissions* rights = find_permissions(user, vhost);
    if (!rights || !rights->grant) return false;
    switch (permission) {
        case Permission::configure:
            return matches(rights->grant->configure, resource);
        case Permission::write:
            return matches(rights->grant->write, resource);
        case Permission::read:
            return matches(rights->grant->read, resource);
    }
    UNREACHABLE();
}

bool AccessTable::topic_allowed(std::string_view user, std::string_view vhost,
                                std::string_view exchange, Permission permission,
                                std::string_view routing_key) const {
    CHECK(permission != Permission::configure);
    const UserPermissions* rights = find_permissions(user, vhost);
    if (!rights) return true;
    const auto found =
        std::find_if(rights->topics.begin(), rights->topics.end(),
                     [&](const ExchangeGrant& one) { return one.exchange == exchange; });
    if (found == rights->topics.end()) return true;
    return matches(permission == Permission::write ? found->write : found->read, routing_key);
}

}  // namespace revenant
