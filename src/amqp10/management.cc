#include "amqp10/management.h"

#include "amqp10/address.h"
#include "amqp10/connection.h"
#include "amqp10/raw_fields.h"
#include "amqp10/session.h"
#include "amqp10/value_conversion.h"

#include <algorithm>
#include <utility>

namespace revenant::amqp10 {
namespace {

constexpr std::string_view management_address = "/management";
constexpr std::uint32_t credit_max = 8;

template <typename Terminus>
std::optional<std::string> address_in(Raw terminus) {
    const auto found = composite_in<Terminus>(terminus);
    if (!found) return std::nullopt;
    return string_of(found->address);
}

}  // namespace

bool is_management(const Attach& attach) {
    return (attach.role ? address_in<Source>(attach.source) : address_in<Target>(attach.target)) ==
           management_address;
}

std::unique_ptr<Link> make_management_link(Session& session, const Attach& attach) {
    if (attach.role) return std::make_unique<ManagementResponses>(session, attach);
    return std::make_unique<ManagementRequests>(session, attach);
}

// ------------------------------------------------------------------------- the pair

std::string ManagementLink::client_address() const {
    return client_receives() ? address_in<Target>(wish().target).value_or("")
                             : address_in<Source>(wish().source).value_or("");
}

ManagementLink* ManagementLink::other_half() {
    // Every link of a session to /management is one of ours.
    return dynamic_cast<ManagementLink*>(session().link_named(name(), !client_receives()));
}

// 7.1
void ManagementLink::start() {
    const auto paired = entry_in(wish().properties, "paired");
    if (!paired || paired->as_boolean() == nullptr || !*paired->as_boolean()) {
        return fail({condition::invalid_field,
                     "Link property 'paired' is not set to boolean value 'true'",
                     {}});
    }
    if (ManagementLink* const other = other_half()) {
        if (other->client_address() != client_address()) {
            return fail({condition::precondition_failed,
                         "the two links of the management link pair '" + name() +
                             "' have different addresses at the client",
                         {}});
        }
    }
    if (client_receives()) {
        write_attach({.source = wish().source,
                      .target = wish().target,
                      .snd_settle_mode = settle_mode_settled,
                      .initial_delivery_count = 0,
                      .max_message_size = wish().max_message_size});
    } else {
        write_attach({.source = wish().source,
                      .target = wish().target,
                      .snd_settle_mode = settle_mode_settled,
                      .initial_delivery_count = std::nullopt,
                      .max_message_size = connection().settings().frame_max});
    }
    attached();
}

// ------------------------------------------------------------------------- answers

void ManagementResponses::on_flow(const Flow& flow) {
    if (flow.link_credit) {
        credit_until_ = flow.delivery_count.value_or(0) + *flow.link_credit;
    }
    if (flow.drain) delivery_count_ = credit_until_;
    if (!flow.drain && !flow.echo) return;
    Flow state;
    state.delivery_count = delivery_count_;
    state.link_credit = credit();
    state.available = 0;
    state.drain = flow.drain;
    session().write_link_flow(this, state);
}

void ManagementResponses::send_answer(std::string message) {
    delivery_count_ += 1;
    Parcel& parcel = session().fresh_parcel();
    parcel.link = nullptr;
    parcel.handle = handle();
    parcel.settled = true;
    parcel.head = std::move(message);
    parcel.message = {};
    parcel.message_body = {};
    session().send_fresh();
}

// ------------------------------------------------------------------------- requests

ManagementRequests::ManagementRequests(Session& session, const Attach& attach)
    : ManagementLink(session, attach),
      rights_(connection().host(), connection().user(), connection().vhost()),
      delivery_count_(wish().initial_delivery_count) {}

void ManagementRequests::attached() {
    open_channel();
    grant_credit();
}

void ManagementRequests::grant_credit() {
    // Requests that wait for the engine hold it back, so that they do not pile up here.
    if (credit_ > credit_max / 2 || owed() >= credit_max) return;
    credit_ = credit_max;
    on_flow(Flow{.echo = true});
}

void ManagementRequests::on_flow(const Flow& flow) {
    if (!flow.echo) return;
    Flow state;
    state.delivery_count = delivery_count_;
    state.link_credit = credit_;
    session().write_link_flow(this, state);
}

// 7.2
void ManagementRequests::on_transfer(const Transfer& transfer, std::string_view payload) {
    const auto refuse = [this](std::string_view why, std::string text) {
        session().fail({why, std::move(text), {}});
    };
    if (transfer.more) {
        return refuse(condition::not_implemented,
                      "a management request must fit into one transfer");
    }
    if (!transfer.settled.value_or(false)) {
        return refuse(condition::not_implemented, "a management request must be settled");
    }
    if (credit_ == 0) {
        return refuse(condition::transfer_limit_exceeded, "insufficient credit for requests");
    }
    auto* const responses = dynamic_cast<ManagementResponses*>(other_half());
    if (responses == nullptr) {
        return refuse(condition::precondition_failed,
                      "received transfer on half open management link pair");
    }
    // Answers that are under way will use some of it.
    if (responses->credit() <= owed()) {
        return refuse(
            condition::precondition_failed,
            "insufficient credit (" +
                std::to_string(responses->credit() - std::min(responses->credit(), owed())) +
                ") for management link from RabbitMQ to client");
    }
    credit_ -= 1;
    delivery_count_ += 1;
    ManagementRequest request;
    auto read = read_request(payload, request);
    if (!read) request.query = {{"error", std::move(read).error()}}, request.segments.clear();
    waiting_.push_back(std::move(request));
    // Before the answer, whether that comes at once or later.
    grant_credit();
    if (step_ == Step::none) next_request();
}

void ManagementRequests::next_request() {
    while (is_open() && step_ == Step::none && !waiting_.empty()) {
        current_ = std::move(waiting_.front());
        waiting_.pop_front();
        permission_text_.clear();
        work();
    }
}

void ManagementRequests::answer(const ManagementAnswer& given) {
    step_ = Step::none;
    auto* const responses = dynamic_cast<ManagementResponses*>(other_half());
    if (responses != nullptr) responses->send_answer(encode_answer(current_, given));
    grant_credit();
}

void ManagementRequests::work() {
    if (current_.segments.empty()) {
        const std::string* const error = current_.parameter("error");
        return answer(refusal_answer(400, error == nullptr ? "bad request" : *error));
    }
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
        // The internal user store has no tokens that expire.
        return answer({204, Datum::null()});
    }
    answer(refusal_answer(404, "no such thing: " + current_.verb + " /" + current_.segments[0]));
}

