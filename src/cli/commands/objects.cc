// Queues, exchanges, bindings, consumers.
#include "cli/commands/command_tables.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace revenant::cli {
namespace {

namespace json = boost::json;

// Columns that have the same name in the API.
std::vector<Column> same_names(std::initializer_list<const char*> names) {
    std::vector<Column> columns;
    for (const char* name : names) columns.push_back({name, name});
    return columns;
}

// Lists the objects of one kind in one virtual host.
Outcome list_of_vhost(const Invocation& invocation, std::string_view kind, std::string_view banner,
                      const std::vector<Column>& known, const std::vector<std::string>& otherwise) {
    // An unknown column must fail before anything is printed.
    REVENANT_TRY(const auto columns, invocation.columns(known, otherwise));
    invocation.banner(banner);
    const std::string& vhost = invocation.options.vhost;
    REVENANT_TRY(const Reply reply,
                 invocation.ask("GET", "/" + std::string(kind) + "/" + escape(vhost) +
                                           std::string(invocation.typed_arguments())));
    if (reply.status == 404) return no_such_vhost(vhost);
    if (reply.status != 200) return refused(reply);
    return invocation.list(reply.json(), known, otherwise);
}

Outcome list_queues(const Invocation& invocation) {
    std::vector<Column> known = same_names({"name",
                                            "durable",
                                            "auto_delete",
                                            "arguments",
                                            "policy",
                                            "operator_policy",
                                            "effective_policy_definition",
                                            "exclusive",
                                            "exclusive_consumer_tag",
                                            "messages_ready",
                                            "messages_unacknowledged",
                                            "messages",
                                            "messages_ready_ram",
                                            "messages_unacknowledged_ram",
                                            "messages_ram",
                                            "messages_persistent",
                                            "message_bytes",
                                            "message_bytes_ready",
                                            "message_bytes_unacknowledged",
                                            "message_bytes_ram",
                                            "message_bytes_persistent",
                                            "messages_parked",
                                            "deaths",
                                            "messages_delayed",
                                            "messages_dlx",
                                            "message_bytes_dlx",
                                            "delivery_limit",
                                            "head_message_timestamp",
                                            "disk_reads",
                                            "disk_writes",
                                            "consumers",
                                            "consumer_utilisation",
                                            "consumer_capacity",
                                            "memory",
                                            "state",
                                            "type",
                                            "leader",
                                            "members",
                                            "online",
                                            "vhost",
                                            "single_active_consumer_tag"});
    known.push_back({"pid", "name"});
    known.push_back({"owner_pid", "owner_pid_details.name"});
    known.push_back({"exclusive_consumer_pid", "exclusive_consumer_tag"});
    const std::vector<std::string> otherwise = {"name", "messages"};
    const std::string banner =
        "Timeout: 60.0 seconds ...\nListing queues for vhost " + invocation.options.vhost + " ...";
    if (!invocation.options.offline) {
        return list_of_vhost(invocation, "queues", banner, known, otherwise);
    }
    // No queue is offline, because there is no other node.
    REVENANT_TRY(const auto columns, invocation.columns(known, otherwise));
    invocation.banner(banner);
    REVENANT_TRY_VOID(invocation.require_vhost());
    return invocation.list(json::array(), known, otherwise);
}

Outcome list_exchanges(const Invocation& invocation) {
    return list_of_vhost(
        invocation, "exchanges", "Listing exchanges for vhost " + invocation.options.vhost + " ...",
        same_names({"name", "type", "durable", "auto_delete", "internal", "arguments", "policy"}),
        {"name", "type"});
}

Outcome list_bindings(const Invocation& invocation) {
    const std::vector<Column> known = {{"source_name", "source"},
                                       {"source_kind", "\"exchange\""},
                                       {"destination_name", "destination"},
                                       {"destination_kind", "destination_type"},
                                       {"routing_key", "routing_key"},
                                       {"arguments", "arguments"},
                                       {"vhost", "vhost"}};
    return list_of_vhost(invocation, "bindings",
                         "Listing bindings for vhost " + invocation.options.vhost + "...", known,
                         {"source_name", "source_kind", "destination_name", "destination_kind",
                          "routing_key", "arguments"});
}

Outcome list_consumers(const Invocation& invocation) {
    const std::vector<Column> known = {
        {"queue_name", "queue.name"},           {"channel_pid", "channel_details.name"},
        {"consumer_tag", "consumer_tag"},       {"ack_required", "ack_required"},
        {"prefetch_count", "prefetch_count"},   {"active", "active"},
        {"activity_status", "activity_status"}, {"arguments", "arguments"}};
    return list_of_vhost(invocation, "consumers",
                         "Listing consumers in vhost " + invocation.options.vhost + " ...", known,
                         {"queue_name", "channel_pid", "consumer_tag", "ack_required",
                          "prefetch_count", "active", "arguments"});
}

std::string queue_path(const Invocation& invocation) {
    return "/queues/" + escape(invocation.options.vhost) + "/" + escape(invocation.argument(0));
}

Outcome delete_queue(const Invocation& invocation) {
    const Options& options = invocation.options;
    std::string conditions;
    if (options.if_unused) conditions += " if queue is unused";
    if (options.if_empty)
        conditions += (conditions.empty() ? "" : " and") + std::string(" if queue is empty");
    invocation.banner("Deleting queue '" + invocation.argument(0) + "' on vhost '" + options.vhost +
                      "'" + conditions + " ...");
    REVENANT_TRY_VOID(invocation.require_vhost());
    REVENANT_TRY(const Reply found, invocation.ask("GET", queue_path(invocation)));
    if (found.status == 404) return Unexpected{Failure{ExitCode::usage, "No such queue was found"}};
    if (found.status != 200) return refused(found);
    std::string path = queue_path(invocation) + "?";
    if (options.if_unused) path += "if-unused=true&";
    if (options.if_empty) path += "if-empty=true&";
    path.pop_back();
    REVENANT_TRY(const Reply reply, invocation.ask("DELETE", path));
    const std::string reason = reply.status >= 300 ? reply.reason() : "";
    if (reason.ends_with("in use")) {
        return Unexpected{Failure{ExitCode::usage, "Queue is in use"}};
    }
    if (reason.ends_with("not empty")) {
        return Unexpected{Failure{ExitCode::usage, "Queue is not empty"}};
    }
    if (reply.status >= 300) return refused(reply);
    const json::value queue = found.json();
    invocation.say("Queue was successfully deleted with " + plain_text(queue.at("messages_ready")) +
                   " ready messages");
    return {};
}

Outcome purge_queue(const Invocation& invocation) {
    invocation.banner("Purging queue '" + invocation.argument(0) + "' in vhost '" +
                      invocation.options.vhost + "' ...");
    REVENANT_TRY_VOID(invocation.require_vhost());
    REVENANT_TRY(const Reply reply, invocation.ask("DELETE", queue_path(invocation) + "/contents"));
    if (reply.status == 404)
        return Unexpected{
            Failure{ExitCode::data_error, "Object (queue, stream, exchange, etc) was not found"}};
    if (reply.status >= 300) return refused(reply);
    invocation.say("");
    return {};
}

Outcome list_parked_messages(const Invocation& invocation) {
    const std::vector<Column> known =
        same_names({"level", "sequence", "unit", "messages", "message_bytes", "reason"});
    invocation.banner("Listing parked messages of queue '" + invocation.argument(0) +
                      "' in vhost '" + invocation.options.vhost + "' ...");
    REVENANT_TRY_VOID(invocation.require_vhost());
    REVENANT_TRY(const Reply reply, invocation.ask("GET", queue_path(invocation) + "/parked"));
    if (reply.status == 404) return Unexpected{Failure{ExitCode::unavailable, "not_found"}};
    if (reply.status != 200) return refused(reply);
    const json::value found = reply.json();
    if (!found.is_array()) {
        return Unexpected{Failure{ExitCode::software, "the node's response is not a list"}};
    }
    invocation.print(make_table(found.get_array(), known));
    return {};
}

Outcome discard_parked_messages(const Invocation& invocation) {
    invocation.banner("Discarding parked messages of queue '" + invocation.argument(0) +
                      "' in vhost '" + invocation.options.vhost + "' ...");
    REVENANT_TRY_VOID(invocation.require_vhost());
    REVENANT_TRY(const Reply reply, invocation.ask("DELETE", queue_path(invocation) + "/parked"));
    if (reply.status == 404) return Unexpected{Failure{ExitCode::unavailable, "not_found"}};
    if (reply.status >= 300) return refused(reply);
    invocation.say("");
    return {};
}

}  // namespace

