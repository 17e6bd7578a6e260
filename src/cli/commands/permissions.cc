// Permissions and topic permissions.
#include "cli/commands/command_tables.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace revenant::cli {
namespace {

namespace json = boost::json;

std::string row_path(const Invocation& invocation, std::string_view kind) {
    return "/" + std::string(kind) + "/" + escape(invocation.options.vhost) + "/" +
           escape(invocation.argument(0));
}

// Fails if the user or the virtual host does not exist.
Outcome require_user_and_vhost(const Invocation& invocation) {
    REVENANT_TRY(const Reply reply,
                 invocation.ask("GET", "/users/" + escape(invocation.argument(0))));
    if (reply.status == 404) return no_such_user(invocation.argument(0));
    if (reply.status != 200) return refused(reply);
    return invocation.require_vhost();
}

Outcome change(const Invocation& invocation, std::string_view method, const std::string& path,
               const json::value& body) {
    REVENANT_TRY_VOID(require_user_and_vhost(invocation));
    REVENANT_TRY(const Reply reply, invocation.ask(method, path, body));
    // Clearing permissions that do not exist succeeds.
    if (reply.status >= 300 && !(method == "DELETE" && reply.status == 404)) return refused(reply);
    invocation.say("");
    return {};
}

std::string for_user_in_vhost(const Invocation& invocation) {
    return " for user \"" + invocation.argument(0) + "\" in vhost \"" + invocation.options.vhost +
           "\" ...";
}

Outcome set_permissions(const Invocation& invocation) {
    invocation.banner("Setting permissions" + for_user_in_vhost(invocation));
    return change(invocation, "PUT", row_path(invocation, "permissions"),
                  {{"configure", invocation.argument(1)},
                   {"write", invocation.argument(2)},
                   {"read", invocation.argument(3)}});
}

Outcome set_permissions_globally(const Invocation& invocation) {
    const std::string& user = invocation.argument(0);
    invocation.banner("Setting permissions for user \"" + user + "\" in all virtual hosts ...");
    REVENANT_TRY(const Reply found, invocation.ask("GET", "/users/" + escape(user)));
    if (found.status == 404) return no_such_user(user);
    REVENANT_TRY(const json::value vhosts, invocation.get("/vhosts"));
    for (const json::value& vhost : vhosts.as_array()) {
        REVENANT_TRY(
            const Reply reply,
            invocation.ask(
                "PUT", "/permissions/" + escape(plain_text(vhost.at("name"))) + "/" + escape(user),
                {{"configure", invocation.argument(1)},
                 {"write", invocation.argument(2)},
                 {"read", invocation.argument(3)}}));
        if (reply.status >= 300) return refused(reply);
    }
    invocation.say("");
    return {};
}

Outcome clear_permissions(const Invocation& invocation) {
    invocation.banner("Clearing permissions" + for_user_in_vhost(invocation));
    return change(invocation, "DELETE", row_path(invocation, "permissions"), nullptr);
}

Outcome set_topic_permissions(const Invocation& invocation) {
    invocation.banner("Setting topic permissions on \"" + invocation.argument(1) + "\"" +
                      for_user_in_vhost(invocation));
    return change(invocation, "PUT", row_path(invocation, "topic-permissions"),
                  {{"exchange", invocation.argument(1)},
                   {"write", invocation.argument(2)},
                   {"read", invocation.argument(3)}});
}

Outcome clear_topic_permissions(const Invocation& invocation) {
    invocation.banner("Clearing topic permissions" + for_user_in_vhost(invocation));
    std::string path = row_path(invocation, "topic-permissions");
    if (invocation.arguments.size() > 1) path += "/" + escape(invocation.argument(1));
    return change(invocation, "DELETE", path, nullptr);
}

Outcome list_rows(const Invocation& invocation, const std::string& path,
                  Unexpected<Failure> missing, const std::vector<std::string>& columns) {
    REVENANT_TRY(const Reply reply, invocation.ask("GET", path));
    if (reply.status == 404) return missing;
    if (reply.status != 200) return refused(reply);
    std::vector<Column> known;
    for (const std::string& column : columns) known.push_back({column, column});
    const Invocation without_arguments{invocation.options, invocation.client, {}};
    return without_arguments.list(reply.json(), known, columns);
}

Outcome list_permissions(const Invocation& invocation) {
    const std::string& vhost = invocation.options.vhost;
    invocation.banner("Listing permissions for vhost \"" + vhost + "\" ...");
    return list_rows(invocation, "/vhosts/" + escape(vhost) + "/permissions", no_such_vhost(vhost),
                     {"user", "configure", "write", "read"});
}

Outcome list_topic_permissions(const Invocation& invocation) {
    const std::string& vhost = invocation.options.vhost;
    invocation.banner("Listing topic permissions for vhost \"" + vhost + "\" ...");
    return list_rows(invocation, "/vhosts/" + escape(vhost) + "/topic-permissions",
                     no_such_vhost(vhost), {"user", "exchange", "write", "read"});
}

Outcome list_user_permissions(const Invocation& invocation) {
    const std::string& user = invocation.argument(0);
    invocation.banner("Listing permissions for user \"" + user + "\" ...");
    return list_rows(invocation, "/users/" + escape(user) + "/permissions", no_such_user(user),
                     {"vhost", "configure", "write", "read"});
}

Outcome list_user_topic_permissions(const Invocation& invocation) {
    const std::string& user = invocation.argument(0);
    invocation.banner("Listing topic permissions for user \"" + user + "\" ...");
    return list_rows(invocation, "/users/" + escape(user) + "/topic-permissions",
                     no_such_user(user), {"vhost", "exchange", "write", "read"});
}

}  // namespace

