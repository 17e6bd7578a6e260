// Policies: rules by name pattern that give queues and exchanges settings in addition to their
// declared arguments (dead-lettering 3 and 21).
#pragma once

#include "engine/words/declarations.h"
#include "engine/words/queue_settings.h"
#include "message/value.h"
#include "pattern/pattern.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::engine {

// Operator policies can only limit (DL-198).
enum class PolicyScope : std::uint8_t { user, operator_only };
enum class ApplyTo : std::uint8_t {
    all,
    queues,
    classic_queues,
    quorum_queues,
    streams,
    exchanges,
};
std::string_view to_string(ApplyTo apply_to);
std::optional<ApplyTo> parse_apply_to(std::string_view text);

struct Policy {
    std::string name;
    std::string pattern;
    ApplyTo apply_to = ApplyTo::all;
    std::int64_t priority = 0;
    Table definition;
    friend bool operator==(const Policy&, const Policy&) = default;
};

// The error in the policy, in RabbitMQ's words (DL-192 to DL-198).
std::optional<std::string> check_policy(PolicyScope scope, const Policy& policy);

// All policies of a virtual host.
class PolicyTable {
  public:
    void set(PolicyScope scope, Policy policy);
    void clear(PolicyScope scope, std::string_view name);
    const Policy* find(PolicyScope scope, std::string_view name) const;
    std::vector<const Policy*> list(PolicyScope scope) const;  // by name

    AppliedPolicy for_queue(QueueKind kind, std::string_view name) const;
    AppliedPolicy for_exchange(std::string_view name) const;

  private:
    enum class Target : std::uint8_t { classic_queue, quorum_queue, exchange };
    struct CompiledPolicy {
        Policy policy;
        std::optional<Pattern> pattern;  // empty only if a replayed pattern no longer compiles
    };
    using PolicyMap = std::map<std::string, CompiledPolicy, std::less<>>;

    const PolicyMap& policies_in(PolicyScope scope) const {
        return scope == PolicyScope::user ? policies_ : operator_policies_;
    }
    static bool is_applicable(const Policy& policy, Target target);
    static const Policy* best(const PolicyMap& policies_in, Target target, std::string_view name);
    AppliedPolicy apply(Target target, std::string_view name) const;

    PolicyMap policies_;
    PolicyMap operator_policies_;
};

// Combines arguments and policies into the effective settings, each key on its own (DL-23).
QueueSettings effective_settings(const QueueDeclaration& declaration, const AppliedPolicy& policy,
                                 Compatibility compatibility);
// The argument takes precedence over the policy.
std::optional<std::string> effective_alternate_exchange(const Table& arguments,
                                                        const AppliedPolicy& policy);

}  // namespace revenant::engine
