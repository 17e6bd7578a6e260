// Virtual hosts.
#include "cli/commands/command_tables.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace revenant::cli {
namespace {

namespace json = boost::json;

std::string vhost_path(const std::string& vhost) { return "/vhosts/" + escape(vhost); }

json::object metadata(const Options& options) {
    json::object body;
    if (options.description) body["description"] = *options.description;
    if (options.tags) body["tags"] = *options.tags;
    if (options.default_queue_type) body["default_queue_type"] = *options.default_queue_type;
    if (options.compat) body["compat"] = *options.compat;
    return body;
}

Outcome add_vhost(const Invocation& invocation) {
    const std::string& vhost = invocation.argument(0);
    invocation.banner("Adding vhost \"" + vhost + "\" ...");
    REVENANT_TRY(const Reply reply,
                 invocation.ask("PUT", vhost_path(vhost), metadata(invocation.options)));
    if (reply.status >= 300) return refused(reply);
    // The HTTP API grants all permissions to the user that creates a virtual host; rabbitmqctl
    // grants none, so they are removed.
    if (reply.status == 201) {
        REVENANT_TRY(const Reply cleared,
                     invocation.ask("DELETE", "/permissions/" + escape(vhost) + "/" +
                                                  escape(invocation.client.settings().user)));
        if (cleared.status >= 300 && cleared.status != 404) return refused(cleared);
    }
    invocation.say("");
    return {};
}

Outcome update_vhost_metadata(const Invocation& invocation) {
    const std::string& vhost = invocation.argument(0);
    const json::object body = metadata(invocation.options);
    if (body.empty()) return Unexpected{Failure{ExitCode::usage, "not enough arguments."}};
    invocation.banner("Updating metadata of vhost \"" + vhost + "\" ...");
    REVENANT_TRY(const Reply found, invocation.ask("GET", vhost_path(vhost)));
    if (found.status == 404) return no_such_vhost(vhost);
    REVENANT_TRY(const Reply reply, invocation.ask("PUT", vhost_path(vhost), body));
    if (reply.status >= 300) return refused(reply);
    invocation.say("");
    return {};
}

Outcome delete_vhost(const Invocation& invocation) {
    const std::string& vhost = invocation.argument(0);
    invocation.banner("Deleting vhost \"" + vhost + "\" ...");
    REVENANT_TRY(const Reply reply, invocation.ask("DELETE", vhost_path(vhost)));
    if (reply.status == 404) return no_such_vhost(vhost);
    if (reply.status >= 300) return refused(reply);
    invocation.say("");
    return {};
}

Outcome list_vhosts(const Invocation& invocation) {
    const std::vector<Column> known = {{"name", "name"},
                                       {"tracing", "tracing"},
                                       {"cluster_state", "cluster_state"},
                                       {"description", "description"},
                                       {"tags", "tags"},
                                       {"default_queue_type", "default_queue_type"},
                                       {"compat", "compat"},
                                       {"metadata", "metadata"},
                                       {"protected_from_deletion", "protected_from_deletion"}};
    REVENANT_TRY(const auto columns, invocation.columns(known, {"name"}));
    invocation.banner("Listing vhosts ...");
    REVENANT_TRY(const json::value vhosts, invocation.get("/vhosts"));
    return invocation.list(vhosts, known, {"name"});
}

Outcome set_vhost_tags(const Invocation& invocation) {
    const std::string& vhost = invocation.argument(0);
    json::array tags;
    for (std::size_t i = 1; i < invocation.arguments.size(); ++i) {
        tags.emplace_back(invocation.argument(i));
    }
    invocation.banner("Setting tags for vhost \"" + vhost + "\" to " + plain_text(tags) + " ...");
    REVENANT_TRY(const Reply found, invocation.ask("GET", vhost_path(vhost)));
    if (found.status == 404) return no_such_vhost(vhost);
    REVENANT_TRY(const Reply reply,
                 invocation.ask("PUT", vhost_path(vhost), json::object{{"tags", std::move(tags)}}));
    if (reply.status >= 300) return refused(reply);
    invocation.say("");
    return {};
}

Outcome protect(const Invocation& invocation, std::string_view method) {
    const std::string& vhost = invocation.argument(0);
    REVENANT_TRY(const Reply reply,
                 invocation.ask(method, vhost_path(vhost) + "/deletion/protection"));
    if (reply.status == 404) return no_such_vhost(vhost);
    if (reply.status >= 300) return refused(reply);
    invocation.say("");
    return {};
}

Outcome enable_protection(const Invocation& invocation) {
    invocation.banner("Protecting virtual host \"" + invocation.argument(0) +
                      "\" from removal by updating its metadata...");
    return protect(invocation, "POST");
}

Outcome disable_protection(const Invocation& invocation) {
    invocation.banner("Removing deletion protection from virtual host \"" + invocation.argument(0) +
                      "\" by updating its metadata...");
    return protect(invocation, "DELETE");
}

// The virtual hosts of a running node are always running.
Outcome restart_vhost(const Invocation& invocation) {
    const std::string& vhost = invocation.options.vhost;
    const std::string& url = invocation.client.settings().url;
    invocation.banner("Trying to restart vhost '" + vhost + "' on node '" + url + "' ...");
    REVENANT_TRY_VOID(invocation.require_vhost());
    invocation.say("Vhost '" + vhost + "' is already running on node '" + url + "'");
    return {};
}

}  // namespace

std::span<const Command> vhost_commands() {
    static constexpr Command commands[] = {
        {"add_vhost", 1, 1,
         "VHOST [--description TEXT] [--tags A,B] [--default-queue-type TYPE] [--compat VERSION]",
         "Creates a virtual host.", "add_vhost qa --description \"for the testers\"", add_vhost},
        {"update_vhost_metadata", 1, 1,
         "VHOST [--description TEXT] [--tags A,B] [--default-queue-type TYPE] [--compat VERSION]",
         "Updates the metadata of a virtual host.", "update_vhost_metadata qa --compat 3.12",
         update_vhost_metadata},
        {"delete_vhost", 1, 1, "VHOST",
         "Deletes a virtual host with everything in it and closes its connections.",
         "delete_vhost qa", delete_vhost},
        {"set_vhost_tags", 1, SIZE_MAX, "VHOST [TAG ...]", "Sets the tags of a virtual host.",
         "set_vhost_tags qa qa-env", set_vhost_tags},
        {"enable_vhost_deletion_protection", 1, 1, "VHOST",
         "Protects a virtual host from deletion.", "enable_vhost_deletion_protection prod",
         enable_protection},
        {"disable_vhost_deletion_protection", 1, 1, "VHOST",
         "Removes deletion protection from a virtual host.",
         "disable_vhost_deletion_protection prod", disable_protection},
        {"enable_vhost_protection_from_deletion", 1, 1, "VHOST",
         "Protects a virtual host from deletion.", "enable_vhost_protection_from_deletion prod",
         enable_protection},
        {"disable_vhost_protection_from_deletion", 1, 1, "VHOST",
         "Removes deletion protection from a virtual host.",
         "disable_vhost_protection_from_deletion prod", disable_protection},
        {"restart_vhost", 0, 0, "[-p VHOST]", "Does nothing: a virtual host is always running.",
         "restart_vhost -p qa", restart_vhost},
        {"list_vhosts", 0, SIZE_MAX, "[COLUMN ...]", "Lists virtual hosts.",
         "list_vhosts name description tags", list_vhosts},
    };
    return commands;
}

}  // namespace revenant::cli
