#include "http/api/definitions/definitions.h"
#include "http/api/object_lists.h"
#include "http/api/resource_json.h"
#include "http/api/views.h"

#include <set>
#include <utility>

namespace revenant::http {
namespace {

using engine::PolicyScope;

// Objects have a vhost field only in the document of the whole node.
enum class VhostNames : std::uint8_t { shown, left_out };

struct VhostContent {
    std::vector<engine::QueueView> queues;
    std::vector<engine::ExchangeView> exchanges;
    std::vector<engine::BindingView> bindings;
    std::vector<engine::Policy> policies;
    std::vector<engine::Policy> operator_policies;
};

// The lists are read one after the other, while clients may declare and delete objects. A binding
// whose source or destination is not in the other lists is omitted, because the document could not
// be imported.
VhostContent content_of(runtime::Broker& broker, const VhostRef& vhost) {
    VhostContent content;
    content.bindings = explicit_bindings_in(broker, vhost);
    content.queues = queues_in(broker, vhost);
    content.exchanges = exchanges_in(broker, vhost);
    std::set<std::string_view> queues;
    std::set<std::string_view> exchanges;
    for (const auto& queue : content.queues) queues.insert(queue.name);
    for (const auto& exchange : content.exchanges) exchanges.insert(exchange.name);
    std::erase_if(content.bindings, [&](const engine::BindingView& binding) {
        const bool to_queue = binding.destination_kind == engine::DestinationKind::queue;
        return !exchanges.contains(binding.source) ||
               !(to_queue ? queues : exchanges).contains(binding.destination);
    });
    broker.ask(vhost, [&](engine::Engine& engine) {
        content.policies = engine::list_policies(engine, PolicyScope::user);
        content.operator_policies = engine::list_policies(engine, PolicyScope::operator_only);
    });
    return content;
}

// The lists of a document, filled one virtual host at a time.
struct Lists {
    json::array parameters;
    json::array policies;
    json::array queues;
    json::array exchanges;
    json::array bindings;
};

void add_vhost_name(json::object& object, std::string_view vhost, VhostNames names) {
    if (names == VhostNames::shown) object["vhost"] = to_json_string(vhost);
}

json::object definition_of(const engine::QueueView& queue, std::string_view vhost,
                           VhostNames names) {
    json::object object{{"name", to_json_string(queue.name)}};
    add_vhost_name(object, vhost, names);
    object["type"] = engine::to_string(queue.kind);
    object["durable"] = queue.durable;
    object["auto_delete"] = queue.auto_delete;
    object["arguments"] = to_json(queue.arguments);
    return object;
}

json::object definition_of(const engine::ExchangeView& exchange, std::string_view vhost,
                           VhostNames names) {
    json::object object{{"name", to_json_string(exchange.name)}};
    add_vhost_name(object, vhost, names);
    object["type"] = exchange.type;
    object["durable"] = exchange.durable;
    object["auto_delete"] = exchange.auto_delete;
    object["internal"] = exchange.internal;
    object["arguments"] = to_json(exchange.arguments);
    return object;
}

json::object definition_of(const engine::BindingView& binding, std::string_view vhost,
                           VhostNames names) {
    json::object object = view_binding(vhost, binding);
    object.erase("properties_key");
    if (names == VhostNames::left_out) object.erase("vhost");
    return object;
}

json::object parameter(std::string_view vhost, std::string_view component, std::string_view name,
                       json::value value) {
    return {{"value", std::move(value)},
            {"vhost", to_json_string(vhost)},
            {"component", component},
            {"name", to_json_string(name)}};
}

json::object value_of(const engine::Policy& policy) {
    json::object value = view_policy("", policy);
    value.erase("vhost");
    value.erase("name");
    return value;
}

void append(const Vhost& rules, const VhostContent& content, VhostNames names, Lists& lists) {
    const std::string& vhost = rules.name;
    if (json::object limits = view_limits(rules.limits); !limits.empty()) {
        lists.parameters.push_back(parameter(vhost, "vhost-limits", "limits", std::move(limits)));
    }
    for (const auto& policy : content.operator_policies) {
        lists.parameters.push_back(
            parameter(vhost, "operator_policy", policy.name, value_of(policy)));
    }
    for (const auto& policy : content.policies) {
        lists.policies.push_back(view_policy(vhost, policy));
    }
    std::set<std::string_view> passing;  // exclusive queues, which end with their connection
    for (const auto& queue : content.queues) {
        if (queue.exclusive) {
            passing.insert(queue.name);
        } else {
            lists.queues.push_back(definition_of(queue, vhost, names));
        }
    }
    for (const auto& exchange : content.exchanges) {
        if (exchange.name.empty() || exchange.name.starts_with("amq.")) continue;
        lists.exchanges.push_back(definition_of(exchange, vhost, names));
    }
    for (const auto& binding : content.bindings) {
        const bool to_passing = binding.destination_kind == engine::DestinationKind::queue &&
                                passing.contains(binding.destination);
        if (to_passing) continue;
        lists.bindings.push_back(definition_of(binding, vhost, names));
    }
}

json::object definition_of(const Vhost& vhost) {
    json::object metadata{{"description", to_json_string(vhost.description)},
                          {"tags", to_json(vhost.tags)},
                          {"protected_from_deletion", vhost.protected_from_deletion}};
    if (!vhost.default_queue_type.empty())
        metadata["default_queue_type"] = vhost.default_queue_type;
    json::object object{{"name", to_json_string(vhost.name)},
                        {"description", to_json_string(vhost.description)},
                        {"tags", to_json(vhost.tags)},
                        {"metadata", std::move(metadata)},
                        {"limits", view_limits(vhost.limits)}};
    if (!vhost.default_queue_type.empty()) object["default_queue_type"] = vhost.default_queue_type;
    if (!vhost.compat.empty()) object["compat"] = vhost.compat;
    return object;
}

void add_head(const DefinitionsHead& head, std::string_view format, json::object& document) {
    document["rabbit_version"] = head.rabbitmq_version;
    document["rabbitmq_version"] = head.rabbitmq_version;
    document["product_name"] = head.product_name;
    document["product_version"] = head.product_version;
    document["rabbitmq_definition_format"] = format;
    document["original_cluster_name"] = to_json_string(head.cluster_name);
}

void add_lists(Lists&& lists, json::object& document) {
    document["parameters"] = std::move(lists.parameters);
    document["policies"] = std::move(lists.policies);
    document["queues"] = std::move(lists.queues);
    document["exchanges"] = std::move(lists.exchanges);
    document["bindings"] = std::move(lists.bindings);
}

std::optional<VhostContent> ask_for_content(runtime::Broker& broker, const std::string& vhost) {
    const auto found = broker.find_vhost(vhost);
    if (found == nullptr) return std::nullopt;
    return content_of(broker, found);
}

}  // namespace

json::object export_definitions(runtime::Broker& broker, const DefinitionsHead& head) {
    const auto access = broker.access();
    const AccessRules& rules = access->rules();
    json::object document;
    add_head(head, "cluster", document);
    document["explanation"] = "Definitions of cluster '" + head.cluster_name + "'";
    json::array users;
    for (const auto& [name, user] : rules.users) users.push_back(view_user(user));
    json::array vhosts;
    Lists lists;
    for (const auto& [name, vhost] : rules.vhosts) {
        vhosts.push_back(definition_of(vhost));
        const auto content = ask_for_content(broker, name);
        if (content) append(vhost, *content, VhostNames::shown, lists);
    }
    json::array permissions;
    for (const auto& [of, row] : rules.permissions)
        permissions.push_back(view_permissions(of, row));
    json::array topic_permissions;
    for (const auto& [of, row] : rules.topic_permissions) {
        topic_permissions.push_back(view_permissions(of, row));
    }
    json::array global_parameters;
    for (const auto& [name, value] : rules.global_parameters) {
        const auto parsed = parse_json(value);
        global_parameters.push_back(
            json::object{{"name", to_json_string(name)}, {"value", parsed ? *parsed : nullptr}});
    }
    document["users"] = std::move(users);
    document["vhosts"] = std::move(vhosts);
    document["permissions"] = std::move(permissions);
    document["topic_permissions"] = std::move(topic_permissions);
    document["global_parameters"] = std::move(global_parameters);
    add_lists(std::move(lists), document);
    return document;
}

json::object export_definitions_of(runtime::Broker& broker, const std::string& vhost,
                                   const DefinitionsHead& head) {
    json::object document;
    add_head(head, "single_virtual_host", document);
    document["original_vhost_name"] = to_json_string(vhost);
    document["explanation"] = "Definitions of virtual host '" + vhost + "'";
    Lists lists;
    const auto access = broker.access();
    const Vhost* const rules = access->find_vhost(vhost);
    const auto content = ask_for_content(broker, vhost);
    if (rules != nullptr && content) append(*rules, *content, VhostNames::left_out, lists);
    add_lists(std::move(lists), document);
    return document;
}

}  // namespace revenant::http
