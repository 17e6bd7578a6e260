// Runtime parameters of a virtual host or of the node.
#include "cli/commands/command_tables.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace revenant::cli {
namespace {

namespace json = boost::json;

std::string parameter_path(const Invocation& invocation) {
    return "/parameters/" + escape(invocation.argument(0)) + "/" +
           escape(invocation.options.vhost) + "/" + escape(invocation.argument(1));
}

std::string global_path(const Invocation& invocation) {
    return "/global-parameters/" + escape(invocation.argument(0));
}

Outcome put(const Invocation& invocation, const std::string& path, json::object body) {
    REVENANT_TRY(const Reply reply, invocation.ask("PUT", path, body));
    if (reply.status == 400) return operation_failed(reply.reason());
    if (reply.status >= 300) return refused(reply);
    invocation.say("");
    return {};
}

Outcome remove(const Invocation& invocation, const std::string& path) {
    REVENANT_TRY(const Reply reply, invocation.ask("DELETE", path));
    if (reply.status == 404) return operation_failed("Parameter does not exist");
    if (reply.status >= 300) return refused(reply);
    invocation.say("");
    return {};
}

Outcome set_parameter(const Invocation& invocation) {
    const std::string& vhost = invocation.options.vhost;
    invocation.banner("Setting runtime parameter " + quoted(invocation.argument(1)) +
                      " for component " + quoted(invocation.argument(0)) + " to " +
                      quoted(invocation.argument(2)) + " in vhost " + quoted(vhost) + " ...");
    REVENANT_TRY(json::value value, parse_json(invocation.argument(2)));
    REVENANT_TRY_VOID(invocation.require_vhost());
    return put(invocation, parameter_path(invocation),
               {{"value", std::move(value)},
                {"vhost", vhost},
                {"component", invocation.argument(0)},
                {"name", invocation.argument(1)}});
}

Outcome clear_parameter(const Invocation& invocation) {
    invocation.banner("Clearing runtime parameter " + quoted(invocation.argument(1)) +
                      " for component " + quoted(invocation.argument(0)) + " on vhost " +
                      quoted(invocation.options.vhost) + " ...");
    REVENANT_TRY_VOID(invocation.require_vhost());
    return remove(invocation, parameter_path(invocation));
}

// Values are printed as JSON text in every format.
json::value with_values_as_text(json::value parameters) {
    if (!parameters.is_array()) return parameters;
    for (json::value& parameter : parameters.get_array()) {
        json::value& value = parameter.at("value");
        value = json::serialize(value);
    }
    return parameters;
}

Outcome list_parameters(const Invocation& invocation) {
    const std::string& vhost = invocation.options.vhost;
    invocation.banner("Listing runtime parameters for vhost " + quoted(vhost) + " ...");
    REVENANT_TRY_VOID(invocation.require_vhost());
    REVENANT_TRY(const json::value all, invocation.get("/parameters"));
    json::array here;
    if (all.is_array()) {
        for (const json::value& one : all.get_array()) {
            if (one.at("vhost") == json::value(vhost)) here.push_back(one);
        }
    }
    return invocation.list(with_values_as_text(std::move(here)),
                           {{"component", "component"}, {"name", "name"}, {"value", "value"}},
                           {"component", "name", "value"});
}

Outcome set_global_parameter(const Invocation& invocation) {
    invocation.banner("Setting global runtime parameter " + quoted(invocation.argument(0)) +
                      " to " + quoted(invocation.argument(1)) + " ...");
    REVENANT_TRY(json::value value, parse_json(invocation.argument(1)));
    return put(invocation, global_path(invocation),
               {{"value", std::move(value)}, {"name", invocation.argument(0)}});
}

Outcome clear_global_parameter(const Invocation& invocation) {
    invocation.banner("Clearing global runtime parameter " + quoted(invocation.argument(0)) +
                      " ...");
    return remove(invocation, global_path(invocation));
}

Outcome list_global_parameters(const Invocation& invocation) {
    invocation.banner("Listing global runtime parameters ...");
    REVENANT_TRY(json::value all, invocation.get("/global-parameters"));
    return invocation.list(with_values_as_text(std::move(all)),
                           {{"name", "name"}, {"value", "value"}}, {"name", "value"});
}

}  // namespace

std::span<const Command> parameter_commands() {
    static constexpr Command commands[] = {
        {"set_parameter", 3, 3, "[-p VHOST] COMPONENT NAME VALUE",
         "Sets a runtime parameter of a virtual host; the value is JSON.",
         "set_parameter federation local_username '\"guest\"'", set_parameter},
        {"clear_parameter", 2, 2, "[-p VHOST] COMPONENT NAME", "Clears a runtime parameter.",
         "clear_parameter federation local_username", clear_parameter},
        {"list_parameters", 0, 0, "[-p VHOST]", "Lists the runtime parameters of a virtual host.",
         "list_parameters", list_parameters},
        {"set_global_parameter", 2, 2, "NAME VALUE",
         "Sets a runtime parameter of the node; the value is JSON.",
         "set_global_parameter mqtt_default_vhosts '{\"O=client\":\"/\"}'", set_global_parameter},
        {"clear_global_parameter", 1, 1, "NAME", "Clears a runtime parameter of the node.",
         "clear_global_parameter mqtt_default_vhosts", clear_global_parameter},
        {"list_global_parameters", 0, 0, "", "Lists the runtime parameters of the node.",
         "list_global_parameters", list_global_parameters},
    };
    return commands;
}

}  // namespace revenant::cli
