#include "catalog/catalog.h"

#include "base/base64.h"
#include "base/check.h"

#include <algorithm>
#include <array>
#include <utility>

namespace revenant {
namespace {

using Kind = CatalogRefusal::Kind;
using Checked = Result<void, CatalogRefusal>;

Unexpected<CatalogRefusal> refuse(Kind kind, std::string text) {
    return {CatalogRefusal{kind, std::move(text)}};
}

Checked check_name(std::string_view what, const std::string& name) {
    if (name.empty()) return refuse(Kind::invalid_name, std::string(what) + " name is empty");
    if (name.size() > Catalog::name_bytes_max)
        return refuse(Kind::invalid_name, std::string(what) + " name is longer than " +
                                              std::to_string(Catalog::name_bytes_max) + " bytes");
    return {};
}

Checked check_pattern(const std::string& source) {
    const auto compiled = Pattern::compile(source);
    if (!compiled)
        return refuse(Kind::invalid_pattern,
                      "invalid regexp '" + source + "': " + compiled.error());
    return {};
}

Checked check_patterns(const Permissions& permissions) {
    REVENANT_TRY_VOID(check_pattern(permissions.configure));
    REVENANT_TRY_VOID(check_pattern(permissions.write));
    REVENANT_TRY_VOID(check_pattern(permissions.read));
    return {};
}

Checked check_hash(const PasswordHash& password) {
    if (!base64_decode(password.base64))
        return refuse(Kind::invalid_password_hash, "password hash is not base64");
    return {};
}

// RabbitMQ writes queue types by name and by module name.
Result<std::string, CatalogRefusal> queue_type(const std::string& name) {
    struct Spelling {
        std::string_view given;
        std::string_view kept;
    };
    constexpr std::array spellings{
        Spelling{"", ""},
        Spelling{"undefined", ""},
        Spelling{"classic", "classic"},
        Spelling{"rabbit_classic_queue", "classic"},
        Spelling{"quorum", "quorum"},
        Spelling{"rabbit_quorum_queue", "quorum"},
    };
    for (const auto& spelling : spellings)
        if (spelling.given == name) return std::string(spelling.kept);
    // Refuses streams here instead of with every queue declaration.
    return refuse(Kind::invalid_queue_type,
                  "invalid default queue type '" + name + "': must be 'classic' or 'quorum'");
}

UserLimits merged(UserLimits old, const UserLimits& with) {
    if (with.max_connections) old.max_connections = with.max_connections;
    if (with.max_channels) old.max_channels = with.max_channels;
    return old;
}

VhostLimits merged(VhostLimits old, const VhostLimits& with) {
    if (with.max_connections) old.max_connections = with.max_connections;
    if (with.max_queues) old.max_queues = with.max_queues;
    return old;
}

// Only a forged catalog can come near this limit.
constexpr std::uint64_t vhost_ids_max = std::uint64_t{1} << 63;

// Whether an event from disk fits the rules it is applied to. As in the engine, the check is
// structural: the event may be older than the checks for commands.
struct Fits {
    const AccessRules& rules;

    bool has_user(const std::string& name) const { return rules.users.contains(name); }
    bool has_vhost(const std::string& name) const { return rules.vhosts.contains(name); }

    bool operator()(const UserAdded& event) const { return !has_user(event.user.name); }
    bool operator()(const PasswordChanged& event) const { return has_user(event.user); }
    bool operator()(const TagsSet& event) const { return has_user(event.user); }
    bool operator()(const UserLimitsSet& event) const { return has_user(event.user); }
    bool operator()(const UserDeleted& event) const { return has_user(event.name); }
    bool operator()(const VhostAdded& event) const {
        return !has_vhost(event.vhost.name) && rules.last_vhost_id < vhost_ids_max;
    }
    bool operator()(const VhostChanged& event) const { return has_vhost(event.vhost.name); }
    bool operator()(const VhostDeleted& event) const { return has_vhost(event.name); }
    bool operator()(const PermissionsSet&) const { return true; }
    bool operator()(const PermissionsCleared& event) const {
        return rules.permissions.contains(event.of);
    }
    bool operator()(const TopicPermissionsSet&) const { return true; }
    bool operator()(const TopicPermissionsCleared& event) const {
        return rules.topic_permissions.contains(event.of);
    }
    bool operator()(const GlobalParameterSet&) const { return true; }
    bool operator()(const GlobalParameterCleared& event) const {
        return rules.global_parameters.contains(event.name);
    }
    bool operator()(const VhostNumbered& event) const {
        return has_vhost(event.vhost) && event.id > 0 && event.id <= vhost_ids_max;
    }
    bool operator()(const VhostIdsUsed& event) const {
        return event.last <= vhost_ids_max &&
               std::all_of(rules.vhosts.begin(), rules.vhosts.end(),
                           [&](const auto& vhost) { return vhost.second.id <= event.last; });
    }
};

// Applies events to the rules. It decides nothing: an event that does not fit is a bug.
struct Apply {
    AccessRules& rules;

