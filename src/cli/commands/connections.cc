// Connections and channels.
#include "cli/commands/command_tables.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace revenant::cli {
namespace {

namespace json = boost::json;

Outcome list_connections(const Invocation& invocation) {
    std::vector<Column> known;
    for (const char* name : {"name",
                             "port",
                             "host",
                             "peer_port",
                             "peer_host",
                             "ssl",
                             "ssl_protocol",
                             "ssl_key_exchange",
                             "ssl_cipher",
                             "ssl_hash",
                             "peer_cert_subject",
                             "peer_cert_issuer",
                             "peer_cert_validity",
                             "state",
                             "channels",
                             "protocol",
                             "auth_mechanism",
                             "user",
                             "user_who_performed_action",
                             "vhost",
                             "timeout",
                             "frame_max",
                             "channel_max",
                             "client_properties",
                             "container_id",
                             "connected_at",
                             "recv_oct",
                             "recv_cnt",
                             "send_oct",
                             "send_cnt",
                             "send_pend",
                             "reductions",
                             "garbage_collection",
                             "type",
                             "node",
                             "user_provided_name"}) {
        known.push_back({name, name});
    }
    known.push_back({"pid", "name"});  // the argument of close_connection
    const std::vector<std::string> otherwise = {"user", "peer_host", "peer_port", "state"};
    REVENANT_TRY(const auto columns, invocation.columns(known, otherwise));
    invocation.banner("Listing connections ...");
    REVENANT_TRY(const json::value connections,
                 invocation.get("/connections" + std::string(invocation.typed_arguments())));
    return invocation.list(connections, known, otherwise);
}

Outcome list_channels(const Invocation& invocation) {
    std::vector<Column> known;
    for (const char* name :
         {"name", "number", "user", "vhost", "node", "transactional", "confirm", "consumer_count",
          "messages_unacknowledged", "messages_uncommitted", "acks_uncommitted",
          "messages_unconfirmed", "prefetch_count", "global_prefetch_count", "state"}) {
        known.push_back({name, name});
    }
    known.push_back({"pid", "name"});
    known.push_back({"connection", "connection_details.name"});
    const std::vector<std::string> otherwise = {"pid", "user", "consumer_count",
                                                "messages_unacknowledged"};
    REVENANT_TRY(const auto columns, invocation.columns(known, otherwise));
    invocation.banner("Listing channels ...");
    REVENANT_TRY(const json::value channels, invocation.get("/channels"));
    return invocation.list(channels, known, otherwise);
}

Outcome check_reason(const std::string& reason) {
    if (reason.find_first_of("\r\n") == std::string::npos) return {};
    return Unexpected{Failure{ExitCode::data_error, "the reason must not contain line breaks"}};
}

Outcome close_connection(const Invocation& invocation) {
    const std::string& name = invocation.argument(0);
    const std::string& reason = invocation.argument(1);
    invocation.banner("Closing connection " + name + ", reason: " + reason + "...");
    REVENANT_TRY_VOID(check_reason(reason));
    REVENANT_TRY(const Reply reply, invocation.ask("DELETE", "/connections/" + escape(name),
                                                   nullptr, {{"X-Reason", reason}}));
    if (reply.status == 404) {
        return Unexpected{Failure{ExitCode::unavailable, "no such connection: " + name}};
    }
    if (reply.status >= 300) return refused(reply);
    invocation.say("");
    return {};
}

// Closes the connections whose field has the value, or all if the field is null. Returns their
// number.
Result<std::int64_t, Failure> close_matching(const Invocation& invocation, const char* field,
                                             const std::string& value, const std::string& reason) {
    REVENANT_TRY_VOID(check_reason(reason));
    REVENANT_TRY(const json::value connections, invocation.get("/connections"));
    const std::int64_t most = invocation.options.limit;
    std::int64_t closed = 0;
    for (const json::value& connection : connections.as_array()) {
        if (most > 0 && closed == most) break;
        if (field != nullptr && connection.at(field) != json::value(value)) continue;
        REVENANT_TRY(
            const Reply reply,
            invocation.ask("DELETE", "/connections/" + escape(plain_text(connection.at("name"))),
                           nullptr, {{"X-Reason", reason}}));
        // The client may have closed the connection in the meantime.
        if (reply.status >= 300 && reply.status != 404) return refused(reply);
        closed += 1;
    }
    return closed;
}

Outcome close_all_connections(const Invocation& invocation) {
    const std::string& reason = invocation.argument(0);
    const Options& options = invocation.options;
    const bool all = options.global;
    invocation.banner("Closing all connections " +
                      (all ? std::string("across all vhosts") : "in vhost " + options.vhost) +
                      ", reason: " + reason + "...");
    if (!all) REVENANT_TRY_VOID(invocation.require_vhost());
    REVENANT_TRY(const std::int64_t closed,
                 close_matching(invocation, all ? nullptr : "vhost", options.vhost, reason));
    invocation.say("Closed " + std::to_string(closed) + " connections");
    return {};
}

Outcome close_all_user_connections(const Invocation& invocation) {
    const std::string& user = invocation.argument(0);
    const std::string& reason = invocation.argument(1);
    invocation.banner("Closing connections of user " + user + ", reason: " + reason + "...");
    REVENANT_TRY(const Reply found, invocation.ask("GET", "/users/" + escape(user)));
    if (found.status == 404) return no_such_user(user);
    REVENANT_TRY(const std::int64_t closed, close_matching(invocation, "user", user, reason));
    if (invocation.options.formatter == "json") {
        invocation.say("Closed " + std::to_string(closed) + " connections");
    }
    return {};
}

}  // namespace

std::span<const Command> connection_commands() {
    static constexpr Command commands[] = {
        {"list_connections", 0, SIZE_MAX, "[COLUMN ...]", "Lists connections.",
         "list_connections name user channels", list_connections},
        {"list_channels", 0, SIZE_MAX, "[COLUMN ...]", "Lists channels.",
         "list_channels name messages_unacknowledged", list_channels},
        {"close_connection", 2, 2, "NAME REASON",
         "Closes a connection; list_connections pid shows its name.",
         "close_connection \"127.0.0.1:5000 -> 127.0.0.1:5672\" \"maintenance\"", close_connection},
        {"close_all_connections", 1, 1, "[-p VHOST] [--global] [--limit N] REASON",
         "Closes all connections, or those of a virtual host.",
         "close_all_connections -p qa --limit 10 \"maintenance\"", close_all_connections},
        {"close_all_user_connections", 2, 2, "USERNAME REASON", "Closes all connections of a user.",
         "close_all_user_connections janeway \"maintenance\"", close_all_user_connections},
    };
    return commands;
}

}  // namespace revenant::cli