std::optional<engine::Refusal> ManagementRequests::noted(std::optional<engine::Refusal> refusal) {
    if (refusal) permission_text_ = refusal->text;
    return refusal;
}

std::uint32_t ManagementRequests::owed() const {
    return static_cast<std::uint32_t>(waiting_.size()) + (step_ == Step::none ? 0 : 1);
}

bool ManagementRequests::require(Permission permission, std::string_view kind,
                                 std::string_view name) {
    const auto refusal = rights_.refusal(permission, kind, name);
    if (refusal) session().fail(fault_of(*refusal));  // 7.12
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

// 7.5
void ManagementRequests::declare_queue() {
    const std::string& name = current_.segments[1];
    auto fields = read_fields(current_.body, {"durable", "exclusive", "auto_delete"}, {},
                              "bad queue property");
    if (!fields) return answer(refusal_answer(400, fields.error()));
    if (name.empty()) {
        return answer(refusal_answer(400, "declare queue with empty name not allowed"));
    }
    if (has_line_break(name)) {
        return answer(refusal_answer(400, "Bad name '" + name +
                                              "': line feed and carriage return characters "
                                              "not allowed"));
    }
    if (!require(Permission::configure, "queue", name)) return;
    engine::DeclareQueue command;
    command.channel = channel();
    command.name = name;
    command.durable = fields->flag("durable", true);
    command.exclusive = fields->flag("exclusive", false);
    command.auto_delete = fields->flag("auto_delete", false);
    command.arguments = std::move(fields->arguments);
    command.refusal_if_new = noted(rights_.dead_letter_refusal(name, command.arguments));
    rights_.add_vhost_settings(command, connection().settings());
    step_ = Step::declare_queue;
    ask(std::move(command));
}

void ManagementRequests::describe_queue() {
    const std::string& name = current_.segments[1];
    if (const auto refusal = rights_.refusal_of_all("queue", name)) {
        return session().fail(fault_of(*refusal));
    }
    created_status_ = 200;
    step_ = Step::describe_queue;
    ask(engine::DescribeQueue{channel(), name});
}

void ManagementRequests::delete_queue() {
    const std::string& name = current_.segments[1];
    if (!require(Permission::configure, "queue", name)) return;
    step_ = Step::delete_queue;
    ask(engine::DeleteQueue{channel(), name, false, false});
}

void ManagementRequests::purge_queue() {
    const std::string& name = current_.segments[1];
    if (!require(Permission::read, "queue", name)) return;
    step_ = Step::purge_queue;
    ask(engine::PurgeQueue{channel(), name});
}

// ------------------------------------------------------------------------- exchanges

// 7.8
void ManagementRequests::declare_exchange() {
    const std::string& name = current_.segments[1];
    auto fields = read_fields(current_.body, {"durable", "auto_delete", "internal"}, {"type"},
                              "bad exchange property");
    if (!fields) return answer(refusal_answer(400, fields.error()));
    if (has_line_break(name)) {
        return answer(refusal_answer(400, "Bad name '" + name +
                                              "': line feed and carriage return characters "
                                              "not allowed"));
    }
    if (name.empty())
        return answer(refusal_answer(403, "operation not permitted on the default exchange"));
    if (!require(Permission::configure, "exchange", name)) return;
    const std::string* const type = fields->text("type");
    engine::DeclareExchange command;
    command.channel = channel();
    command.name = name;
    command.type = type == nullptr ? "direct" : *type;
    command.durable = fields->flag("durable", true);
    command.auto_delete = fields->flag("auto_delete", false);
    command.internal = fields->flag("internal", false);
    command.arguments = std::move(fields->arguments);
    command.refusal_if_new = noted(rights_.alternate_refusal(name, command.arguments));
    step_ = Step::declare_exchange;
    ask(std::move(command));
}

void ManagementRequests::delete_exchange() {
    const std::string& name = current_.segments[1];
    if (name.empty())
        return answer(refusal_answer(403, "operation not permitted on the default exchange"));
    if (!require(Permission::configure, "exchange", name)) return;
    step_ = Step::without_content;
    ask(engine::DeleteExchange{channel(), name, false});
}

// ------------------------------------------------------------------------- bindings

bool ManagementRequests::read_binding_ends(bool from_body) {
    WishedFields fields;
    if (from_body) {
        auto read =
            read_fields(current_.body, {},
                        {"source", "binding_key", "destination_queue", "destination_exchange"},
                        "bad binding field");
        if (!read) {
            answer(refusal_answer(400, read.error()));
            return false;
        }
        fields = std::move(read).value();
    }
    const auto text = [&](std::string_view in_body, std::string_view in_query) {
        return from_body ? fields.text(in_body) : current_.parameter(in_query);
    };
    const std::string* const source = text("source", "src");
    const std::string* const key = text("binding_key", "key");
    const std::string* const queue = text("destination_queue", "dstq");
    const std::string* const exchange = text("destination_exchange", "dste");
    if (source == nullptr || key == nullptr || (queue == nullptr) == (exchange == nullptr)) {
        answer(refusal_answer(400, "a binding needs a source, a key, and one destination"));
        return false;
    }
    source_ = *source;
    key_ = *key;
    destination_kind_ =
        queue != nullptr ? engine::DestinationKind::queue : engine::DestinationKind::exchange;
    destination_ = queue != nullptr ? *queue : *exchange;
    return true;
}

bool ManagementRequests::may_bind() {
    const bool to_queue = destination_kind_ == engine::DestinationKind::queue;
    return require(Permission::write, to_queue ? "queue" : "exchange", destination_) &&
           require(Permission::read, "exchange", source_);
}

// 7.9
void ManagementRequests::bind() {
    if (!read_binding_ends(/*from_body=*/true) || !may_bind()) return;
    engine::Bind command{channel(), source_, destination_kind_, destination_, key_, {}, {}};
    const auto fields =
        read_fields(current_.body, {},
                    {"source", "binding_key", "destination_queue", "destination_exchange"}, "");
    command.arguments = fields->arguments;
    command.refusal_if_topic = noted(rights_.topic_refusal(Permission::read, source_, key_));
    step_ = Step::without_content;
    ask(std::move(command));
}

// 7.10
void ManagementRequests::list_bindings() {
    if (!read_binding_ends(/*from_body=*/false)) return;
    step_ = Step::list_bindings;
    ask(engine::ListBindings{channel(), source_, destination_kind_, destination_, key_});
}

void ManagementRequests::unbind() {
    if (!read_binding_ends(/*from_body=*/false) || !may_bind()) return;
    step_ = Step::find_binding;
    ask(engine::ListBindings{channel(), source_, destination_kind_, destination_, key_});
}

void ManagementRequests::unbind_listed(const engine::BindingsAnswer& listed) {
    const std::string* const mark = current_.parameter("args");
    for (const engine::BindingDescription& binding : listed.bindings) {
        if (arguments_mark(binding.arguments) != (mark == nullptr ? "" : *mark)) continue;
        engine::Unbind command{channel(),         source_, destination_kind_, destination_, key_,
                               binding.arguments, {}};
        command.refusal_if_topic = noted(rights_.topic_refusal(Permission::read, source_, key_));
        step_ = Step::without_content;
        return ask(std::move(command));
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

void ManagementRequests::on_done(engine::Done&& done) {
    switch (step_) {
        case Step::none:
            return;
        case Step::declare_queue:
            created_status_ = std::get<engine::QueueAnswer>(done.answer).created ? 201 : 200;
            step_ = Step::describe_queue;
            return ask(engine::DescribeQueue{channel(), current_.segments[1]});
        case Step::describe_queue:
            answer({created_status_, queue_map(std::get<engine::QueueDescription>(done.answer),
                                               connection().settings(), connection().vhost())});
            break;
        case Step::delete_queue:
        case Step::purge_queue:
            answer({200, count_map(std::get<engine::CountAnswer>(done.answer).message_count)});
            break;
        case Step::declare_exchange:
        case Step::without_content:
            answer({204, Datum::null()});
            break;
        case Step::list_bindings: {
            Data list;
            for (const auto& binding : std::get<engine::BindingsAnswer>(done.answer).bindings) {
                const bool to_queue = destination_kind_ == engine::DestinationKind::queue;
                const std::string location =
                    "/bindings/src=" + percent_encode(source_) + (to_queue ? ";dstq=" : ";dste=") +
                    percent_encode(destination_) + ";key=" + percent_encode(key_) +
                    ";args=" + arguments_mark(binding.arguments);
                list.push_back(Datum::map(
                    {{Datum::string("source"), Datum::string(source_)},
                     {Datum::string(to_queue ? "destination_queue" : "destination_exchange"),
                      Datum::string(destination_)},
                     {Datum::string("binding_key"), Datum::string(key_)},
                     {Datum::string("arguments"), map_of(binding.arguments)},
                     {Datum::string("location"), Datum::string(location)}}));
            }
            answer({200, Datum::list(std::move(list))});
            break;
        }
        case Step::find_binding:
            unbind_listed(std::get<engine::BindingsAnswer>(done.answer));
            break;
    }
    next_request();
}

void ManagementRequests::on_refused(const engine::Refuse& refuse) {
    // The engine has closed the channel; the next request finds a new one.
    open_channel();
    const engine::Refusal& refusal = refuse.refusal;
    const bool declares = step_ == Step::declare_queue || step_ == Step::declare_exchange;
    int status = 400;
    std::string text = refusal.text;
    switch (refusal.kind) {
        case engine::RefusalKind::precondition_failed:
            // Of the two things that make a declaration fail so, this one is no matter of
            // arguments.
            status = declares && !text.starts_with("unknown exchange type") ? 409 : 400;
            break;
        case engine::RefusalKind::limit_reached:
            status = 403;
            break;
        case engine::RefusalKind::access_refused:
            // 7.12, but what nobody may touch is told in an answer.
            if (refusal.text == permission_text_) return session().fail(fault_of(refusal));
            status = 403;
            if (declares && current_.segments[1].starts_with("amq.")) {
                text = (step_ == Step::declare_queue ? "queue '" : "exchange '") +
                       current_.segments[1] + "' in vhost '" + connection().vhost() +
                       "' starts with reserved prefix 'amq.'";
            }
            break;
        case engine::RefusalKind::not_found:
            if (step_ == Step::describe_queue || step_ == Step::purge_queue) {
                status = 404;
                text = "queue '" + current_.segments[1] + "' in vhost '" + connection().vhost() +
                       "' not found";
            }
            break;
        default:
            break;
    }
    answer(refusal_answer(status, text));
    next_request();
}

}  // namespace revenant::amqp10
