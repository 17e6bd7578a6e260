#include "amqp10/management/management_operation.h"

#include "amqp10/codec/erlang_term.h"
#include "amqp10/codec/value_conversion.h"
#include "amqp10/message/address.h"
#include "message/erlang_hash.h"

#include <algorithm>
#include <utility>

namespace revenant::amqp10 {

ManagementOperation::ManagementOperation(ManagementClient& client, ManagementScope scope,
                                         ChannelId channel)
    : client_(client),
      scope_(std::move(scope)),
      channel_(channel),
      permissions_(scope_.host, scope_.user, scope_.vhost) {}

void ManagementOperation::begin(ManagementRequest request) {
    current_ = std::move(request);
    if (!current_.error.empty()) return refuse(400, current_.error);
    if (current_.is("PUT", "queues", 2)) return declare_queue();
    if (current_.is("GET", "queues", 2)) return describe_queue();
    if (current_.is("DELETE", "queues", 2)) return delete_queue();
    if (current_.is("DELETE", "queues", 3) && current_.segments[2] == "messages") {
        return purge_queue();
    }
    if (current_.is("PUT", "exchanges", 2)) return declare_exchange();
    if (current_.is("DELETE", "exchanges", 2)) return delete_exchange();
    if (current_.is("POST", "bindings", 1)) return bind();
    if (current_.is("GET", "bindings", 1)) return list_bindings();
    if (current_.is("DELETE", "bindings", 2)) return unbind();
    if (current_.is("PUT", "auth", 2) && current_.segments[1] == "tokens") {
        // Tokens of the internal user store do not expire, but permissions may have changed (amqp10
        // 7.11).
        answer({204, Datum::null()});
        return client_.check_permissions_again();
    }
    refuse(404, "no such resource: " + current_.verb + " /" + current_.segments[0]);
}

void ManagementOperation::answer(const ManagementAnswer& given) {
    step_ = Step::none;
    client_.answer(current_, given);
}

void ManagementOperation::refuse(int status, std::string_view text) {
    answer({status, Datum::string(text)});
}

void ManagementOperation::refuse_line_break(const std::string& name) {
    refuse(400, "Bad name '" + name + "': line feed and carriage return characters not allowed");
}

bool ManagementOperation::require(Permission permission, std::string_view kind,
                                  std::string_view name) {
    const auto refusal = permissions_.current().refusal(permission, kind, name);
    if (refusal) client_.deny(*refusal);
    return !refusal;
}

// ------------------------------------------------------------------------- queues

namespace {

bool has_line_break(std::string_view name) {
    return name.find_first_of("\r\n") != std::string_view::npos;
}

Datum map_of(const Table& arguments) {
    DataMap map;
    for (const Field& field : arguments) {
        if (auto datum = to_datum(field.value)) {
            map.push_back({Datum::string(field.name), std::move(*datum)});
        }
    }
    return Datum::map(std::move(map));
}

Datum count_map(std::uint64_t count) {
    return Datum::map({{Datum::string("message_count"), Datum::ulong(count)}});
}

}  // namespace

// amqp10 7.5
void ManagementOperation::declare_queue() {
    const std::string& name = current_.segments[1];
    auto fields = read_fields(current_.body, {"durable", "exclusive", "auto_delete"}, {},
                              "bad queue property");
    if (!fields) return refuse(400, fields.error());
    if (name.empty()) {
        return refuse(400, "declare queue with empty name not allowed");
    }
    if (has_line_break(name)) return refuse_line_break(name);
    if (name.starts_with("amq.rabbitmq.reply-to")) {  // the engine's name for reply consumers
        return refuse(403, "queue '" + name + "' in vhost '" + scope_.vhost +
                               "' starts with reserved prefix 'amq.'");
    }
    if (!require(Permission::configure, "queue", name)) return;
    engine::DeclareQueue command;
    command.channel = channel_;
    command.name = name;
    command.durable = fields->flag("durable", true);
    command.exclusive = fields->flag("exclusive", false);
    command.auto_delete = fields->flag("auto_delete", false);
    command.arguments = std::move(fields->arguments);
    command.refusal_if_new = permissions_.current().dead_letter_refusal(name, command.arguments);
    permissions_.current().add_vhost_settings(command, scope_.settings.default_queue_type);
    step_ = Step::declare_queue;
    client_.send_to_engine(std::move(command));
}

void ManagementOperation::describe_queue() {
    const std::string& name = current_.segments[1];
    if (const auto refusal = permissions_.current().passive_refusal("queue", name)) {
        return client_.deny(*refusal);
    }
    created_status_ = 200;
    step_ = Step::describe_queue;
    client_.send_to_engine(engine::DescribeQueue{channel_, name});
}

void ManagementOperation::delete_queue() {
    const std::string& name = current_.segments[1];
    if (!require(Permission::configure, "queue", name)) return;
    step_ = Step::delete_queue;
    client_.send_to_engine(engine::DeleteQueue{channel_, name, false, false});
}

void ManagementOperation::purge_queue() {
    const std::string& name = current_.segments[1];
    if (!require(Permission::read, "queue", name)) return;
    step_ = Step::purge_queue;
    client_.send_to_engine(engine::PurgeQueue{channel_, name});
}

// ------------------------------------------------------------------------- exchanges

// amqp10 7.8
void ManagementOperation::declare_exchange() {
    const std::string& name = current_.segments[1];
    auto fields = read_fields(current_.body, {"durable", "auto_delete", "internal"}, {"type"},
                              "bad exchange property");
    if (!fields) return refuse(400, fields.error());
    if (has_line_break(name)) return refuse_line_break(name);
    if (name.empty()) return refuse(403, "operation not permitted on the default exchange");
    if (!require(Permission::configure, "exchange", name)) return;
    const std::string* const type = fields->text("type");
    engine::DeclareExchange command;
    command.channel = channel_;
    command.name = name;
    command.type = type == nullptr ? "direct" : *type;
    command.durable = fields->flag("durable", true);
    command.auto_delete = fields->flag("auto_delete", false);
    command.internal = fields->flag("internal", false);
    command.arguments = std::move(fields->arguments);
    command.refusal_if_new = permissions_.current().alternate_refusal(name, command.arguments);
    step_ = Step::declare_exchange;
    client_.send_to_engine(std::move(command));
}

void ManagementOperation::delete_exchange() {
    const std::string& name = current_.segments[1];
    if (name.empty()) return refuse(403, "operation not permitted on the default exchange");
    if (!require(Permission::configure, "exchange", name)) return;
    step_ = Step::without_content;
    client_.send_to_engine(engine::DeleteExchange{channel_, name, false});
}

// ------------------------------------------------------------------------- bindings

namespace {

// Distinguishes bindings with the same source, destination and key in their paths; empty without
// arguments (amqp10 7.10).
std::string mark_of(const Table& arguments) {
    return arguments.empty() ? std::string() : arguments_hash(arguments);
}

constexpr std::string_view binding_needs = "a binding needs a source, a key and one destination";

// #{<<"key">> => <<"k">>,<<"src">> => <<"x">>}
std::string shown_query(const ManagementRequest& request) {
    auto sorted = request.query;
    std::sort(sorted.begin(), sorted.end());
    std::string text;
    for (const auto& [key, value] : sorted) {
        text += text.empty() ? "#{" : ",";
        text += erlang_binary(key) + " => " + erlang_binary(value);
    }
    return text + "}";
}

}  // namespace

// For a request with the binding in its path.
bool ManagementOperation::read_ends_in_path(std::string_view complaint) {
    return read_ends({current_.parameter("src"), current_.parameter("key"),
                      current_.parameter("dstq"), current_.parameter("dste")},
                     complaint);
}

bool ManagementOperation::read_ends(const NamedEnds& named, std::string_view complaint) {
    if (named.source == nullptr || named.key == nullptr ||
        (named.queue == nullptr) == (named.exchange == nullptr)) {
        refuse(400, complaint);
        return false;
    }
    const bool to_queue = named.queue != nullptr;
    source_ = *named.source;
    key_ = *named.key;
    destination_kind_ =
        to_queue ? engine::DestinationKind::queue : engine::DestinationKind::exchange;
    destination_ = to_queue ? *named.queue : *named.exchange;
    return true;
}

bool ManagementOperation::may_bind() {
    const bool to_queue = destination_kind_ == engine::DestinationKind::queue;
    if (source_.empty() || (!to_queue && destination_.empty())) {
        refuse(403, "operation not permitted on the default exchange");
        return false;
    }
    for (const std::string& name : {source_, destination_}) {
        if (!has_line_break(name)) continue;
        refuse_line_break(name);
        return false;
    }
    return require(Permission::write, to_queue ? "queue" : "exchange", destination_) &&
           require(Permission::read, "exchange", source_);
}

// amqp10 7.9
void ManagementOperation::bind() {
    const auto fields = read_fields(
        current_.body, {}, {"source", "binding_key", "destination_queue", "destination_exchange"},
        "bad binding field");
    if (!fields) return refuse(400, fields.error());
    if (!read_ends({fields->text("source"), fields->text("binding_key"),
                    fields->text("destination_queue"), fields->text("destination_exchange")},
                   binding_needs) ||
        !may_bind()) {
        return;
    }
    engine::Bind command{channel_,          source_, destination_kind_, destination_, key_,
                         fields->arguments, {}};
    command.refusal_if_topic =
        permissions_.current().topic_refusal(Permission::read, source_, key_);
    step_ = Step::without_content;
    client_.send_to_engine(std::move(command));
}

// amqp10 7.10
void ManagementOperation::list_bindings() {
    const bool has_destination =
        current_.parameter("dstq") != nullptr || current_.parameter("dste") != nullptr;
    if (!read_ends_in_path(has_destination
                               ? std::string(binding_needs)
                               : "missing 'dste' or 'dstq' in query: " + shown_query(current_)) ||
        !may_bind()) {
        return;
    }
    ask_for_bindings(Step::list_bindings);
}

void ManagementOperation::unbind() {
    const std::string bad = bad_binding_segment(current_.segments[1]);
    if (!read_ends_in_path(bad)) return;
    if (source_.empty() || destination_.empty() || current_.parameter("args") == nullptr) {
        return refuse(400, bad);
    }
    if (!may_bind()) return;
    ask_for_bindings(Step::find_binding);
}

void ManagementOperation::ask_for_bindings(Step next) {
    engine::ListBindings command{channel_, source_, destination_kind_, destination_, key_, {}};
    command.refusal_if_topic =
        permissions_.current().topic_refusal(Permission::read, source_, key_);
    step_ = next;
    client_.send_to_engine(std::move(command));
}

void ManagementOperation::unbind_listed(const engine::BindingsAnswer& listed) {
    const std::string* const mark = current_.parameter("args");
    for (const engine::BindingDescription& binding : listed.bindings) {
        if (mark_of(binding.arguments) != (mark == nullptr ? "" : *mark)) continue;
        engine::Unbind command{channel_,          source_, destination_kind_, destination_, key_,
                               binding.arguments, {}};
        command.refusal_if_topic =
            permissions_.current().topic_refusal(Permission::read, source_, key_);
        step_ = Step::without_content;
        return client_.send_to_engine(std::move(command));
    }
    answer({204, Datum::null()});
}

// ------------------------------------------------------------------------- the engine's answers

namespace {

Datum queue_map(const engine::QueueDescription& queue, const protocol::ConnectionSettings& settings,
                const std::string& vhost) {
    const Datum node = Datum::string(settings.cluster_name);
    return Datum::map({{Datum::string("name"), Datum::string(queue.name)},
                       {Datum::string("vhost"), Datum::string(vhost)},
                       {Datum::string("durable"), Datum::boolean(queue.durable)},
                       {Datum::string("auto_delete"), Datum::boolean(queue.auto_delete)},
                       {Datum::string("exclusive"), Datum::boolean(queue.exclusive)},
                       {Datum::string("type"), Datum::string(queue.type)},
                       {Datum::string("arguments"), map_of(queue.arguments)},
                       {Datum::string("message_count"), Datum::ulong(queue.message_count)},
                       {Datum::string("consumer_count"),
                        Datum::uint(static_cast<std::uint32_t>(queue.consumer_count))},
                       {Datum::string("leader"), node},
                       {Datum::string("replicas"), Datum::array({node})}});
}

}  // namespace

void ManagementOperation::answer_bindings(const engine::BindingsAnswer& listed) {
    Data list;
    for (const auto& binding : listed.bindings) {
        const bool to_queue = destination_kind_ == engine::DestinationKind::queue;
        const std::string location = "/bindings/src=" + percent_encode(source_) +
                                     (to_queue ? ";dstq=" : ";dste=") +
                                     percent_encode(destination_) + ";key=" + percent_encode(key_) +
                                     ";args=" + mark_of(binding.arguments);
        list.push_back(
            Datum::map({{Datum::string("source"), Datum::string(source_)},
                        {Datum::string(to_queue ? "destination_queue" : "destination_exchange"),
                         Datum::string(destination_)},
                        {Datum::string("binding_key"), Datum::string(key_)},
                        {Datum::string("arguments"), map_of(binding.arguments)},
                        {Datum::string("location"), Datum::string(location)}}));
    }
    answer({200, Datum::list(std::move(list))});
}

void ManagementOperation::on_done(engine::Done&& done) {
    switch (step_) {
        case Step::none:
            return;
        case Step::declare_queue:
            created_status_ = std::get<engine::QueueAnswer>(done.answer).created ? 201 : 200;
            step_ = Step::describe_queue;
            return client_.send_to_engine(engine::DescribeQueue{channel_, current_.segments[1]});
        case Step::describe_queue:
            return answer(
                {created_status_, queue_map(std::get<engine::QueueDescription>(done.answer),
                                            scope_.settings, scope_.vhost)});
        case Step::delete_queue:
        case Step::purge_queue:
            return answer(
                {200, count_map(std::get<engine::CountAnswer>(done.answer).message_count)});
        case Step::declare_exchange:
        case Step::without_content:
            return answer({204, Datum::null()});
        case Step::list_bindings:
            return answer_bindings(std::get<engine::BindingsAnswer>(done.answer));
        case Step::find_binding:
            return unbind_listed(std::get<engine::BindingsAnswer>(done.answer));
    }
}

void ManagementOperation::on_refused(const engine::Refusal& refusal) {
    const bool declares = step_ == Step::declare_queue || step_ == Step::declare_exchange;
    const auto in_vhost = [&](std::string_view kind, std::string_view what) {
        return std::string(kind) + " '" + current_.segments[1] + "' in vhost '" + scope_.vhost +
               "' " + std::string(what);
    };
    switch (refusal.kind) {
        case engine::RefusalKind::precondition_failed:
            return refuse(declares ? 409 : 400, refusal.text);
        case engine::RefusalKind::limit_reached:
            return refuse(403, refusal.text);
        case engine::RefusalKind::not_permitted:
            step_ = Step::none;
            return client_.deny(refusal);
        case engine::RefusalKind::access_refused:
            if (declares && current_.segments[1].starts_with("amq.")) {
                return refuse(403, in_vhost(step_ == Step::declare_queue ? "queue" : "exchange",
                                            "starts with reserved prefix 'amq.'"));
            }
            return refuse(403, refusal.text);
        case engine::RefusalKind::not_found:
            if (step_ == Step::describe_queue || step_ == Step::purge_queue) {
                return refuse(404, in_vhost("queue", "not found"));
            }
            return refuse(400, refusal.text);
        default:
            return refuse(400, refusal.text);
    }
}

}  // namespace revenant::amqp10
