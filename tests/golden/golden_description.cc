#include "tests/golden/golden_description.h"

#include "engine/view/describe.h"
#include "message/value.h"

#include <cstdint>
#include <cstdio>
#include <string_view>

namespace revenant::golden {
namespace {

std::string hex(std::string_view bytes) {
    std::string digits;
    for (const char byte : bytes) {
        char two[3];
        std::snprintf(two, sizeof two, "%02x",
                      static_cast<unsigned>(static_cast<unsigned char>(byte)));
        digits += two;
    }
    return digits.empty() ? "-" : digits;
}

// Long bodies as size and hash.
std::string body_text(std::string_view body) {
    if (body.size() <= 64) return hex(body);
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    for (const char byte : body) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    char text[64];
    std::snprintf(text, sizeof text, "%zu bytes, hash %016llx", body.size(),
                  static_cast<unsigned long long>(hash));
    return text;
}

std::string joined(const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& text : texts) all += (all.empty() ? "" : ",") + text;
    return "[" + all + "]";
}

std::string message_text(const Message& message) {
    std::string text = "    message " + std::string(message.exchange()) + '/' +
                       std::string(message.routing_key()) + " format " +
                       std::to_string(message.format().number) +
                       (message.persistent() ? " persistent" : "");
    if (message.priority()) text += " priority " + std::to_string(*message.priority());
    if (message.ttl_ms()) text += " ttl " + std::to_string(*message.ttl_ms());
    if (const ExtraKeys* const extra = message.extra_keys()) {
        text += " cc " + joined(extra->cc) + " bcc " + joined(extra->bcc);
    }
    text += "\n    properties " + hex(message.properties()) + "\n";
    text += "    headers " + display(Value::table(message.headers())) + "\n";
    return text + "    body " + body_text(message.body()) + "\n";
}

std::string mark_text(const DeathSummary& mark) {
    return mark.queue + '/' + std::string(to_string(mark.reason)) + '/' + mark.exchange;
}

std::string envelope_text(const Envelope& envelope) {
    std::string text = "    envelope " + envelope.exchange + ' ' + joined(envelope.routing_keys) +
                       (envelope.keys_replaced ? " keys replaced" : "") + " delivery count " +
                       std::to_string(envelope.delivery_count) + " first " +
                       mark_text(envelope.history.first);
    if (envelope.history.last) text += " last " + mark_text(*envelope.history.last);
    text += '\n';
    for (const Death& death : envelope.history.deaths) {
        text += "    death " + death.queue + ' ' + std::string(to_string(death.reason)) + " x" +
                std::to_string(death.count) + " from " + std::to_string(death.first_time.us) +
                " to " + std::to_string(death.last_time.us) + " via " + death.exchange + ' ' +
                joined(death.routing_keys);
        if (death.ttl_ms) text += " ttl " + std::to_string(*death.ttl_ms);
        text += '\n';
    }
    return text;
}

std::string settings_text(const engine::Queue& queue) {
    return "  " + std::string(to_string(queue.declaration.kind)) + " policy '" +
           queue.policy.policy + "' operator policy '" + queue.policy.operator_policy +
           "' in force " + display(Value::table(queue.policy.definition)) + " arguments " +
           display(Value::table(queue.declaration.arguments)) + " counts properties " +
           (queue.counts_properties() ? "yes" : "no") + "\n";
}

}  // namespace

std::string describe_all(engine::State& state) {
    std::string text = describe(state, engine::DescribeScope::durable);
    text += "last queue id " + std::to_string(state.last_queue_id()) + "\n";
    for (engine::Queue* const queue : state.queues_by_name()) {
        if (!queue->survives_restart()) continue;
        text += "contents of " + queue->name() + "\n" + settings_text(*queue);
        for (std::size_t level = 0; level < queue->level_count(); ++level) {
            queue->level(level).for_each([&](std::uint64_t sequence, const engine::Entry& entry) {
                if (!entry.durable) return;
                text += "  " + std::to_string(level) + '/' + std::to_string(sequence) +
                        (entry.is_redelivered() ? " redelivered" : "") + "\n";
                text += message_text(*state.loaded(entry.message).value());
                if (entry.envelope) text += envelope_text(*entry.envelope);
            });
        }
        for (const auto& [sequence, letter] : queue->outbox_entries) {
            text += "  letter " + std::to_string(sequence) + ' ' +
                    std::string(to_string(letter.reason)) + " at " +
                    std::to_string(letter.died_at.us) + "\n";
        }
    }
    return text;
}

namespace {

std::string limit_text(const Limit& limit) { return limit ? std::to_string(*limit) : "none"; }

}  // namespace

std::string describe_catalog(const AccessRules& rules) {
    std::string text;
    for (const auto& [name, user] : rules.users) {
        text += "user " + name + " password " + user.password.base64 + ' ' +
                std::string(algorithm_name(user.password.algorithm)) + " tags " +
                joined(user.tags) + " connections " + limit_text(user.limits.max_connections) +
                " channels " + limit_text(user.limits.max_channels) + "\n";
    }
    for (const auto& [name, vhost] : rules.vhosts) {
        text += "vhost " + name + " '" + vhost.description + "' tags " + joined(vhost.tags) +
                " type '" + vhost.default_queue_type + "' compat '" + vhost.compat + "'" +
                (vhost.tracing ? " tracing" : "") +
                (vhost.protected_from_deletion ? " protected" : "") + " connections " +
                limit_text(vhost.limits.max_connections) + " queues " +
                limit_text(vhost.limits.max_queues) + " id " + std::to_string(vhost.id) +
                (vhost.has_named_directory ? " in a directory of its name" : "") + "\n";
    }
    text += "ids used up to " + std::to_string(rules.last_vhost_id) + "\n";
    for (const auto& [of, allowed] : rules.permissions) {
        text += "permissions " + of.user + " in " + of.vhost + " '" + allowed.configure + "' '" +
                allowed.write + "' '" + allowed.read + "'\n";
    }
    for (const auto& [of, allowed] : rules.topic_permissions) {
        text += "topic permissions " + of.user + " in " + of.vhost + " on " + of.exchange + " '" +
                allowed.write + "' '" + allowed.read + "'\n";
    }
    return text;
}

}  // namespace revenant::golden
