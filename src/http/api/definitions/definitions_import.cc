#include "http/api/body.h"
#include "http/api/cluster_parameters.h"
#include "http/api/definitions/definitions.h"
#include "http/api/engine_call.h"
#include "http/api/object_lists.h"
#include "http/api/resource_json.h"

#include <set>
#include <utility>

namespace revenant::http {
namespace {

using Done = Result<void, std::string>;

// The reason field of an error response of the API.
std::string reason_of(const Response& response) {
    const auto body = parse_json(response.body);
    if (!body || !body->is_object() || !body->get_object().contains("reason")) return "invalid";
    const json::value& reason = body->get_object().at("reason");
    return reason.is_string() ? std::string(reason.get_string()) : to_text(reason);
}

std::string in_vhost(std::string_view kind, std::string_view name, std::string_view vhost) {
    return std::string(kind) + " '" + std::string(name) + "' in vhost '" + std::string(vhost) + "'";
}

Unexpected<std::string> wrong(const std::string& object, const std::string& reason) {
    return Unexpected{object + ": " + reason};
}

// The import of one document.
class Import {
  public:
    Import(runtime::Broker& broker, const json::object& document, std::string user,
           const PasswordRules& rules, std::optional<std::string> only_vhost)
        : broker_(broker),
          document_(document),
          user_(std::move(user)),
          rules_(rules),
          only_vhost_(std::move(only_vhost)) {}

    // Objects that others refer to are imported first. management 4.27
    Done run() {
        if (!only_vhost_) {
            REVENANT_TRY_VOID(each("global_parameters", &Import::set_global_parameter));
            REVENANT_TRY_VOID(each("vhosts", &Import::put_vhost));
            REVENANT_TRY_VOID(each("users", &Import::put_user));
            REVENANT_TRY_VOID(each("permissions", &Import::set_permissions));
            REVENANT_TRY_VOID(each("topic_permissions", &Import::set_topic_permissions));
        }
        REVENANT_TRY_VOID(each("parameters", &Import::set_parameter));
        REVENANT_TRY_VOID(carry_out_gathered());
        REVENANT_TRY_VOID(each("policies", &Import::set_policy));
        REVENANT_TRY_VOID(carry_out_gathered());
        REVENANT_TRY_VOID(each("exchanges", &Import::declare_exchange));
        REVENANT_TRY_VOID(each("queues", &Import::declare_queue));
        REVENANT_TRY_VOID(carry_out_gathered());
        REVENANT_TRY_VOID(each("bindings", &Import::bind));
        return carry_out_gathered();
    }

  private:
    using Step = Done (Import::*)(const json::object&);

    Done each(std::string_view list, Step step) {
        const json::value* const values = document_.if_contains(list);
        if (values == nullptr || values->is_null()) return {};
        if (!values->is_array()) return Unexpected{"\"" + std::string(list) + "\" is not a list"};
        for (const json::value& value : values->get_array()) {
            if (!value.is_object()) {
                return Unexpected{
                    "\"" + std::string(list) +
                    "\" contains an element that is not an object: " + as_erlang_term(value)};
            }
            REVENANT_TRY_VOID((this->*step)(value.get_object()));
        }
        return {};
    }

    // --- the catalog ---

    Result<std::string, std::string> text(const json::object& object, std::string_view key,
                                          std::string_view kind) const {
        const json::value* const value = object.if_contains(key);
        if (value == nullptr || !value->is_string()) {
            return Unexpected{"a " + std::string(kind) + " has no " + std::string(key) + ": " +
                              to_text(object)};
        }
        return std::string(value->get_string());
    }

    Done change(const CatalogCommand& command, const std::string& object) {
        const auto record = broker_.change(command);
        if (!record) return wrong(object, record.error().text);
        return {};
    }

    Done set_global_parameter(const json::object& object) {
        REVENANT_TRY(const std::string name, text(object, "name", "global parameter"));
        const json::value* const value = object.if_contains("value");
        if (value == nullptr) return wrong("global parameter '" + name + "'", "value is missing");
        // The document contains the id of the exporting cluster. An existing id is not changed.
        if (name == cluster_id_parameter &&
            broker_.access()->rules().global_parameters.contains(name)) {
            return {};
        }
        return change(SetGlobalParameter{name, to_text(*value)}, "global parameter '" + name + "'");
    }

    Done put_vhost(const json::object& object) {
        REVENANT_TRY(const std::string name, text(object, "name", "virtual host"));
        const std::string shown = "virtual host '" + name + "'";
        // Fields may be in the metadata only.
        json::object all;
        if (const json::value* const metadata = object.if_contains("metadata");
            metadata != nullptr && metadata->is_object()) {
            all = metadata->get_object();
        }
        for (const auto& [key, value] : object) all.insert_or_assign(key, value);
        auto command = vhost_from_json(name, all);
        if (!command) return wrong(shown, reason_of(command.error()));
        REVENANT_TRY_VOID(change(*command, shown));
        if (const json::value* const limits = all.if_contains("limits");
            limits != nullptr && limits->is_object()) {
            REVENANT_TRY_VOID(set_limits(name, limits->get_object()));
        }
        if (const json::value* const kept = all.if_contains("protected_from_deletion");
            kept != nullptr && kept->is_bool()) {
            return change(ProtectVhost{name, kept->get_bool()}, shown);
        }
        return {};
    }

