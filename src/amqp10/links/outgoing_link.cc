#include "amqp10/links/outgoing_link.h"

#include "amqp10/codec/descriptors.h"
#include "amqp10/codec/raw_fields.h"
#include "amqp10/links/connection.h"
#include "amqp10/links/session.h"
#include "amqp10/message/address.h"
#include "amqp10/message/delivery.h"
#include "protocol/user_permissions.h"

#include <algorithm>
#include <utility>

namespace revenant::amqp10 {
namespace {

constexpr std::uint32_t consumer = 1;  // the only one on its channel
constexpr std::string_view reply_queue = "amq.rabbitmq.reply-to";

bool has_capability(const Source& source, std::string_view wanted) {
    const auto all = symbols_in(source.capabilities);
    return std::find(all.begin(), all.end(), wanted) != all.end();
}

const std::vector<std::string>& outcomes() {
    static const std::vector<std::string> all{"amqp:accepted:list", "amqp:rejected:list",
                                              "amqp:released:list", "amqp:modified:list"};
    return all;
}

// The supported outcomes that the client requested.
std::string outcomes_of_reply(const Source& asked) {
    const auto wanted = symbols_in(asked.outcomes);
    std::vector<std::string> given;
    for (const std::string& outcome : outcomes()) {
        if (wanted.empty() || std::find(wanted.begin(), wanted.end(), outcome) != wanted.end()) {
            given.push_back(outcome);
        }
    }
    std::string encoded;
    TypeWriter(encoded).symbols(given);
    return encoded;
}

}  // namespace

protocol::LinkInfo OutgoingLink::info() const {
    protocol::LinkInfo info = Link::info();
    info.queue = queue_;
    info.timed_out = timed_out_;
    if (origin_ != SourceKind::queue) info.address = queue_address(queue_);
    if (info.settle_mode != protocol::SettleMode::settled) {
        info.settle_mode = protocol::SettleMode::unsettled;
    }
    info.delivery_count = static_cast<std::uint32_t>(delivery_count_);
    const std::uint64_t until =
        origin_ == SourceKind::replies ? reply_credit_until_ : credit_until_ + drained_;
    if (until > delivery_count_) info.credit = static_cast<std::uint32_t>(until - delivery_count_);
    return info;
}

void OutgoingLink::start() {
    presettled_ = attach_parameters().snd_settle_mode == settle_mode_settled;
    if (auto fault = unsupported()) return fail(std::move(*fault));
    if (auto fault = choose_origin()) return fail(std::move(*fault));
    if (origin_ == SourceKind::temporary_queue) queue_ = temporary_queue_name();
    if (const auto refusal = permission_refusal()) return session().fail(fault_of(*refusal));
    open_channel();
    if (origin_ != SourceKind::temporary_queue) return consume();
    declare_temporary_queue(queue_);
}

std::optional<engine::Refusal> OutgoingLink::permission_refusal() {
    const protocol::UserPermissions permissions(*connection().host().access(), connection().user(),
                                                connection().vhost());
    return permissions.refusal(Permission::read, "queue", queue_);
}

std::optional<Fault> OutgoingLink::choose_origin() {
    const auto source = composite_in<Source>(attach_parameters().source);
    if (!source) return Fault{condition::invalid_field, "Attach refused: source_required", {}};
    if (source->dynamic) return choose_dynamic_origin();
    const auto text = string_of(source->address);
    const auto absent = [this](std::string_view name) {
        return Fault{condition::not_found,
                     "no queue '" + std::string(name) + "' in vhost '" + connection().vhost() + "'",
                     {}};
    };
    if (text == "/queues/") return absent("");
    auto address = parse_address(text.value_or(""));
    if (!address || address->kind != Address::Kind::queue) {
        return Fault{
            condition::invalid_field,
            "Attach refused: " + bad_source_text(datum_in(source->address).value_or(Datum::null())),
            {}};
    }
    queue_ = std::move(address->name);
    // Only a dynamic source creates a reply queue, and only its own link can consume from it.
    if (queue_.starts_with(reply_queue)) return absent(queue_);
    return std::nullopt;
}

// amqp10 4.6
std::optional<Fault> OutgoingLink::choose_dynamic_origin() {
    const auto source = composite_in<Source>(attach_parameters().source);
    if (!is_absent(source->address)) {
        return Fault{condition::not_implemented, "Dynamic source not supported", {}};
    }
    if (has_capability(*source, "temporary-queue")) {
        origin_ = SourceKind::temporary_queue;
        return std::nullopt;
    }
    if (has_capability(*source, "rabbitmq:volatile-queue") && presettled_ &&
        source->expiry_policy == "link-detach") {
        origin_ = SourceKind::replies;
        queue_ = connection().host().random_name(
            connection().host().random_name(std::string(reply_queue) + ".") + ".");
        return std::nullopt;
    }
    return Fault{condition::not_implemented, "Dynamic source not supported", {}};
}

void OutgoingLink::consume() {
    consuming_ = true;
    engine::Consume command;
    command.channel = channel();
    command.consumer = consumer;
    command.tag = name();
    command.no_ack = presettled_;
    command.uses_credit = true;
    command.on_timeout = engine::TimeoutAction::consumer_suspended;
    if (origin_ == SourceKind::replies) {
        command.queue = std::string(reply_queue);
        command.reply_name = queue_;
    } else {
        command.queue = queue_;
    }
    if (const auto priority = entry_in(attach_parameters().properties, "rabbitmq:priority")) {
        if (const std::int64_t* const number = priority->as_signed()) {
            command.arguments.push_back({"x-priority", Value::int64(*number)});
        }
    }
    if (const auto timeout =
            entry_in(attach_parameters().properties, "rabbitmq:consumer-timeout")) {
        if (const std::uint64_t* const ms = timeout->as_unsigned()) {
            command.arguments.push_back(
                {"x-consumer-timeout",
                 Value::int64(static_cast<std::int64_t>(std::min<std::uint64_t>(*ms, INT64_MAX)))});
        }
    }
    ask(std::move(command));
    if (early_flow_) on_flow(*std::exchange(early_flow_, std::nullopt));
}

void OutgoingLink::on_refused(const engine::Refuse& refuse) {
    Fault fault = fault_of(refuse.refusal);
    // Only the first sentence applies to an attach.
    if (refuse.refusal.kind == engine::RefusalKind::resource_locked) {
        fault.description.resize(
            std::min(fault.description.find(". It could be"), fault.description.size()));
    }
    fail(std::move(fault));
}

void OutgoingLink::on_done(engine::Done&&) {
    if (!consuming_) return consume();
    write_attach({.source = source_of_reply(),
                  .target = attach_parameters().target,
                  .snd_settle_mode = presettled_ ? settle_mode_settled : settle_mode_unsettled,
                  .initial_delivery_count = 0,
                  .max_message_size = attach_parameters().max_message_size});
}

std::string OutgoingLink::address() const {
    std::string encoded;
    TypeWriter(encoded).string(queue_address(queue_));
    return encoded;
}

// amqp10 5.3
std::string OutgoingLink::source_of_reply() const {
    Source source = *composite_in<Source>(attach_parameters().source);
    const std::string made_address = address();
    const std::string node_properties = dynamic_node_properties();
    if (source.dynamic) {
        source.address = made_address;
        source.durable = 0;
        source.expiry_policy = "link-detach";
        source.timeout = 0;
        source.dynamic_node_properties = node_properties;
    }
    source.distribution_mode = "move";
    source.filter = {};
    static constexpr std::string_view released{"\x00\x53\x26\x45", 4};
    const std::string given = outcomes_of_reply(source);
    if (origin_ != SourceKind::replies) {  // replies are sent settled
        source.default_outcome = released;
        source.outcomes = given;
    }
    std::string encoded;
    TypeWriter out(encoded);
    source.encode(out);
    return encoded;
}

void OutgoingLink::before_close() {
    if (origin_ == SourceKind::temporary_queue && consuming_ && !was_refused()) {
        ask(engine::DeleteQueue{channel(), queue_, false, false});
    }
}

// ------------------------------------------------------------------------- credit

void OutgoingLink::on_flow(const Flow& flow) {
    if (!consuming_) {
        early_flow_ = flow;
        early_flow_->properties = {};
        return;
    }
    if (!flow.link_credit && origin_ == SourceKind::replies) {
        return on_reply_credit(reply_credit_until_, flow);
    }
    if (!flow.link_credit) {
        if (flow.echo) send(engine::SetCredit{channel(), consumer, credit_until_, false, true});
        return;
    }
    // The client's count has 32 bits and may not include everything sent (amqp10 1.4).
    const auto behind = static_cast<std::int32_t>(static_cast<std::uint32_t>(delivery_count_) -
                                                  flow.delivery_count.value_or(0));
    const std::int64_t seen = static_cast<std::int64_t>(delivery_count_) - behind;
    const std::int64_t until = std::max<std::int64_t>(seen + *flow.link_credit, 0);
    if (origin_ == SourceKind::replies) {
        return on_reply_credit(static_cast<std::uint64_t>(until), flow);
    }
    credit_until_ = static_cast<std::uint64_t>(
        std::max<std::int64_t>(until - static_cast<std::int64_t>(drained_), 0));
    send(engine::SetCredit{channel(), consumer, credit_until_, flow.drain, flow.echo});
}

// amqp10 5.23
void OutgoingLink::on_credit_state(const engine::CreditState& state) {
    const std::uint64_t left = state.until > state.delivered ? state.until - state.delivered : 0;
    if (state.drained) {
        drained_ += left;
        delivery_count_ += left;
        credit_until_ = state.delivered;
    }
    session().send_link_state(*this,
                              {.delivery_count = static_cast<std::uint32_t>(delivery_count_),
                               .link_credit = state.drained ? 0 : static_cast<std::uint32_t>(left),
                               .available = static_cast<std::uint32_t>(std::min<std::uint64_t>(
                                   state.available, std::numeric_limits<std::uint32_t>::max())),
                               .drain = state.drained,
                               .active = state.active});
}

// There is no queue, so the state is known here without the engine.
void OutgoingLink::on_reply_credit(std::uint64_t until, const Flow& flow) {
    reply_credit_until_ = until;
    if (flow.drain) delivery_count_ = std::max(delivery_count_, reply_credit_until_);
    if (!flow.drain && !flow.echo) return;
    const std::uint64_t left =
        reply_credit_until_ > delivery_count_ ? reply_credit_until_ - delivery_count_ : 0;
    session().send_link_state(*this, {.delivery_count = static_cast<std::uint32_t>(delivery_count_),
                                      .link_credit = static_cast<std::uint32_t>(left),
                                      .available = 0,
                                      .drain = flow.drain,
                                      .active = std::nullopt});
}

void OutgoingLink::on_backlogged() { send(engine::PauseChannel{channel()}); }
void OutgoingLink::on_backlog_cleared() { send(engine::ResumeChannel{channel()}); }

void OutgoingLink::on_effect(engine::Effect&& effect) {
    if (const auto* state = std::get_if<engine::CreditState>(&effect)) {
        on_credit_state(*state);
    } else if (std::holds_alternative<engine::CancelConsumer>(effect)) {
        node_deleted();
    } else if (const auto* overdue = std::get_if<engine::DeliveriesTimedOut>(&effect)) {
        timed_out_ = true;
        session().send_timed_out(*this, overdue->deliveries);
    }
}

// ------------------------------------------------------------------------- deliveries

bool OutgoingLink::deliver(engine::Deliver&& effect) {
    if (!is_heard()) return true;
    const Connection::EffectScope scope(connection());
    // A reply is dropped if the link has no credit for it.
    if (origin_ == SourceKind::replies && delivery_count_ >= reply_credit_until_) return true;
    OutgoingTransfer& outgoing = session().next_transfer();
    outgoing.link = this;
    outgoing.handle = handle();
    outgoing.delivery = effect.delivery.value;
    outgoing.settled = presettled_;
    const std::string_view body =
        render_delivery(*effect.message, effect.envelope.get(),
                        {effect.redelivered, effect.failed_deliveries, effect.counts},
                        outgoing.head, outgoing.converted);
    outgoing.message_body = outgoing.converted.empty() ? body : std::string_view{};
    outgoing.message = std::move(effect.message);
    delivery_count_ += 1;
    const std::uint64_t size_max = attach_parameters().max_message_size.value_or(0);
    if (size_max != 0 && outgoing.size() > size_max) {
        session().fail({condition::message_size_exceeded,
                        "message size (" + std::to_string(outgoing.size()) +
                            " bytes) > maximum message size (" + std::to_string(size_max) +
                            " bytes)",
                        {}});
        return true;
    }
    return session().send_next_transfer();
}

void OutgoingLink::settle(std::uint64_t delivery, const ClientOutcome& outcome) {
    engine::Settle command;
    command.channel = channel();
    command.delivery = DeliveryId{delivery};
    command.outcome = outcome.outcome;
    command.details = outcome.details;
    connection().settle(command);
}

}  // namespace revenant::amqp10