    User& user(const std::string& name) const {
        const auto found = rules.users.find(name);
        CHECK(found != rules.users.end());
        return found->second;
    }

    void operator()(const UserAdded& event) const {
        const auto [at, added] = rules.users.emplace(event.user.name, event.user);
        CHECK(added);
    }
    void operator()(const PasswordChanged& event) const {
        user(event.user).password = event.password;
    }
    void operator()(const TagsSet& event) const { user(event.user).tags = event.tags; }
    void operator()(const UserLimitsSet& event) const { user(event.user).limits = event.limits; }
    void operator()(const UserDeleted& event) const { CHECK(rules.users.erase(event.name) == 1); }

    void operator()(const VhostAdded& event) const {
        const auto [at, added] = rules.vhosts.emplace(event.vhost.name, event.vhost);
        CHECK(added);
        at->second.id = ++rules.last_vhost_id;
        at->second.has_named_directory = true;
    }
    void operator()(const VhostChanged& event) const {
        const auto found = rules.vhosts.find(event.vhost.name);
        CHECK(found != rules.vhosts.end());
        Vhost changed = event.vhost;
        changed.id = found->second.id;
        changed.has_named_directory = found->second.has_named_directory;
        found->second = std::move(changed);
    }
    void operator()(const VhostNumbered& event) const {
        const auto found = rules.vhosts.find(event.vhost);
        CHECK(found != rules.vhosts.end());
        found->second.id = event.id;
        found->second.has_named_directory = event.has_named_directory;
        rules.last_vhost_id = std::max(rules.last_vhost_id, event.id);
    }
    void operator()(const VhostIdsUsed& event) const { rules.last_vhost_id = event.last; }
    void operator()(const VhostDeleted& event) const { CHECK(rules.vhosts.erase(event.name) == 1); }

    void operator()(const PermissionsSet& event) const {
        rules.permissions[event.of] = event.permissions;
    }
    void operator()(const PermissionsCleared& event) const {
        CHECK(rules.permissions.erase(event.of) == 1);
    }
    void operator()(const TopicPermissionsSet& event) const {
        rules.topic_permissions[event.of] = event.permissions;
    }
    void operator()(const TopicPermissionsCleared& event) const {
        CHECK(rules.topic_permissions.erase(event.of) == 1);
    }
    void operator()(const GlobalParameterSet& event) const {
        rules.global_parameters[event.name] = event.value;
    }
    void operator()(const GlobalParameterCleared& event) const {
        CHECK(rules.global_parameters.erase(event.name) == 1);
    }
};

}  // namespace

// Handles one command. All checks precede the first event, so a refused command changes nothing.
class CatalogTurn {
  public:
    explicit CatalogTurn(Catalog& catalog) : catalog_(catalog) {}
    CatalogRecord take_record() { return std::move(record_); }
    bool changed_nothing() const { return record_.empty(); }

    Checked operator()(const AddUser& command) {
        REVENANT_TRY_VOID(check_name("user", command.name));
        REVENANT_TRY_VOID(check_hash(command.password));
        if (rules().users.contains(command.name))
            return refuse(Kind::user_already_exists,
                          "User \"" + command.name + "\" already exists");
        emit(UserAdded{{command.name, command.password, command.tags, command.limits}});
        return {};
    }

    Checked operator()(const PutUser& command) {
        REVENANT_TRY_VOID(check_name("user", command.name));
        const PasswordHash password = command.password.value_or(PasswordHash{});
        REVENANT_TRY_VOID(check_hash(password));
        if (rules().users.contains(command.name)) {
            change_password(command.name, password);
            set_tags(command.name, command.tags);
            if (command.limits) set_limits(command.name, *command.limits);
            return {};
        }
        for (const auto& [vhost, permissions] : command.permissions) {
            REVENANT_TRY_VOID(find_vhost(vhost));
            REVENANT_TRY_VOID(check_patterns(permissions));
        }
        emit(UserAdded{
            {command.name, password, command.tags, command.limits.value_or(UserLimits{})}});
        for (const auto& [vhost, permissions] : command.permissions)
            emit(PermissionsSet{{command.name, vhost}, permissions});
        return {};
    }

