// Connections and channels.
#include "cli/command.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace revenant::cli {
namespace {

namespace json = boost::json;

Outcome list_connections(const Invocation& invocation) {
    std::vector<Column> known;
    for (const char* name :
         {"name",     "port",      "host",        "peer_port",         "peer_host",    "ssl",
          "state",    "channels",  "protocol",    "auth_mechanism",    "user",         "vhost",
          "timeout",  "frame_max", "channel_max", "client_properties", "connected_at", "recv_oct",
          "send_oct", "type",      "node",        "user_provided_name"}) {
        known.push_back({name, name});
    }
    known.push_back({"pid", "name"});  // what close_connection takes
    const std::vector<std::string> otherwise = {"user", "peer_host", "peer_port", "state"};
    REVENANT_TRY(const auto columns, invocation.columns(known, otherwise));
    invocation.banner("Listing connections ...");
    REVENANT_TRY(const json::value connections, invocation.get("/connections"));
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

Outcome close_connection(const Invocation& invocation) {
    const std::string& name = invocation.argument(0);
    const std::string& reason = invocation.argument(1);
    invocation.banner("Closing connection " + name + ", reason: " + reason + "...");
    if (reason.find_first_of("\r\n") != std::string::npos) {
        return Unexpected{Failure{ExitCode::data_error, "the reason has line breaks"}};
    }
    REVENANT_TRY(const Reply reply, invocation.ask("DELETE", "/connections/" + escape(name),
                                                   nullptr, {{"X-Reason", reason}}));
    if (reply.status == 404) {
        return Unexpected{Failure{ExitCode::unavailable, "no such connection: " + name}};
    }
    if (reply.status >= 300) return refused(reply);
    invocation.say("");
    return {};
}

constexpr Command commands[] = {
    {"list_connections", 0, SIZE_MAX, "[COLUMN ...]", "Lists connections.",
     "list_connections name user channels", list_connections},
    {"list_channels", 0, SIZE_MAX, "[COLUMN ...]", "Lists channels.",
     "list_channels name messages_unacknowledged", list_channels},
    {"close_connection", 2, 2, "NAME REASON",
     "Closes a connection; list_connections pid shows its name.",
     "close_connection \"127.0.0.1:5000 -> 127.0.0.1:5672\" \"maintenance\"", close_connection},
};

}  // namespace

std::span<const Command> connection_commands() { return commands; }

}  // namespace revenant::cli