std::span<const Command> permission_commands() {
    static constexpr Command commands[] = {
        {"set_permissions", 4, 4, "[-p VHOST] USERNAME CONFIGURE WRITE READ",
         "Sets a user's permissions in a virtual host, as three regular expressions.",
         "set_permissions -p qa janeway \"^janeway-.*\" \".*\" \".*\"", set_permissions},
        {"set_permissions_globally", 4, 4, "USERNAME CONFIGURE WRITE READ",
         "Sets a user's permissions in every virtual host.",
         "set_permissions_globally janeway \".*\" \".*\" \".*\"", set_permissions_globally},
        {"clear_permissions", 1, 1, "[-p VHOST] USERNAME",
         "Removes a user's permissions in a virtual host.", "clear_permissions -p qa janeway",
         clear_permissions},
        {"list_permissions", 0, 0, "[-p VHOST]", "Lists the permissions in a virtual host.",
         "list_permissions -p qa", list_permissions},
        {"list_user_permissions", 1, 1, "USERNAME", "Lists a user's permissions.",
         "list_user_permissions janeway", list_user_permissions},
        {"set_topic_permissions", 4, 4, "[-p VHOST] USERNAME EXCHANGE WRITE READ",
         "Sets the routing keys that a user may use with a topic exchange.",
         "set_topic_permissions janeway amq.topic \"^{username}-.*\" \".*\"",
         set_topic_permissions},
        {"clear_topic_permissions", 1, 2, "[-p VHOST] USERNAME [EXCHANGE]",
         "Removes a user's topic permissions, for one exchange or all.",
         "clear_topic_permissions janeway amq.topic", clear_topic_permissions},
        {"list_topic_permissions", 0, 0, "[-p VHOST]",
         "Lists the topic permissions in a virtual host.", "list_topic_permissions -p qa",
         list_topic_permissions},
        {"list_user_topic_permissions", 1, 1, "USERNAME", "Lists a user's topic permissions.",
         "list_user_topic_permissions janeway", list_user_topic_permissions},
    };
    return commands;
}

}  // namespace revenant::cli
