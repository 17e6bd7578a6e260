// Publishing to an exchange and fetching from a queue. management 4.18, 4.21
#include "amqp091/codec/errors.h"
#include "amqp091/message/properties.h"
#include "http/api/body.h"
#include "http/api/engine_call.h"
#include "http/api/messages/message_call.h"
#include "http/api/messages/message_json.h"
#include "http/api/responses.h"
#include "http/api/routes.h"

#include <array>
#include <charconv>
#include <utility>

namespace revenant::http {
namespace {

Response bad_request_with(const json::value& reason) {
    Response response = bad_request("");
    response.body = to_text(json::object{{"error", "bad_request"}, {"reason", reason}});
    return response;
}

// The error that an AMQP client would receive: 406 PRECONDITION_FAILED - …. management 1.7
Response amqp_error(const engine::Refusal& refusal) {
    const amqp091::ReplyCode code = amqp091::reply_code(refusal.kind);
    return bad_request(std::to_string(static_cast<unsigned>(code)) + " " +
                       amqp091::reply_text(code, refusal.text));
}

// -------------------------------------------------------------------------- publishing

// Stores the refusals for the topic and the user id in the command. The engine applies them after
// it has found the exchange.
void check_published(const Call& call, const amqp091::PublishedProperties& published,
                     engine::Publish& command) {
    const auto permissions = permissions_of(call, call.parameter(0));
    command.refusal_if_topic = permissions.topic_write_refusal(
        command.message->exchange(), command.message->routing_key(), published.head.extra_keys);
    if (published.has_user_id) command.refusal = permissions.user_id_refusal(published.user_id);
}

Result<engine::Publish, Response> read_publish(const Context& context, const Call& call,
                                               const std::string& exchange) {
    REVENANT_TRY(const json::object body, read_body(call.request));
    if (auto missing =
            check_keys(body, {"routing_key", "properties", "payload", "payload_encoding"})) {
        return Unexpected{std::move(*missing)};
    }
    REVENANT_TRY(const std::string routing_key, string_field(body, "routing_key", ""));
    if (routing_key.size() > short_string_bytes_max) {
        return Unexpected{bad_request("routing_key is longer than 255 bytes")};
    }
    const json::value& given = body.at("properties");
    const bool empty_array = given.is_array() && given.get_array().empty();
    if (!given.is_object() && !empty_array) {
        return Unexpected{bad_request_with(json::array{"not_a_table", "properties"})};
    }
    auto properties = properties_from_json(empty_array ? json::object{} : given.get_object());
    if (!properties) return Unexpected{bad_request_with(properties.error())};
    auto payload = payload_from_json(body.at("payload"), body.at("payload_encoding"));
    if (!payload) return Unexpected{bad_request_with(payload.error())};
    const std::uint64_t bytes_max = context.settings().max_message_bytes;
    if (payload->size() > bytes_max) {
        return Unexpected{
            amqp_error({engine::RefusalKind::precondition_failed,
                        "message size " + std::to_string(payload->size()) +
                            " is larger than configured max size " + std::to_string(bytes_max)})};
    }
    const Vhost* const vhost = call.access->find_vhost(call.parameter(0));
    const bool has_compat = vhost != nullptr && !vhost->compat.empty();
    const auto form =
        amqp091::expiration_form_of(has_compat ? vhost->compat : context.settings().compat);
    auto published = amqp091::read_published(*properties, "", form);
    if (!published) {
        return Unexpected{
            amqp_error({engine::RefusalKind::precondition_failed, published.error().text})};
    }
    engine::Publish command;
    command.message =
        make_message(exchange, routing_key, published->rewritten.value_or(*properties), *payload,
                     published->head);
    check_published(call, *published, command);
    return command;
}

Response publish(Context& context, const Call& call) {
    const auto name = exchange_name(call.parameter(1));
    const auto vhost = context.broker().find_vhost(call.parameter(0));
    if (!name) return bad_request("invalid exchange name");
    if (vhost == nullptr) return not_found();
    const auto found = context.ask(call.parameter(0), [&](engine::Engine& engine) {
        return engine::find_exchange(engine, *name).has_value();
    });
    if (!found.value_or(false)) return error_response(404, "not_found", "exchange_not_found");
    auto command = read_publish(context, call, *name);
    if (!command) return std::move(command).error();
    const auto permissions = permissions_of(call, call.parameter(0));
    if (const auto refusal = permissions.refusal(Permission::write, "exchange", *name)) {
        return amqp_error(*refusal);
    }
    const auto outcome = publish_one(vhost, call.user->name, std::move(*command));
    if (!outcome) return amqp_error(outcome.error());
    if (*outcome == PublishOutcome::rejected) {
        return bad_request("rejected Unable to publish message. Check queue limits.");
    }
    return ok(json::object{{"routed", *outcome == PublishOutcome::routed}});
}

// -------------------------------------------------------------------------- fetching

struct AckMode {
    std::string_view name;
    bool no_ack;
    engine::Outcome outcome;
};
// A nack does not count against the message, a reject does (DL-150).
constexpr std::array<AckMode, 4> ack_modes = {{
    {"ack_requeue_true", false, {engine::OutcomeKind::released, false}},
    {"ack_requeue_false", true, {}},
    {"reject_requeue_true", false, {engine::OutcomeKind::released, true}},
    {"reject_requeue_false", false, {engine::OutcomeKind::rejected, true}},
}};

// Clients for RabbitMQ before 3.7 send `requeue` instead of `ackmode`.
Result<const AckMode*, Response> read_ack_mode(const json::object& body) {
    if (const json::value* const requeue = body.if_contains("requeue");
        requeue != nullptr && !body.contains("ackmode")) {
        REVENANT_TRY(const bool again, bool_field(body, "requeue", true));
        return again ? &ack_modes[0] : &ack_modes[1];
    }
    if (auto missing = check_keys(body, {"ackmode", "count", "encoding"})) {
        return Unexpected{std::move(*missing)};
    }
    REVENANT_TRY(const std::string name, string_field(body, "ackmode", ""));
    std::string valid;
    for (const AckMode& mode : ack_modes) {
        if (mode.name == name) return &mode;
        valid += (valid.empty() ? "" : ", ") + std::string(mode.name);
    }
    return Unexpected{
        bad_request("Invalid ackmode value: " + name + ". Valid values are: " + valid)};
}

Result<std::int64_t, Response> integer_field(const json::object& body, std::string_view name) {
    const json::value& value = body.at(name);
    if (value.is_int64()) return value.get_int64();
    std::int64_t number = 0;
    if (const json::string* const text = value.if_string()) {
        const char* const last = text->data() + text->size();
        const auto [end, error] = std::from_chars(text->data(), last, number);
        if (error == std::errc{} && end == last) return number;
    }
    return Unexpected{bad_request_with(json::array{"not_integer", value})};
}

struct GetRequest {
    FetchRequest wish;
    PayloadForm form;
};

Result<GetRequest, Response> read_get(const Call& call) {
    REVENANT_TRY(const json::object body, read_body(call.request));
    REVENANT_TRY(const AckMode* const mode, read_ack_mode(body));
    if (auto missing = check_keys(body, {"count", "encoding"})) {
        return Unexpected{std::move(*missing)};
    }
    GetRequest request;
    request.wish.queue = call.parameter(1);
    request.wish.no_ack = mode->no_ack;
    request.wish.outcome = mode->outcome;
    REVENANT_TRY(const std::int64_t count, integer_field(body, "count"));
    if (count < 0) return Unexpected{bad_request("count is negative")};
    request.wish.count = static_cast<std::uint64_t>(count);
    REVENANT_TRY(const std::string encoding, string_field(body, "encoding", ""));
    if (encoding == "base64") {
        request.form.encoding = PayloadEncoding::base64;
    } else if (encoding != "auto") {
        return Unexpected{bad_request("Unsupported encoding. Please use auto or base64.")};
    }
    if (body.contains("truncate")) {
        REVENANT_TRY(const std::int64_t bytes, integer_field(body, "truncate"));
        if (bytes < 0) return Unexpected{bad_request("truncate is negative")};
        request.form.truncate = static_cast<std::size_t>(bytes);
    }
    return request;
}

Response get_refused(const engine::Refusal& refusal) {
    const amqp091::ReplyCode code = amqp091::reply_code(refusal.kind);
    const std::string text = amqp091::reply_text(code, refusal.text);
    if (refusal.kind == engine::RefusalKind::not_found) {
        return error_response(404, "not_found", text);
    }
    if (code == amqp091::ReplyCode::access_refused) return not_authorised(text);
    return amqp_error(refusal);
}

Response get_messages(Context& context, const Call& call) {
    const auto vhost = context.broker().find_vhost(call.parameter(0));
    if (vhost == nullptr) return not_found();
    const auto found = context.ask(call.parameter(0), [&](engine::Engine& engine) {
        return engine::find_queue(engine, call.parameter(1)).has_value();
    });
    if (!found.value_or(false)) return error_response(404, "not_found", "queue_not_found");
    auto request = read_get(call);
    if (!request) return std::move(request).error();
    const std::string& queue = request->wish.queue;
    const auto permissions = permissions_of(call, call.parameter(0));
    if (const auto refusal = permissions.refusal(Permission::read, "queue", queue)) {
        return get_refused(*refusal);
    }
    const auto fetched = fetch_some(vhost, call.user->name, request->wish);
    if (!fetched) return get_refused(fetched.error());
    json::array messages;
    for (const engine::GetAnswer& got : *fetched) {
        messages.push_back(message_to_json(got, request->form));
    }
    return ok(messages);
}

}  // namespace

void add_message_routes(Router& router, Context& context) {
    router.add("POST", "/exchanges/*/*/publish", Role::vhost,
               [&](const Call& call) { return publish(context, call); });
    router.add("POST", "/queues/*/*/get", Role::vhost,
               [&](const Call& call) { return get_messages(context, call); });
}

}  // namespace revenant::http
