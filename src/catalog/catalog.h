// Catalog: users, vhosts and permissions of the node, organized like the engine. Single-threaded
// and deterministic: commands in, events out. Other modules see it through immutable snapshots.
// START READING HERE.
#pragma once

#include "auth/access.h"
#include "base/result.h"
#include "catalog/catalog_command.h"
#include "catalog/catalog_event.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace revenant {

struct CatalogRefusal {
    enum class Kind : std::uint8_t {
        no_such_user,
        no_such_vhost,
        user_already_exists,
        invalid_name,
        invalid_pattern,
        invalid_password_hash,
        invalid_queue_type,
        invalid_compat,
        vhost_is_protected,
        vhost_limit_exceeded,
        no_such_parameter,
        disk_is_full,
    };
    Kind kind;
    std::string text;  // shown by HTTP and the command line
    friend bool operator==(const CatalogRefusal&, const CatalogRefusal&) = default;
};

// Limits for new virtual hosts whose names match.
struct NewVhostLimits {
    std::shared_ptr<const Pattern> pattern;  // absent: every name
    VhostLimits limits;
};

// A user that gets permissions in new virtual hosts whose names match. The user is created if it
// does not exist; an existing user keeps its password and tags.
struct NewVhostUser {
    std::shared_ptr<const Pattern> pattern;  // absent: every name
    User user;
    Permissions permissions = {".*", ".*", ".*"};
};

class Catalog {
  public:
    // Longest name of a user or vhost: the size of an AMQP short string.
    static constexpr std::size_t name_bytes_max = 255;

    // Applies the events of a command and returns them as one record, which is empty if the command
    // changes nothing.
    Result<CatalogRecord, CatalogRefusal> handle(const CatalogCommand& command);
    // Applies events from the journal, in order. Returns false if one contradicts earlier events;
    // the catalog is then unusable.
    [[nodiscard]] bool replay(const CatalogRecord& record);
    // Reserves ids that are used by directories of vhosts that are not in the catalog.
    void reserve_vhost_ids(std::uint64_t last);

    // The configuration key vhost_max; unlimited unless set.
    void limit_vhosts(std::size_t vhosts_max) { vhosts_max_ = vhosts_max; }

    // The configuration keys default_limits.vhosts. The first match applies.
    void limit_new_vhosts(std::vector<NewVhostLimits> limits) {
        new_vhost_limits_ = std::move(limits);
    }

    // The configuration keys default_users. All matches apply.
    void give_new_vhosts(std::vector<NewVhostUser> users) { new_vhost_users_ = std::move(users); }

    const AccessRules& rules() const { return rules_; }
    // Increases with every event.
    std::uint64_t version() const { return version_; }
    // The table of the current rules, rebuilt only after a change.
    std::shared_ptr<const AccessTable> snapshot();

  private:
    friend class CatalogTurn;
    void apply(const CatalogEvent& event);

    AccessRules rules_;
    std::uint64_t version_ = 0;
    std::size_t vhosts_max_ = SIZE_MAX;
    std::vector<NewVhostLimits> new_vhost_limits_;
    std::vector<NewVhostUser> new_vhost_users_;
    std::shared_ptr<const AccessTable> snapshot_;
};

// The events that create these rules in an empty catalog.
CatalogRecord events_for(const AccessRules& rules);

// The definitions that a new node starts with. amqp091 appendix B
struct InitialDefinitions {
    std::string vhost = "/";
    std::string user = "guest";
    std::string password = "guest";
    std::vector<std::string> tags = {"administrator"};
    Permissions permissions = {".*", ".*", ".*"};
};
std::vector<CatalogCommand> initial_commands(const InitialDefinitions& content, Salt salt,
                                             HashAlgorithm algorithm = HashAlgorithm::sha256);

// Splits "management, custom" into two tags; empty parts are dropped. management 4.9
std::vector<std::string> split_tags(std::string_view comma_separated);

}  // namespace revenant
