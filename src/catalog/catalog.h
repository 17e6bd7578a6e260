// Catalog: users, vhosts and permissions of the node; a second, smaller engine. Single-threaded and
// pure: commands in, facts out. Others see it through immutable snapshots. START READING HERE.
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
    std::string text;  // For people: the reason HTTP and the command line show.
    friend bool operator==(const CatalogRefusal&, const CatalogRefusal&) = default;
};

// What virtual hosts whose names match are given when they are made.
struct NewVhostLimits {
    std::shared_ptr<const Pattern> pattern;  // absent: every name
    VhostLimits limits;
};

// A user with permissions in virtual hosts whose names match, given when they are made. The user is
// made if there is none of this name; one that exists keeps its password and tags.
struct NewVhostUser {
    std::shared_ptr<const Pattern> pattern;  // absent: every name
    User user;
    Permissions permissions = {".*", ".*", ".*"};
};

class Catalog {
  public:
    // Longest name of a user or vhost: what a short string of AMQP can carry.
    static constexpr std::size_t name_bytes_max = 255;

    // Applies the facts and returns them as one record; empty when the wish was fulfilled already.
    Result<CatalogRecord, CatalogRefusal> handle(const CatalogCommand& command);
    // Facts from the journal, in their order. False: one contradicts those before it, and the
    // catalog is of no use.
    [[nodiscard]] bool replay(const CatalogRecord& record);
    // Ids up to this one are taken by directories that the catalog does not know.
    void reserve_vhost_ids(std::uint64_t last);

    // The configuration key vhost_max; no limit unless set.
    void limit_vhosts(std::size_t vhosts_max) { vhosts_max_ = vhosts_max; }

    // The configuration keys default_limits.vhosts: the first that matches counts.
    void limit_new_vhosts(std::vector<NewVhostLimits> limits) {
        new_vhost_limits_ = std::move(limits);
    }

    // The configuration keys default_users: every one that matches counts.
    void give_new_vhosts(std::vector<NewVhostUser> users) { new_vhost_users_ = std::move(users); }

    const AccessRules& rules() const { return rules_; }
    // Grows with every fact.
    std::uint64_t version() const { return version_; }
    // The table of the present rules; made anew only after a change.
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

// The facts that make these rules of nothing.
CatalogRecord events_for(const AccessRules& rules);

// What a node without a catalog begins with. amqp091 appendix B
struct InitialDefinitions {
    std::string vhost = "/";
    std::string user = "guest";
    std::string password = "guest";
    std::vector<std::string> tags = {"administrator"};
    Permissions permissions = {".*", ".*", ".*"};
};
std::vector<CatalogCommand> initial_commands(const InitialDefinitions& content, Salt salt,
                                             HashAlgorithm algorithm = HashAlgorithm::sha256);

// "management, custom" to its two tags; empty parts are dropped. management 4.9
std::vector<std::string> split_tags(std::string_view comma_separated);

}  // namespace revenant