std::span<const Command> object_commands() {
    static constexpr Command commands[] = {
        {"list_queues", 0, SIZE_MAX, "[-p VHOST] [--offline] [COLUMN ...]",
         "Lists the queues of a virtual host.",
         "list_queues -q --formatter json name messages_ready policy", list_queues},
        {"list_exchanges", 0, SIZE_MAX, "[-p VHOST] [COLUMN ...]",
         "Lists the exchanges of a virtual host.", "list_exchanges name type arguments",
         list_exchanges},
        {"list_bindings", 0, SIZE_MAX, "[-p VHOST] [COLUMN ...]",
         "Lists the bindings of a virtual host.", "list_bindings source_name routing_key",
         list_bindings},
        {"list_consumers", 0, SIZE_MAX, "[-p VHOST] [COLUMN ...]",
         "Lists the consumers of a virtual host.", "list_consumers", list_consumers},
        {"delete_queue", 1, 1, "[-p VHOST] QUEUE [--if-empty|-e] [--if-unused|-u]",
         "Deletes a queue.", "delete_queue orders --if-empty", delete_queue},
        {"purge_queue", 1, 1, "[-p VHOST] QUEUE", "Deletes all ready messages in a queue.",
         "purge_queue orders", purge_queue},
        {"list_parked_messages", 1, 1, "[-p VHOST] QUEUE",
         "Lists messages in a queue that cannot be read from disk.", "list_parked_messages orders",
         list_parked_messages},
        {"discard_parked_messages", 1, 1, "[-p VHOST] QUEUE",
         "Deletes messages in a queue that cannot be read from disk.",
         "discard_parked_messages orders", discard_parked_messages},
    };
    return commands;
}

}  // namespace revenant::cli
