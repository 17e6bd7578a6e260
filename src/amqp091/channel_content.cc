// Channel: the content of a publish, assembled from its frames.
#include "amqp091/channel.h"
#include "amqp091/codec/quoted_octets.h"
#include "amqp091/message/properties.h"

#include <algorithm>
#include <utility>

namespace revenant::amqp091 {
namespace {

constexpr std::uint64_t body_size_ceiling = 536870912;  // amqp091 9.3
constexpr std::string_view no_properties{"\0\0", 2};

}  // namespace

void Channel::on(const BasicPublish& method) {
    if (method.immediate) return fail(ReplyCode::not_implemented, "immediate=true");
    exchange_.assign(method.exchange);
    routing_key_.assign(method.routing_key);
    mandatory_ = method.mandatory;
    awaiting_ = Awaiting::header;
    connection_.note_publish();
}

void Channel::on_header(const Frame& frame) {
    const auto header = ContentHeader::decode(frame.payload);
    if (!header) {
        return connection_.fail({ReplyCode::frame_error,
                                 "cannot decode " + quoted_octets(frame.payload), class_id_,
                                 method_id_});
    }
    if (header->weight != 0) {
        return connection_.fail(
            {ReplyCode::unexpected_frame,
             "expected content header for class 60, got non content header frame instead",
             class_id_, method_id_});
    }
    if (header->class_id != BasicPublish::class_id) {
        return connection_.fail({ReplyCode::unexpected_frame,
                                 "expected content header for class 60, got one for class " +
                                     std::to_string(header->class_id) + " instead",
                                 class_id_, method_id_});
    }
    if (header->body_size > body_size_ceiling) {
        return connection_.fail({ReplyCode::frame_error,
                                 "content body size " + std::to_string(header->body_size) +
                                     " exceeds maximum allowed size " +
                                     std::to_string(body_size_ceiling),
                                 class_id_, method_id_});
    }
    const std::uint64_t size_max = connection_.settings().max_message_size;
    if (header->body_size > size_max) {
        return refuse_content(
            ReplyCode::precondition_failed,
            "message size " + std::to_string(header->body_size) + " is larger than " +
                (size_max == body_size_ceiling ? "max size " : "configured max size ") +
                std::to_string(size_max),
            header->body_size);
    }
    if (const auto refusal = permissions_.write_refusal(exchange_)) {
        return refuse_content(ReplyCode::access_refused, refusal->text, header->body_size);
    }
    auto published = read_published(header->properties, reply_name_, connection_.expiration_form());
    if (!published && published.error().kind == PropertiesError::Kind::malformed) {
        return connection_.fail(
            {ReplyCode::internal_error, published.error().text, class_id_, method_id_});
    }
    const auto size = static_cast<std::uint32_t>(header->body_size);
    if (published) {
        check_published(*published);
        builder_.start(
            exchange_, routing_key_,
            published->rewritten ? std::string_view(*published->rewritten) : header->properties,
            size, std::move(published->head));
    } else {
        refusal_ = {engine::RefusalKind::precondition_failed, std::move(published).error().text};
        builder_.start(exchange_, routing_key_, no_properties, size, {.format = &message_format()});
    }
    awaiting_ = Awaiting::body;
    if (builder_.body_bytes_left() == 0) publish_assembled();
}

// Whether the exchange exists and what it is only the engine knows, and that comes first
// (amqp091 9.2): it gets the refusals along with the message.
void Channel::check_published(const PublishedProperties& published) {
    refusal_if_topic_ = permissions_.current().topic_write_refusal(exchange_, routing_key_,
                                                                   published.head.extra_keys);
    if (published.has_user_id) refusal_ = permissions_.current().user_id_refusal(published.user_id);
}

void Channel::refuse_content(ReplyCode code, std::string text, std::uint64_t body_size) {
    failure_code_ = code;
    refused_text_ = std::move(text);
    refused_body_missing_ = body_size;
    awaiting_ = Awaiting::refused_body;
    if (body_size == 0) fail(failure_code_, std::move(refused_text_));
}

void Channel::on_body(const Frame& frame) {
    const bool refused = awaiting_ == Awaiting::refused_body;
    const std::uint64_t missing = refused ? refused_body_missing_ : builder_.body_bytes_left();
    if (frame.payload.size() > missing) {
        return connection_.fail({ReplyCode::frame_error,
                                 "content body frame exceeds remaining content size", class_id_,
                                 method_id_});
    }
    if (refused) {
        refused_body_missing_ -= frame.payload.size();
        if (refused_body_missing_ == 0) fail(failure_code_, std::move(refused_text_));
        return;
    }
    builder_.append_body(frame.payload);
    if (builder_.body_bytes_left() == 0) publish_assembled();
}

void Channel::publish_assembled() {
    awaiting_ = Awaiting::method;
    engine::Publish command;
    command.channel = id_;
    command.message = builder_.finish();
    command.mandatory = mandatory_;
    if (confirming_) command.confirm_sequence = ++published_;
    if (refusal_if_topic_) {
        command.refusal_if_topic = std::exchange(refusal_if_topic_, std::nullopt);
    }
    if (refusal_) command.refusal = std::exchange(refusal_, std::nullopt);
    connection_.port().publish(std::move(command));
}

}  // namespace revenant::amqp091
