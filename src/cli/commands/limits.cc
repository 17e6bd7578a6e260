// Limits of virtual hosts and of users.
#include "cli/commands/command_tables.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <iostream>

namespace revenant::cli {
namespace {

namespace json = boost::json;

// Takes {"max-connections": 5}. Sends one request per limit, after all of them are checked.
Outcome set_limits(const Invocation& invocation, const std::string& path,
                   const std::string& definition, const std::vector<std::string_view>& known) {
    REVENANT_TRY(const json::value limits, parse_json(definition));
    const json::object* const object = limits.if_object();
    if (object == nullptr) {
        return Unexpected{Failure{ExitCode::unavailable, "the limits are not a JSON object"}};
    }
    for (const auto& [name, value] : *object) {
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            return Unexpected{
                Failure{ExitCode::unavailable, "Validation failed\n\nUnrecognised terms [{<<" +
                                                   quoted(name) + ">>," + json::serialize(value) +
                                                   "}] in limits\n"}};
        }
        if (!value.is_int64()) {
            return Unexpected{Failure{
                ExitCode::unavailable,
                std::string(name) + " should be a number, actually was " + json::serialize(value)}};
        }
    }
    for (const auto& [name, value] : *object) {
        REVENANT_TRY(const Reply reply, invocation.ask("PUT", path + "/" + escape(name),
                                                       json::object{{"value", value}}));
        if (reply.status >= 300) return refused(reply);
    }
    invocation.say("");
    return {};
}

Outcome clear_limit(const Invocation& invocation, const std::string& path) {
    REVENANT_TRY(const Reply reply, invocation.ask("DELETE", path));
    if (reply.status >= 300 && reply.status != 404) return refused(reply);
    return {};
}

Outcome set_vhost_limits(const Invocation& invocation) {
    const std::string& vhost = invocation.options.vhost;
    invocation.banner("Setting vhost limits to " + quoted(invocation.argument(0)) + " for vhost " +
                      quoted(vhost) + " ...");
    REVENANT_TRY_VOID(invocation.require_vhost());
    return set_limits(invocation, "/vhost-limits/" + escape(vhost), invocation.argument(0),
                      {"max-connections", "max-queues"});
}

Outcome clear_vhost_limits(const Invocation& invocation) {
    const std::string& vhost = invocation.options.vhost;
    invocation.banner("Clearing vhost " + quoted(vhost) + " limits ...");
    REVENANT_TRY_VOID(invocation.require_vhost());
    for (const char* name : {"max-connections", "max-queues"}) {
        REVENANT_TRY_VOID(clear_limit(invocation, "/vhost-limits/" + escape(vhost) + "/" + name));
    }
    invocation.say("");
    return {};
}

Outcome list_vhost_limits(const Invocation& invocation) {
    const Options& options = invocation.options;
    const bool all = options.global;
    invocation.banner(all ? std::string("Listing limits for all vhosts ...")
                          : "Listing limits for vhost " + quoted(options.vhost) + " ...");
    if (!all) REVENANT_TRY_VOID(invocation.require_vhost());
    REVENANT_TRY(json::value limits,
                 invocation.get(all ? "/vhost-limits" : "/vhost-limits/" + escape(options.vhost)));
    for (json::value& one : limits.as_array()) {
        json::value& value = one.at("value");
        value = json::serialize(value);
    }
    if (all) {
        return invocation.list(limits, {{"vhost", "vhost"}, {"limits", "value"}},
                               {"vhost", "limits"});
    }
    if (options.formatter == "json") {
        return invocation.list(limits, {{"limits", "value"}}, {"limits"});
    }
    // rabbitmqctl prints an empty line if there are no limits.
    const json::array& found = limits.as_array();
    std::cout << (found.empty() ? "" : plain_text(found.front().at("value"))) << '\n';
    return {};
}

Outcome require_user(const Invocation& invocation, const std::string& user) {
    REVENANT_TRY(const Reply reply, invocation.ask("GET", "/users/" + escape(user)));
    if (reply.status == 404) return no_such_user(user);
    if (reply.status != 200) return refused(reply);
    return {};
}

Outcome set_user_limits(const Invocation& invocation) {
    const std::string& user = invocation.argument(0);
    invocation.banner("Setting user limits to " + quoted(invocation.argument(1)) + " for user " +
                      quoted(user) + " ...");
    REVENANT_TRY_VOID(require_user(invocation, user));
    return set_limits(invocation, "/user-limits/" + escape(user), invocation.argument(1),
                      {"max-connections", "max-channels"});
}

Outcome clear_user_limits(const Invocation& invocation) {
    const std::string& user = invocation.argument(0);
    const std::string& limit = invocation.argument(1);
    invocation.banner("Clearing " + (limit == "all" ? "all limits" : quoted(limit) + " limit") +
                      " for user " + quoted(user) + " ...");
    REVENANT_TRY_VOID(require_user(invocation, user));
    for (const std::string name : {"max-connections", "max-channels"}) {
        if (limit != "all" && limit != name) continue;
        REVENANT_TRY_VOID(clear_limit(invocation, "/user-limits/" + escape(user) + "/" + name));
    }
    invocation.say("");
    return {};
}

Outcome list_user_limits(const Invocation& invocation) {
    const std::string user = invocation.options.global ? "" : invocation.options.user;
    invocation.banner(user.empty() ? std::string("Listing limits for all users ...")
                                   : "Listing limits for user " + quoted(user) + " ...");
    if (!user.empty()) REVENANT_TRY_VOID(require_user(invocation, user));
    REVENANT_TRY(json::value limits,
                 invocation.get(user.empty() ? "/user-limits" : "/user-limits/" + escape(user)));
    for (json::value& one : limits.as_array()) {
        json::value& value = one.at("value");
        value = json::serialize(value);
    }
    if (user.empty() || invocation.options.formatter == "json") {
        return invocation.list(limits, {{"user", "user"}, {"limits", "value"}}, {"user", "limits"});
    }
    const json::array& found = limits.as_array();
    invocation.say(found.empty() ? std::string_view("{}")
                                 : std::string_view(found.front().at("value").as_string()));
    return {};
}

}  // namespace

std::span<const Command> limit_commands() {
    static constexpr Command commands[] = {
        {"set_vhost_limits", 1, 1, "[-p VHOST] LIMITS",
         "Sets limits of a virtual host: max-connections, max-queues; -1 for none.",
         "set_vhost_limits -p qa '{\"max-connections\":64,\"max-queues\":256}'", set_vhost_limits},
        {"clear_vhost_limits", 0, 0, "[-p VHOST]", "Clears the limits of a virtual host.",
         "clear_vhost_limits -p qa", clear_vhost_limits},
        {"list_vhost_limits", 0, 0, "[-p VHOST] [--global]",
         "Lists the limits of one or all virtual hosts.", "list_vhost_limits", list_vhost_limits},
        {"set_user_limits", 2, 2, "USERNAME LIMITS",
         "Sets limits of a user: max-connections, max-channels; -1 for none.",
         "set_user_limits janeway '{\"max-connections\":10}'", set_user_limits},
        {"clear_user_limits", 2, 2, "USERNAME LIMIT|all", "Clears one or all limits of a user.",
         "clear_user_limits janeway all", clear_user_limits},
        {"list_user_limits", 0, 0, "[--user USERNAME] [--global]",
         "Lists the limits of one or all users.", "list_user_limits --user janeway",
         list_user_limits},
    };
    return commands;
}

}  // namespace revenant::cli