    Checked operator()(const ChangePassword& command) {
        REVENANT_TRY_VOID(find_user(command.user));
        REVENANT_TRY_VOID(check_hash(command.password));
        change_password(command.user, command.password);
        return {};
    }

    Checked operator()(const ClearPassword& command) {
        REVENANT_TRY_VOID(find_user(command.user));
        change_password(command.user, {});
        return {};
    }

    Checked operator()(const SetTags& command) {
        REVENANT_TRY_VOID(find_user(command.user));
        set_tags(command.user, command.tags);
        return {};
    }

    Checked operator()(const DeleteUser& command) {
        REVENANT_TRY_VOID(find_user(command.name));
        clear_every([&](const auto& of) { return of.user == command.name; });
        emit(UserDeleted{command.name});
        return {};
    }

    Checked operator()(const PutVhost& command) {
        REVENANT_TRY_VOID(check_name("virtual host", command.name));
        const auto found = rules().vhosts.find(command.name);
        const bool is_new = found == rules().vhosts.end();
        Vhost vhost = is_new ? Vhost{.name = command.name} : found->second;
        if (command.description) vhost.description = *command.description;
        if (command.tags) vhost.tags = *command.tags;
        if (command.default_queue_type) {
            REVENANT_TRY(vhost.default_queue_type, queue_type(*command.default_queue_type));
        }
        if (command.compat) {
            if (!command.compat->empty() && *command.compat != "3.12" && *command.compat != "4.3") {
                return refuse(Kind::invalid_compat,
                              "unknown compat '" + *command.compat + "': must be '4.3' or '3.12'");
            }
            vhost.compat = *command.compat;
        }
        if (command.tracing) vhost.tracing = *command.tracing;
        if (!is_new) {
            change_vhost(std::move(vhost));
            return {};
        }
        if (rules().last_vhost_id >= vhost_ids_max)
            return refuse(Kind::vhost_limit_exceeded,
                          "cannot create vhost '" + command.name + "': no vhost id is left");
        if (rules().vhosts.size() >= catalog_.vhosts_max_)
            return refuse(Kind::vhost_limit_exceeded,
                          "cannot create vhost '" + command.name + "': vhost limit of " +
                              std::to_string(catalog_.vhosts_max_) + " is reached");
        for (const NewVhostLimits& rule : catalog_.new_vhost_limits_) {
            if (rule.pattern && !rule.pattern->matches(command.name)) continue;
            vhost.limits = rule.limits;
            break;
        }
        emit(VhostAdded{std::move(vhost)});
        const FoundDirectory directory = command.directory.value_or(FoundDirectory{});
        const std::uint64_t next = rules().vhosts.at(command.name).id;
        emit(VhostNumbered{command.name, directory.id != 0 ? directory.id : next,
                           directory.is_named});
        if (command.grant_to && rules().users.contains(*command.grant_to))
            emit(PermissionsSet{{*command.grant_to, command.name}, {".*", ".*", ".*"}});
        add_default_users(command.name);
        return {};
    }

    Checked operator()(const ProtectVhost& command) {
        REVENANT_TRY(Vhost vhost, find_vhost(command.name));
        vhost.protected_from_deletion = command.protected_from_deletion;
        change_vhost(std::move(vhost));
        return {};
    }

    Checked operator()(const DeleteVhost& command) {
        REVENANT_TRY(const Vhost vhost, find_vhost(command.name));
        if (vhost.protected_from_deletion)
            return refuse(Kind::vhost_is_protected, "Refusing to delete virtual host '" +
                                                        command.name +
                                                        "' because it is protected from deletion");
        clear_every([&](const auto& of) { return of.vhost == command.name; });
        emit(VhostDeleted{command.name});
        return {};
    }

    Checked operator()(const SetPermissions& command) {
        REVENANT_TRY_VOID(find_both(command.user, command.vhost));
        REVENANT_TRY_VOID(check_patterns(command.permissions));
        const UserAndVhost of{command.user, command.vhost};
        const auto found = rules().permissions.find(of);
        if (found == rules().permissions.end() || found->second != command.permissions)
            emit(PermissionsSet{of, command.permissions});
        return {};
    }