    Done set_limits(const std::string& vhost, const json::object& object) {
        const std::string shown = "limits of virtual host '" + vhost + "'";
        const auto limits = vhost_limits_from_json(object);
        if (!limits) return wrong(shown, reason_of(limits.error()));
        return change(SetVhostLimits{vhost, *limits}, shown);
    }

    Done put_user(const json::object& object) {
        REVENANT_TRY(const std::string name, text(object, "name", "user"));
        const auto command = user_from_json(name, object, rules_);
        if (!command) return wrong("user '" + name + "'", reason_of(command.error()));
        return change(*command, "user '" + name + "'");
    }

    Done set_permissions(const json::object& object) {
        REVENANT_TRY(const std::string user, text(object, "user", "permission"));
        REVENANT_TRY(const std::string vhost, text(object, "vhost", "permission"));
        const std::string shown = in_vhost("permissions of user", user, vhost);
        const auto permissions = permissions_from_json(object);
        if (!permissions) return wrong(shown, reason_of(permissions.error()));
        return change(SetPermissions{user, vhost, *permissions}, shown);
    }

    Done set_topic_permissions(const json::object& object) {
        REVENANT_TRY(const std::string user, text(object, "user", "topic permission"));
        REVENANT_TRY(const std::string vhost, text(object, "vhost", "topic permission"));
        const std::string shown = in_vhost("topic permissions of user", user, vhost);
        const auto command = topic_permissions_from_json(user, vhost, object);
        if (!command) return wrong(shown, reason_of(command.error()));
        return change(*command, shown);
    }

    // --- objects of a virtual host ---

    Result<std::string, std::string> vhost_of(const json::object& object, std::string_view kind) {
        if (only_vhost_) return *only_vhost_;
        return text(object, "vhost", kind);
    }

    Done set_parameter(const json::object& object) {
        REVENANT_TRY(const std::string component, text(object, "component", "parameter"));
        REVENANT_TRY(const std::string name, text(object, "name", "parameter"));
        REVENANT_TRY(const std::string vhost, vhost_of(object, "parameter"));
        const std::string shown = in_vhost(component + " parameter", name, vhost);
        const json::value* const value = object.if_contains("value");
        if (value == nullptr || !value->is_object()) {
            return wrong(shown, "value is not an object");
        }
        if (component == "vhost-limits") return set_limits(vhost, value->get_object());
        if (component != "operator_policy") {
            return wrong(shown, "Validation failed\n\ncomponent " + component + " not found\n");
        }
        return gather_policy(engine::PolicyScope::operator_only, name, vhost, value->get_object());
    }

    Done set_policy(const json::object& object) {
        REVENANT_TRY(const std::string name, text(object, "name", "policy"));
        REVENANT_TRY(const std::string vhost, vhost_of(object, "policy"));
        return gather_policy(engine::PolicyScope::user, name, vhost, object);
    }

    Done gather_policy(engine::PolicyScope scope, const std::string& name, const std::string& vhost,
                       const json::object& object) {
        const std::string shown = in_vhost(
            scope == engine::PolicyScope::user ? "policy" : "operator policy", name, vhost);
        auto policy = policy_from_json(name, object);
        if (!policy) return wrong(shown, reason_of(policy.error()));
        engine::SetPolicy command;
        command.scope = scope;
        command.policy = std::move(*policy);
        return gather(vhost, std::move(command), shown);
    }

    Done declare_exchange(const json::object& object) {
        REVENANT_TRY(const std::string name, text(object, "name", "exchange"));
        REVENANT_TRY(const std::string vhost, vhost_of(object, "exchange"));
        const std::string shown = in_vhost("exchange", name, vhost);
        if (!amqp_name(name)) return wrong(shown, "name is longer than 255 bytes");
        auto command = exchange_from_json(name, object);
        if (!command) return wrong(shown, reason_of(command.error()));
        REVENANT_TRY(const Known* const known, known_in(vhost, shown));
        if (known->exchanges.contains(name)) return {};
        command->reserved_name_permitted = true;
        return gather(vhost, std::move(*command), shown);
    }

    Done declare_queue(const json::object& object) {
        REVENANT_TRY(const std::string name, text(object, "name", "queue"));
        REVENANT_TRY(const std::string vhost, vhost_of(object, "queue"));
        const std::string shown = in_vhost("queue", name, vhost);
        if (name.empty() || !amqp_name(name)) return wrong(shown, "invalid name");
        auto command = queue_from_json(name, object);
        if (!command) return wrong(shown, reason_of(command.error()));
        REVENANT_TRY_VOID(add_type(object, shown, command->arguments));
        REVENANT_TRY(const Known* const known, known_in(vhost, shown));
        if (known->queues.contains(name)) return {};
        return gather(vhost, std::move(*command), shown);
    }

