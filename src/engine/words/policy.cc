#include "engine/words/policy.h"

#include "base/check.h"
#include "base/time.h"
#include "engine/words/queue_type_mask.h"

#include <algorithm>
#include <set>
#include <utility>

namespace revenant::engine {
namespace {

constexpr std::int64_t delivery_limit_default = 20;  // DL-148
constexpr std::size_t pattern_bytes_max = 1024;      // DL-192

// Formats a value as RabbitMQ does in its error texts: <<"text">>, 5, true.
std::string as_erlang_term(const Value& value) {
    if (value.as_string() != nullptr) return "<<\"" + *value.as_string() + "\">>";
    if (const Array* const array = value.as_array()) {
        std::string terms;
        for (const Value& element : *array)
            terms += (terms.empty() ? "" : ",") + as_erlang_term(element);
        return "[" + terms + "]";
    }
    if (const Table* const table = value.as_table()) {
        std::string terms;
        for (const Field& field : *table) {
            terms += (terms.empty() ? "" : ",") + ("<<\"" + field.name + "\">> => ") +
                     as_erlang_term(field.value);
        }
        return "#{" + terms + "}";
    }
    return value.type == ValueType::void_value ? "null" : display(value);
}

// ------------------------------------------------------------------------- keys

bool is_text(const Value& value) { return value.as_string() != nullptr; }
bool is_name(const Value& value) {
    return is_text(value) && value.as_string()->size() <= name_bytes_max;
}
bool is_integer(const Value& value) { return value.as_integer() != nullptr; }
bool is_count(const Value& value) { return is_integer(value) && *value.as_integer() >= 0; }
bool is_too_long(const Value& value) {
    return is_integer(value) && *value.as_integer() > duration_ms_max;
}
// In milliseconds.
bool is_duration(const Value& value) { return is_count(value) && !is_too_long(value); }
bool is_positive_duration(const Value& value) {
    return is_duration(value) && *value.as_integer() > 0;
}

template <std::size_t count>
bool is_one_of(const Value& value, const std::string_view (&accepted)[count]) {
    return is_text(value) && std::find(std::begin(accepted), std::end(accepted),
                                       *value.as_string()) != std::end(accepted);
}
bool is_strategy(const Value& value) { return is_one_of(value, {"at-most-once", "at-least-once"}); }
bool is_overflow(const Value& value) {
    return is_one_of(value, {"drop-head", "reject-publish", "reject-publish-dlx"});
}
bool is_retry_type(const Value& value) {
    return is_one_of(value, {"disabled", "all", "failed", "returned"});
}
bool is_queue_mode(const Value& value) { return is_one_of(value, {"default", "lazy"}); }
bool is_queue_version(const Value& value) {
    return is_integer(value) && (*value.as_integer() == 1 || *value.as_integer() == 2);
}
bool is_locator(const Value& value) {
    return is_one_of(value, {"client-local", "balanced", "random", "least-leaders"});
}
bool is_ttl_mode(const Value& value) { return is_one_of(value, {"exact", "head"}); }

constexpr unsigned everywhere = classic_mask | quorum_mask | stream_mask;

// A key of a policy's definition (DL-195).
struct Key {
    std::string_view name;
    bool (*is_valid)(const Value& value);
    std::string_view meaning;  // … is not a valid <meaning>
    unsigned queues = everywhere;
    bool for_operators = false;  // DL-198
};
constexpr Key keys[] = {
    {"alternate-exchange", is_name, "alternate exchange name"},
    {"dead-letter-exchange", is_name, "dead letter exchange name", classic_mask | quorum_mask},
    {"dead-letter-routing-key", is_name, "dead letter routing key", classic_mask | quorum_mask},
    {"dead-letter-strategy", is_strategy, "dead letter strategy", quorum_mask},
    {"message-ttl", is_duration, "message TTL", classic_mask | quorum_mask, true},
    {"expires", is_positive_duration, "queue expiry", classic_mask | quorum_mask, true},
    {"max-length", is_count, "maximum length", classic_mask | quorum_mask, true},
    {"max-length-bytes", is_count, "maximum length in bytes", everywhere, true},
    {"max-in-memory-length", is_count, "maximum memory in bytes", quorum_mask, true},
    {"max-in-memory-bytes", is_count, "maximum memory in bytes", quorum_mask, true},
    {"overflow", is_overflow, "overflow value", classic_mask | quorum_mask, true},
    {"delivery-limit", is_integer, "delivery limit", quorum_mask, true},
    {"delayed-retry-type", is_retry_type, "delayed retry type", quorum_mask, true},
    {"delayed-retry-min", is_positive_duration, "delayed retry min", quorum_mask, true},
    {"delayed-retry-max", is_positive_duration, "delayed retry max", quorum_mask, true},
    {"ttl-mode", is_ttl_mode, "TTL mode", classic_mask | quorum_mask},
    {"queue-mode", is_queue_mode, "queue-mode value", classic_mask},
    {"queue-version", is_queue_version, "queue version", classic_mask | quorum_mask, true},
    {"queue-leader-locator", is_locator, "queue leader locator"},
    {"queue-master-locator", is_text, "queue master locator", classic_mask},
    {"target-group-size", is_count, "target group size", quorum_mask, true},
    {"member-placement-tag", is_text, "member placement tag", quorum_mask, true},
    {"consumer-timeout", is_duration, "consumer timeout"},
    {"consumer-disconnected-timeout", is_duration, "consumer disconnected timeout"},
    {"max-age", is_text, "max age", stream_mask},
    {"stream-max-segment-size-bytes", is_count, "segment size", stream_mask},
    {"stream-filter-size-bytes", is_count, "filter size", stream_mask},
    {"initial-cluster-size", is_count, "cluster size", stream_mask},
};

const Key* find_key(std::string_view name) {
    const auto* const found = std::find_if(std::begin(keys), std::end(keys),
                                           [&](const Key& key) { return key.name == name; });
    return found == std::end(keys) ? nullptr : found;
}

// ------------------------------------------------------------------------- checks

// RabbitMQ has no maximum for durations in a policy (DL-196). Here a larger number is taken for an
// error.
std::string invalid_value(const Key& key, const Value& value) {
    std::string text = as_erlang_term(value) + " is not a valid " + std::string(key.meaning);
    const bool lasts = key.is_valid == is_duration || key.is_valid == is_positive_duration;
    if (lasts && is_too_long(value)) text += ": at most " + std::to_string(duration_ms_max);
    return text;
}

std::optional<std::string> check_keys(PolicyScope scope, const Table& definition) {
    std::set<std::string_view> seen;
    for (const Field& field : definition) {
        if (!seen.insert(field.name).second) return field.name + " duplicate keys not allowed";
        const Key* const key = find_key(field.name);
        if (key == nullptr || (scope == PolicyScope::operator_only && !key->for_operators)) {
            return "[{<<\"" + field.name + "\">>," + as_erlang_term(field.value) +
                   "}] are not recognised policy settings";
        }
        if (!key->is_valid(field.value)) return invalid_value(*key, field.value);
    }
    return std::nullopt;
}

// DL-196
std::optional<std::string> check_retry(const Table& definition) {
    const Value* const type = find(definition, "delayed-retry-type");
    const Value* const min = find(definition, "delayed-retry-min");
    const Value* const max = find(definition, "delayed-retry-max");
    if (type != nullptr && *type->as_string() != "disabled" && min == nullptr) {
        return "delayed-retry-type needs delayed-retry-min";
    }
    if (min != nullptr && max != nullptr && *max->as_integer() < *min->as_integer()) {
        return "delayed-retry-max must not be smaller than delayed-retry-min";
    }
    return std::nullopt;
}

// ------------------------------------------------------------------------- merging

using Integer = std::optional<std::int64_t>;

Integer integer(const Table& table, std::string_view name) {
    const Value* const value = find(table, name);
    if (value == nullptr || value->as_integer() == nullptr) return std::nullopt;
    return *value->as_integer();
}

std::optional<std::string> text(const Table& table, std::string_view name) {
    const Value* const value = find(table, name);
    if (value == nullptr || value->as_string() == nullptr) return std::nullopt;
    return *value->as_string();
}

Integer smaller(Integer a, Integer b) {
    if (a && b) return std::min(*a, *b);
    return a ? a : b;
}

// A negative limit means unlimited; any other limit takes precedence (DL-149).
Integer tighter_limit(Integer a, Integer b) {
    if (a && b) return *a < 0 || *b < 0 ? std::max(*a, *b) : std::min(*a, *b);
    return a ? a : b;
}

// DL-199. Values from the journal may have types that are refused today: then the operator policy's
// value applies.
Value merged(std::string_view name, const Value& policy, const Value& operator_policy) {
    if (!is_integer(policy) || !is_integer(operator_policy)) return operator_policy;
    const auto by = [&](auto choose) {
        return Value::int64(*choose(*policy.as_integer(), *operator_policy.as_integer()));
    };
    if (name == "delivery-limit") return by(tighter_limit);
    if (name == "delayed-retry-min") {
        return Value::int64(std::max(*policy.as_integer(), *operator_policy.as_integer()));
    }
    constexpr std::string_view limits[] = {
        "expires",           "message-ttl",          "max-length",         "max-length-bytes",
        "delayed-retry-max", "max-in-memory-length", "max-in-memory-bytes"};
    if (std::find(std::begin(limits), std::end(limits), name) != std::end(limits)) {
        return by(smaller);
    }
    return operator_policy;
}

Table merge(const Policy* policy, const Policy* operator_policy) {
    Table definition;
    if (policy != nullptr) definition = policy->definition;
    if (operator_policy != nullptr) {
        for (const Field& field : operator_policy->definition) {
            const auto known =
                std::find_if(definition.begin(), definition.end(),
                             [&](const Field& other) { return other.name == field.name; });
            if (known == definition.end()) {
                definition.push_back(field);
            } else {
                known->value = merged(field.name, known->value, field.value);
            }
        }
    }
    std::sort(definition.begin(), definition.end(),
              [](const Field& a, const Field& b) { return a.name < b.name; });
    return definition;
}

Overflow to_overflow(const std::optional<std::string>& name) {
    if (name == "reject-publish") return Overflow::reject_publish;
    if (name == "reject-publish-dlx") return Overflow::reject_publish_dlx;
    return Overflow::drop_head;
}

DelayedRetry to_delayed_retry(const std::optional<std::string>& name) {
    if (name == "all") return DelayedRetry::all;
    if (name == "failed") return DelayedRetry::failed;
    if (name == "returned") return DelayedRetry::returned;
    return DelayedRetry::disabled;
}

// The two sources of a setting.
struct Sources {
    const Table& arguments;  // x-…
    const Table& policy;