    Checked operator()(const ClearPermissions& command) {
        REVENANT_TRY_VOID(find_both(command.user, command.vhost));
        const UserAndVhost of{command.user, command.vhost};
        if (rules().permissions.contains(of)) emit(PermissionsCleared{of});
        return {};
    }

    Checked operator()(const SetTopicPermissions& command) {
        REVENANT_TRY_VOID(find_both(command.user, command.vhost));
        REVENANT_TRY_VOID(check_pattern(command.permissions.write));
        REVENANT_TRY_VOID(check_pattern(command.permissions.read));
        const TopicKey of{command.user, command.vhost, command.exchange};
        const auto found = rules().topic_permissions.find(of);
        if (found == rules().topic_permissions.end() || found->second != command.permissions)
            emit(TopicPermissionsSet{of, command.permissions});
        return {};
    }

    Checked operator()(const ClearTopicPermissions& command) {
        REVENANT_TRY_VOID(find_both(command.user, command.vhost));
        clear_topics([&](const TopicKey& of) {
            return of.user == command.user && of.vhost == command.vhost &&
                   (!command.exchange || of.exchange == *command.exchange);
        });
        return {};
    }

    Checked operator()(const SetUserLimits& command) {
        REVENANT_TRY_VOID(find_user(command.user));
        set_limits(command.user, command.limits);
        return {};
    }

    Checked operator()(const ClearUserLimits& command) {
        REVENANT_TRY(const User user, find_user(command.user));
        UserLimits limits = user.limits;
        if (!command.only || *command.only == UserLimit::max_connections)
            limits.max_connections.reset();
        if (!command.only || *command.only == UserLimit::max_channels) limits.max_channels.reset();
        if (limits != user.limits) emit(UserLimitsSet{command.user, limits});
        return {};
    }

    Checked operator()(const SetVhostLimits& command) {
        REVENANT_TRY(Vhost vhost, find_vhost(command.vhost));
        vhost.limits = merged(vhost.limits, command.limits);
        change_vhost(std::move(vhost));
        return {};
    }

    Checked operator()(const ClearVhostLimits& command) {
        REVENANT_TRY(Vhost vhost, find_vhost(command.vhost));
        if (!command.only || *command.only == VhostLimit::max_connections)
            vhost.limits.max_connections.reset();
        if (!command.only || *command.only == VhostLimit::max_queues)
            vhost.limits.max_queues.reset();
        change_vhost(std::move(vhost));
        return {};
    }

    Checked operator()(const SetGlobalParameter& command) {
        REVENANT_TRY_VOID(check_name("global parameter", command.name));
        const auto found = rules().global_parameters.find(command.name);
        if (found == rules().global_parameters.end() || found->second != command.value)
            emit(GlobalParameterSet{command.name, command.value});
        return {};
    }

    Checked operator()(const ClearGlobalParameter& command) {
        if (!rules().global_parameters.contains(command.name))
            return refuse(Kind::no_such_parameter, "Global parameter does not exist");
        emit(GlobalParameterCleared{command.name});
        return {};
    }

  private:
    const AccessRules& rules() const { return catalog_.rules_; }

    void emit(CatalogEvent event) {
        catalog_.apply(event);
        record_.push_back(std::move(event));
    }

    Result<User, CatalogRefusal> find_user(const std::string& name) const {
        const auto found = rules().users.find(name);
        if (found == rules().users.end())
            return refuse(Kind::no_such_user, "User \"" + name + "\" does not exist");
        return found->second;
    }

    Result<Vhost, CatalogRefusal> find_vhost(const std::string& name) const {
        const auto found = rules().vhosts.find(name);
        if (found == rules().vhosts.end())
            return refuse(Kind::no_such_vhost, "Virtual host '" + name + "' does not exist");
        return found->second;
    }

    Checked find_both(const std::string& user, const std::string& vhost) const {
        REVENANT_TRY_VOID(find_user(user));
        REVENANT_TRY_VOID(find_vhost(vhost));
        return {};
    }

    void add_default_users(const std::string& vhost) {
        for (const NewVhostUser& rule : catalog_.new_vhost_users_) {
            if (rule.pattern && !rule.pattern->matches(vhost)) continue;
            if (!rules().users.contains(rule.user.name)) emit(UserAdded{rule.user});
            emit(PermissionsSet{{rule.user.name, vhost}, rule.permissions});
        }
    }