    // Since RabbitMQ 4 the type is a separate field. The default, classic, needs no argument.
    Done add_type(const json::object& object, const std::string& shown, Table& arguments) const {
        const json::value* const type = object.if_contains("type");
        if (type == nullptr || type->is_null()) return {};
        if (!type->is_string()) return wrong(shown, "type is not a string");
        if (type->get_string() == "classic" || find(arguments, "x-queue-type") != nullptr)
            return {};
        arguments.push_back({"x-queue-type", Value::string(std::string_view(type->get_string()))});
        return {};
    }

    Done bind(const json::object& object) {
        engine::Bind command;
        REVENANT_TRY(command.source, text(object, "source", "binding"));
        REVENANT_TRY(command.destination, text(object, "destination", "binding"));
        REVENANT_TRY(const std::string vhost, vhost_of(object, "binding"));
        REVENANT_TRY(const std::string kind, text(object, "destination_type", "binding"));
        const std::string shown = "binding of exchange '" + command.source + "' to " +
                                  in_vhost(kind, command.destination, vhost);
        if (kind != "queue" && kind != "exchange") {
            return wrong(shown, "destination_type must be 'queue' or 'exchange'");
        }
        command.destination_kind =
            kind == "queue" ? engine::DestinationKind::queue : engine::DestinationKind::exchange;
        auto routing_key = string_field(object, "routing_key", "");
        if (!routing_key) return wrong(shown, reason_of(routing_key.error()));
        command.routing_key = std::move(*routing_key);
        auto arguments = table_field(object, "arguments");
        if (!arguments) return wrong(shown, reason_of(arguments.error()));
        command.arguments = std::move(*arguments);
        if (command.source.empty()) return {};  // every queue is bound to the default exchange
        return gather(vhost, std::move(command), shown);
    }

    // --- batches of commands ---

    // The objects that exist when the import reaches the virtual host.
    struct Known {
        std::set<std::string, std::less<>> queues;
        std::set<std::string, std::less<>> exchanges;
    };

    Result<std::shared_ptr<runtime::Vhost>, std::string> find_vhost(const std::string& vhost,
                                                                    const std::string& shown) {
        auto found = broker_.find_vhost(vhost);
        if (found == nullptr) return wrong(shown, "Virtual host '" + vhost + "' does not exist");
        return found;
    }

    Result<const Known*, std::string> known_in(const std::string& vhost, const std::string& shown) {
        const auto cached = known_.find(vhost);
        if (cached != known_.end()) return &cached->second;
        REVENANT_TRY(const auto found, find_vhost(vhost, shown));
        Known known;
        for (const auto& queue : queue_names_in(broker_, found)) known.queues.insert(queue.name);
        for (const auto& exchange : exchanges_in(broker_, found)) {
            known.exchanges.insert(exchange.name);
        }
        return &known_.emplace(vhost, std::move(known)).first->second;
    }

    struct Gathered {
        std::vector<engine::Command> commands;
        std::vector<std::string> shown;
    };

    Done gather(const std::string& vhost, engine::Command command, const std::string& shown) {
        REVENANT_TRY_VOID(find_vhost(vhost, shown));
        Gathered& gathered = gathered_[vhost];
        gathered.commands.push_back(std::move(command));
        gathered.shown.push_back(shown);
        return {};
    }

    Done carry_out_gathered() {
        for (auto& [vhost, gathered] : std::exchange(gathered_, {})) {
            REVENANT_TRY(const auto found, find_vhost(vhost, "virtual host '" + vhost + "'"));
            const auto answers = execute_all(found, user_, std::move(gathered.commands));
            for (std::size_t i = 0; i < answers.size(); ++i) {
                if (!answers[i]) return wrong(gathered.shown[i], answers[i].error().text);
            }
        }
        return {};
    }

    runtime::Broker& broker_;
    const json::object& document_;
    std::string user_;
    const PasswordRules& rules_;
    std::optional<std::string> only_vhost_;
    std::map<std::string, Known> known_;
    std::map<std::string, Gathered> gathered_;
};

Done import_document(runtime::Broker& broker, std::string_view document,
                     const std::string& acting_user, const PasswordRules& rules,
                     std::optional<std::string> only_vhost) {
    const auto parsed = parse_json(document);
    if (!parsed) return Unexpected{"invalid JSON: " + parsed.error()};
    if (!parsed->is_object()) return Unexpected{std::string("the document is not a JSON object")};
    return Import(broker, parsed->get_object(), acting_user, rules, std::move(only_vhost)).run();
}

}  // namespace

Result<void, std::string> import_definitions(runtime::Broker& broker, std::string_view document,
                                             const std::string& acting_user,
                                             const PasswordRules& rules) {
    return import_document(broker, document, acting_user, rules, std::nullopt);
}

Result<void, std::string> import_definitions_into(runtime::Broker& broker, const std::string& vhost,
                                                  std::string_view document,
                                                  const std::string& acting_user) {
    return import_document(broker, document, acting_user, {}, vhost);
}

}  // namespace revenant::http