    std::optional<std::string> argument_first(std::string_view name) const {
        if (auto own = text(arguments, "x-" + std::string(name))) return own;
        return text(policy, name);
    }
    // A name that is too long for a delivery, accepted by an older version, counts as absent.
    std::optional<std::string> name_argument_first(std::string_view name) const {
        auto found = argument_first(name);
        if (found && found->size() > name_bytes_max) return std::nullopt;
        return found;
    }
    std::optional<std::string> policy_first(std::string_view name) const {
        if (auto given = text(policy, name)) return given;
        return text(arguments, "x-" + std::string(name));
    }
    Integer argument(std::string_view name) const {
        return integer(arguments, "x-" + std::string(name));
    }
    Integer smallest(std::string_view name) const {
        return smaller(argument(name), integer(policy, name));
    }
};

// DL-147 to DL-149, DL-160
void set_retries(const Sources& from, Compatibility compatibility, QueueSettings& settings) {
    const Integer limit =
        tighter_limit(from.argument("delivery-limit"), integer(from.policy, "delivery-limit"));
    if (limit) {
        if (*limit >= 0) settings.delivery_limit = limit;
    } else if (compatibility == Compatibility::v4_3) {
        settings.delivery_limit = delivery_limit_default;
    }
    const std::int64_t min = from.smallest("delayed-retry-min").value_or(0);
    if (compatibility != Compatibility::v4_3 || min <= 0) return;
    settings.delayed_retry = to_delayed_retry(from.policy_first("delayed-retry-type"));
    settings.retry_min_ms = min;
    settings.retry_max_ms = std::max(min, from.smallest("delayed-retry-max").value_or(min));
}

}  // namespace

std::string_view to_string(ApplyTo apply_to) {
    switch (apply_to) {
        case ApplyTo::all:
            return "all";
        case ApplyTo::queues:
            return "queues";
        case ApplyTo::classic_queues:
            return "classic_queues";
        case ApplyTo::quorum_queues:
            return "quorum_queues";
        case ApplyTo::streams:
            return "streams";
        case ApplyTo::exchanges:
            return "exchanges";
    }
    UNREACHABLE();
}

std::optional<ApplyTo> parse_apply_to(std::string_view text) {
    for (const ApplyTo one : {ApplyTo::all, ApplyTo::queues, ApplyTo::classic_queues,
                              ApplyTo::quorum_queues, ApplyTo::streams, ApplyTo::exchanges}) {
        if (to_string(one) == text) return one;
    }
    return std::nullopt;
}

std::optional<std::string> check_policy(PolicyScope scope, const Policy& policy) {
    if (policy.pattern.size() > pattern_bytes_max) {
        return "pattern should be at most " + std::to_string(pattern_bytes_max) +
               " bytes long, actually was " + std::to_string(policy.pattern.size());
    }
    if (const auto pattern = Pattern::compile(policy.pattern); !pattern) {
        return "pattern should be regular expression but is invalid: " + pattern.error();
    }
    if (policy.definition.empty()) return "no policy provided";
    if (auto fault = check_keys(scope, policy.definition)) return fault;
    return check_retry(policy.definition);
}

// ------------------------------------------------------------------------- PolicyTable

void PolicyTable::set(PolicyScope scope, Policy policy) {
    PolicyMap& to = scope == PolicyScope::user ? policies_ : operator_policies_;
    auto compiled = Pattern::compile(policy.pattern);
    CompiledPolicy kept{std::move(policy), std::nullopt};
    if (compiled) kept.pattern.emplace(std::move(compiled).value());
    std::string name = kept.policy.name;
    to.insert_or_assign(std::move(name), std::move(kept));
}

void PolicyTable::clear(PolicyScope scope, std::string_view name) {
    PolicyMap& from = scope == PolicyScope::user ? policies_ : operator_policies_;
    const auto found = from.find(name);
    if (found != from.end()) from.erase(found);
}

const Policy* PolicyTable::find(PolicyScope scope, std::string_view name) const {
    const auto found = policies_in(scope).find(name);
    return found == policies_in(scope).end() ? nullptr : &found->second.policy;
}

std::vector<const Policy*> PolicyTable::list(PolicyScope scope) const {
    std::vector<const Policy*> all;
    for (const auto& [name, kept] : policies_in(scope)) all.push_back(&kept.policy);
    return all;
}

// The queue's type must support every key, or the whole policy is ignored (DL-194).
bool PolicyTable::is_applicable(const Policy& policy, Target target) {
    if (target == Target::exchange) {
        return policy.apply_to == ApplyTo::exchanges || policy.apply_to == ApplyTo::all;
    }
    const bool classic = target == Target::classic_queue;
    const ApplyTo own = classic ? ApplyTo::classic_queues : ApplyTo::quorum_queues;
    if (policy.apply_to != ApplyTo::all && policy.apply_to != ApplyTo::queues &&
        policy.apply_to != own) {
        return false;
    }
    return std::all_of(policy.definition.begin(), policy.definition.end(), [&](const Field& field) {
        const Key* const key = find_key(field.name);
        return key != nullptr && (key->queues & (classic ? classic_mask : quorum_mask)) != 0;
    });
}

// The highest priority; among equals the first by name, to make the choice deterministic.
const Policy* PolicyTable::best(const PolicyMap& policies_in, Target target,
                                std::string_view name) {
    const Policy* best = nullptr;
    for (const auto& [own_name, kept] : policies_in) {
        if (best != nullptr && kept.policy.priority <= best->priority) continue;
        if (!is_applicable(kept.policy, target)) continue;
        if (kept.pattern && kept.pattern->matches(name)) best = &kept.policy;
    }
    return best;
}

AppliedPolicy PolicyTable::apply(Target target, std::string_view name) const {
    const Policy* const policy = best(policies_, target, name);
    const Policy* const operator_policy =
        target == Target::exchange ? nullptr : best(operator_policies_, target, name);
    AppliedPolicy applied;
    if (policy != nullptr) applied.policy = policy->name;
    if (operator_policy != nullptr) applied.operator_policy = operator_policy->name;
    applied.definition = merge(policy, operator_policy);
    return applied;
}

AppliedPolicy PolicyTable::for_queue(QueueKind kind, std::string_view name) const {
    return apply(kind == QueueKind::classic ? Target::classic_queue : Target::quorum_queue, name);
}

AppliedPolicy PolicyTable::for_exchange(std::string_view name) const {
    return apply(Target::exchange, name);
}

// ------------------------------------------------------------------------- settings

QueueSettings effective_settings(const QueueDeclaration& declaration, const AppliedPolicy& policy,
                                 Compatibility compatibility) {
    const Sources from{declaration.arguments, policy.definition};
    const bool quorum = declaration.kind == QueueKind::quorum;
    QueueSettings settings;
    settings.message_ttl_ms = from.smallest("message-ttl");
    settings.expires_ms = from.smallest("expires");
    settings.max_length = from.smallest("max-length");
    settings.max_length_bytes = from.smallest("max-length-bytes");
    settings.dead_letter_exchange = from.name_argument_first("dead-letter-exchange");
    settings.dead_letter_routing_key = from.name_argument_first("dead-letter-routing-key");
    settings.overflow =
        to_overflow(quorum ? from.policy_first("overflow") : from.argument_first("overflow"));
    // A quorum queue does not support reject-publish-dlx and uses drop-head instead (DL-47).
    if (quorum && settings.overflow == Overflow::reject_publish_dlx) {
        settings.overflow = Overflow::drop_head;
    }
    settings.at_least_once = quorum && settings.dead_letter_exchange &&
                             settings.overflow == Overflow::reject_publish &&
                             from.argument_first("dead-letter-strategy") == "at-least-once";
    const std::optional<std::string> ttl_mode = text(policy.definition, "ttl-mode");
    const bool at_head = ttl_mode ? *ttl_mode == "head" : compatibility == Compatibility::v3_12;
    settings.ttl_mode = at_head ? TtlMode::head : TtlMode::exact;
    if (const Value* single = find(declaration.arguments, "x-single-active-consumer")) {
        settings.single_active_consumer = single->as_boolean() != nullptr && *single->as_boolean();
    }
    if (quorum) {
        set_retries(from, compatibility, settings);
        settings.consumer_timeout_ms = from.smallest("consumer-timeout");
    }
    return settings;
}

std::optional<std::string> effective_alternate_exchange(const Table& arguments,
                                                        const AppliedPolicy& policy) {
    if (auto own = text(arguments, "alternate-exchange")) return own;
    return text(policy.definition, "alternate-exchange");
}

}  // namespace revenant::engine
