// Model: policies and the settings of queues.
#include "tests/model/fields.h"
#include "tests/model/model.h"

#include <algorithm>
#include <regex>

namespace revenant::model {

void Model::set_policy(PolicyScope scope, const Policy& policy) {
    begin();
    policies_[scope][policy.name] = policy;
    apply_policies();
    tell(0, "done");
    end();
}

void Model::clear_policy(PolicyScope scope, const std::string& name) {
    begin();
    if (policies_[scope].erase(name) == 0) return refuse(0, RefusalKind::not_found);
    apply_policies();
    tell(0, "done");
    end();
}

// DL-29, DL-201
void Model::apply_policies() {
    for (const QueueRef& queue : queues_) reconfigure(queue);
}

// DL-31, and for classic queues the difference from DL-30 (docs/compatibility.md): all settings
// become effective in one step.
void Model::reconfigure(const QueueRef& queue) {
    const Settings after = settings_of(*queue);
    // As in RabbitMQ, new settings restart the period of an unused queue.
    if (after != queue->settings) queue->last_used = now_;
    queue->settings = after;
    touch(queue);
}

namespace {

// DL-192
bool matches_pattern(const std::string& pattern, const std::string& name) {
    static std::map<std::string, std::regex> compiled;
    const auto found = compiled.try_emplace(pattern, pattern).first;
    return std::regex_search(name, found->second);
}

bool is_for(const Policy& policy, const std::string& kind) {
    const bool queue = kind != "exchanges";
    switch (policy.apply_to) {
        case engine::ApplyTo::all:
            return true;
        case engine::ApplyTo::queues:
            return queue;
        case engine::ApplyTo::classic_queues:
        case engine::ApplyTo::quorum_queues:
        case engine::ApplyTo::streams:
        case engine::ApplyTo::exchanges:
            return to_string(policy.apply_to) == kind;
    }
    return false;
}

// DL-194
bool is_applicable(const Policy& policy, const std::string& kind) {
    if (kind != "classic_queues") return true;
    return std::none_of(policy.definition.begin(), policy.definition.end(), [](const Field& one) {
        return one.name == "delivery-limit" || one.name == "dead-letter-strategy" ||
               one.name.starts_with("delayed-retry-");
    });
}

// DL-149, DL-199: the smaller one; a negative limit means unlimited and yields.
std::int64_t smaller_limit(std::int64_t a, std::int64_t b) {
    return a < 0 || b < 0 ? std::max(a, b) : std::min(a, b);
}

// DL-199: for a key in both policies.
Value merged(const std::string& key, const Value& policy, const Value& of_operator) {
    const auto number = [](const Value& value) { return *value.as_integer(); };
    if (key == "delivery-limit") {
        return Value::int64(smaller_limit(number(policy), number(of_operator)));
    }
    if (key == "delayed-retry-min") {
        return Value::int64(std::max(number(policy), number(of_operator)));
    }
    if (policy.as_integer() == nullptr) return of_operator;
    return Value::int64(std::min(number(policy), number(of_operator)));
}

Overflow overflow_named(const std::string& name) {
    if (name == "reject-publish") return Overflow::reject_publish;
    if (name == "reject-publish-dlx") return Overflow::reject_publish_dlx;
    return Overflow::drop_head;
}

// DL-160
void set_delayed_retry(Settings& settings, const Table& arguments, const Table& policy) {
    settings.retry =
        string_in(policy, "delayed-retry-type")
            .value_or(string_in(arguments, "x-delayed-retry-type").value_or("disabled"));
    const Number min = smaller(number_in(arguments, "x-delayed-retry-min"),
                               number_in(policy, "delayed-retry-min"));
    const Number max = smaller(number_in(arguments, "x-delayed-retry-max"),
                               number_in(policy, "delayed-retry-max"));
    if (!min || *min <= 0) settings.retry = "disabled";
    settings.retry_min = min.value_or(0);
    settings.retry_max = max.value_or(settings.retry_min);
}

// DL-148, DL-149
Number delivery_limit(const Table& arguments, const Table& policy) {
    const Number argument = number_in(arguments, "x-delivery-limit");
    const Number by_policy = number_in(policy, "delivery-limit");
    Number limit = argument ? argument : by_policy;
    if (argument && by_policy) limit = smaller_limit(*argument, *by_policy);
    if (!limit) return 20;
    return *limit < 0 ? Number{} : limit;
}

}  // namespace

// DL-193: the highest priority among the matching and applicable policies.
const Policy* Model::best(PolicyScope scope, std::string_view name, const std::string& kind) const {
    const auto shelf = policies_.find(scope);
    if (shelf == policies_.end()) return nullptr;
    const Policy* found = nullptr;
    for (const auto& [unused, policy] : shelf->second) {
        if (!is_for(policy, kind) || !is_applicable(policy, kind)) continue;
        if (!matches_pattern(policy.pattern, std::string(name))) continue;
        if (found == nullptr || policy.priority > found->priority) found = &policy;
    }
    return found;
}

Table Model::policy_for(std::string_view name, const std::string& kind) const {
    Table definition;
    const Policy* const policy = best(PolicyScope::user, name, kind);
    const Policy* const of_operator = best(PolicyScope::operator_only, name, kind);
    if (policy != nullptr) definition = policy->definition;
    if (of_operator == nullptr) return definition;
    for (const Field& field : of_operator->definition) {
        const auto known = std::find_if(definition.begin(), definition.end(),
                                        [&](const Field& one) { return one.name == field.name; });
        if (known == definition.end()) {
            definition.push_back(field);
        } else {
            known->value = merged(field.name, known->value, field.value);
        }
    }
    return definition;
}

// DL-23
Settings Model::settings_of(const Queue& queue) const {
    const Table& given = queue.arguments;
    const Table policy = policy_for(queue.name, queue.quorum ? "quorum_queues" : "classic_queues");
    const auto of_both = [&](const std::string& key) {
        return smaller(number_in(given, "x-" + key), number_in(policy, key));
    };
    const auto argument_first = [&](const std::string& key) {
        const auto argument = string_in(given, "x-" + key);
        return argument ? argument : string_in(policy, key);
    };
    Settings settings;
    settings.message_ttl = of_both("message-ttl");
    settings.expires = of_both("expires");
    settings.max_length = of_both("max-length");
    settings.max_length_bytes = of_both("max-length-bytes");
    settings.dlx = argument_first("dead-letter-exchange");
    settings.dlrk = argument_first("dead-letter-routing-key");
    settings.expires_at_head_only = text_of(policy, "ttl-mode") == "head";
    if (!queue.quorum) {
        settings.overflow = overflow_named(argument_first("overflow").value_or(""));
        return settings;
    }
    const auto overflow = string_in(policy, "overflow");
    settings.overflow = overflow_named(overflow ? *overflow : text_of(given, "x-overflow"));
    // DL-47, DL-139: a quorum queue does not support reject-publish-dlx.
    if (settings.overflow == Overflow::reject_publish_dlx) settings.overflow = Overflow::drop_head;
    // DL-171
    settings.at_least_once = settings.dlx && settings.overflow == Overflow::reject_publish &&
                             argument_first("dead-letter-strategy") == "at-least-once";
    settings.delivery_limit = delivery_limit(given, policy);
    set_delayed_retry(settings, given, policy);
    return settings;
}

}  // namespace revenant::model