    // Each of these emits an event only if the value changes.
    void change_password(const std::string& user, const PasswordHash& password) {
        if (rules().users.at(user).password != password) emit(PasswordChanged{user, password});
    }
    void set_tags(const std::string& user, const std::vector<std::string>& tags) {
        if (rules().users.at(user).tags != tags) emit(TagsSet{user, tags});
    }
    void set_limits(const std::string& user, const UserLimits& added) {
        const UserLimits old = rules().users.at(user).limits;
        const UserLimits limits = merged(old, added);
        if (limits != old) emit(UserLimitsSet{user, limits});
    }
    void change_vhost(Vhost vhost) {
        if (rules().vhosts.at(vhost.name) != vhost) emit(VhostChanged{std::move(vhost)});
    }

    template <typename Predicate>
    void clear_topics(Predicate concerned) {
        std::vector<TopicKey> keys;
        for (const auto& [of, permissions] : rules().topic_permissions)
            if (concerned(of)) keys.push_back(of);
        for (auto& of : keys) emit(TopicPermissionsCleared{std::move(of)});
    }

    template <typename Predicate>
    void clear_every(Predicate concerned) {
        clear_topics(concerned);
        std::vector<UserAndVhost> keys;
        for (const auto& [of, permissions] : rules().permissions)
            if (concerned(of)) keys.push_back(of);
        for (auto& of : keys) emit(PermissionsCleared{std::move(of)});
    }

    Catalog& catalog_;
    CatalogRecord record_;
};

Result<CatalogRecord, CatalogRefusal> Catalog::handle(const CatalogCommand& command) {
    CatalogTurn turn{*this};
    if (auto done = std::visit(turn, command); !done) {
        CHECK(turn.changed_nothing());
        return Unexpected{std::move(done).error()};
    }
    return turn.take_record();
}

bool Catalog::replay(const CatalogRecord& record) {
    for (const auto& event : record) {
        if (!std::visit(Fits{rules_}, event)) return false;
        apply(event);
    }
    return true;
}

void Catalog::reserve_vhost_ids(std::uint64_t last) {
    CHECK(last <= vhost_ids_max);
    rules_.last_vhost_id = std::max(rules_.last_vhost_id, last);
}

void Catalog::apply(const CatalogEvent& event) {
    std::visit(Apply{rules_}, event);
    ++version_;
}

std::shared_ptr<const AccessTable> Catalog::snapshot() {
    if (!snapshot_ || snapshot_->version() != version_)
        snapshot_ = std::make_shared<const AccessTable>(rules_, version_, snapshot_.get());
    return snapshot_;
}

CatalogRecord events_for(const AccessRules& rules) {
    CatalogRecord facts;
    for (const auto& [name, user] : rules.users) facts.push_back(UserAdded{user});
    for (const auto& [name, vhost] : rules.vhosts) {
        facts.push_back(VhostAdded{vhost});
        facts.push_back(VhostNumbered{name, vhost.id, vhost.has_named_directory});
    }
    if (rules.last_vhost_id > 0) facts.push_back(VhostIdsUsed{rules.last_vhost_id});
    for (const auto& [of, permissions] : rules.permissions) {
        facts.push_back(PermissionsSet{of, permissions});
    }
    for (const auto& [of, permissions] : rules.topic_permissions) {
        facts.push_back(TopicPermissionsSet{of, permissions});
    }
    for (const auto& [name, value] : rules.global_parameters) {
        facts.push_back(GlobalParameterSet{name, value});
    }
    return facts;
}

std::vector<CatalogCommand> initial_commands(const InitialDefinitions& content, Salt salt,
                                             HashAlgorithm algorithm) {
    return {
        PutVhost{.name = content.vhost},
        AddUser{content.user, make_hash(content.password, salt, algorithm), content.tags, {}},
        SetPermissions{content.user, content.vhost, content.permissions},
    };
}

std::vector<std::string> split_tags(std::string_view comma_separated) {
    std::vector<std::string> tags;
    while (!comma_separated.empty()) {
        const auto comma = std::min(comma_separated.find(','), comma_separated.size());
        std::string_view tag = comma_separated.substr(0, comma);
        comma_separated.remove_prefix(std::min(comma + 1, comma_separated.size()));
        while (tag.starts_with(' ')) tag.remove_prefix(1);
        while (tag.ends_with(' ')) tag.remove_suffix(1);
        if (!tag.empty()) tags.emplace_back(tag);
    }
    return tags;
}

}  // namespace revenant
