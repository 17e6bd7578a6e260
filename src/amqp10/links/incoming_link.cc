#include "amqp10/links/incoming_link.h"

#include "amqp10/codec/descriptors.h"
#include "amqp10/codec/raw_fields.h"
#include "amqp10/links/connection.h"
#include "amqp10/message/incoming_message.h"
#include "amqp10/message/message_format.h"
#include "base/utf8.h"

#include <algorithm>
#include <utility>

namespace revenant::amqp10 {
namespace {

constexpr std::uint32_t credit_max = 170;
// Maximum size of an invalid address in an error, which must fit in the smallest frame.
constexpr std::size_t shown_address_bytes_max = 256;

bool wants_temporary_queue(const Target& target) {
    const auto all = symbols_in(target.capabilities);
    return std::find(all.begin(), all.end(), "temporary-queue") != all.end();
}

Fault full_queue_fault(const std::string& queue) {
    std::string info;
    TypeWriter(info).datum(Datum::map({{Datum::symbol("queue"), Datum::string(queue)},
                                       {Datum::symbol("reason"), Datum::symbol("maxlen")}}));
    return {condition::resource_limit_exceeded, "queue '" + queue + "' exceeded maximum length",
            std::move(info)};
}

}  // namespace

IncomingLink::IncomingLink(Session& session, const Attach& attach)
    : Link(session, attach),
      permissions_(connection().host(), connection().user(), connection().vhost()),
      delivery_count_(attach_parameters().initial_delivery_count) {}

protocol::LinkInfo IncomingLink::info() const {
    protocol::LinkInfo info = Link::info();
    if (temporary_ && destination_) info.address = queue_address(destination_->routing_key);
    info.delivery_count = delivery_count_;
    info.credit = credit_;
    info.unconfirmed = static_cast<std::uint64_t>(std::count_if(
        pending_.begin(), pending_.end(), [](const Pending& one) { return !one.answered; }));
    return info;
}

// ------------------------------------------------------------------------- attach

void IncomingLink::start() {
    if (auto fault = unsupported()) return fail(std::move(*fault));
    if (auto fault = choose_target()) return fail(std::move(*fault));
    open_channel(engine::ChannelUse::publishing);
    if (temporary_) destination_ = Destination{"", temporary_queue_name()};
    if (is_anonymous()) return attach();
    if (const auto refusal = permissions_.write_refusal(destination_->exchange)) {
        return session().fail(fault_of(*refusal));
    }
    if (temporary_) return declare_temporary_queue(destination_->routing_key);
    const bool to_queue = destination_->exchange.empty();
    ask(engine::CheckTarget{channel(), destination_->exchange,
                            to_queue ? destination_->routing_key : std::string()});
}

std::optional<Fault> IncomingLink::choose_target() {
    if (descriptor_in(attach_parameters().target) == descriptor::coordinator) {
        return Fault{condition::not_implemented, "Transactions not supported", {}};
    }
    const auto target = composite_in<Target>(attach_parameters().target);
    if (!target) return Fault{condition::invalid_field, "Attach refused: target_required", {}};
    if (target->dynamic) {
        if (!wants_temporary_queue(*target) || !is_absent(target->address)) {
            return Fault{condition::not_implemented, "Dynamic target not supported", {}};
        }
        temporary_ = true;
        return std::nullopt;
    }
    if (is_absent(target->address)) return std::nullopt;
    const auto text = string_of(target->address);
    auto address = parse_address(text.value_or(""));
    if (!address) {
        return Fault{
            condition::invalid_field,
            "Attach refused: " + bad_target_text(datum_in(target->address).value_or(Datum::null())),
            {}};
    }
    if (address->kind == Address::Kind::queue) {
        destination_ = Destination{"", std::move(address->name)};
    } else {
        destination_ = Destination{std::move(address->name), std::move(address->routing_key)};
    }
    return std::nullopt;
}

void IncomingLink::on_done(engine::Done&&) { attach(); }

// amqp10 5.2
void IncomingLink::attach() {
    write_attach({.source = attach_parameters().source,
                  .target = target_of_reply(),
                  .snd_settle_mode = attach_parameters().snd_settle_mode,
                  .initial_delivery_count = std::nullopt,
                  .max_message_size = connection().settings().max_message_size});
    grant_credit();
}

std::string IncomingLink::target_of_reply() const {
    if (!temporary_) return attach_parameters().target;
    Target target = *composite_in<Target>(attach_parameters().target);
    std::string address;
    TypeWriter(address).string(queue_address(destination_->routing_key));
    target.address = address;
    target.expiry_policy = "link-detach";
    const std::string node_properties = dynamic_node_properties();
    target.dynamic_node_properties = node_properties;
    std::string encoded;
    TypeWriter out(encoded);
    target.encode(out);
    return encoded;
}

std::optional<engine::Refusal> IncomingLink::permission_refusal() {
    if (is_anonymous()) return std::nullopt;  // checked for each message
    return permissions_.write_refusal(destination_->exchange);
}

void IncomingLink::before_close() {
    if (temporary_ && destination_ && !was_refused()) {
        ask(engine::DeleteQueue{channel(), destination_->routing_key, false, false});
    }
}

// ------------------------------------------------------------------------- credit

// amqp10 5.11
void IncomingLink::grant_credit() {
    if (credit_ > credit_max / 2 || pending_.size() >= credit_max) return;
    credit_ = credit_max;
    Flow flow;
    flow.delivery_count = delivery_count_;
    flow.link_credit = credit_;
    session().write_link_flow(this, flow);
}

void IncomingLink::on_flow(const Flow& flow) {
    if (!flow.echo || !is_attached()) return;
    Flow answer;
    answer.delivery_count = delivery_count_;
    answer.link_credit = credit_;
    session().write_link_flow(this, answer);
}

// ------------------------------------------------------------------------- messages in

void IncomingLink::on_transfer(const Transfer& transfer, std::string_view payload) {
    if (!arriving_ && !begin_message(transfer)) return;
    if (transfer.delivery_id && *transfer.delivery_id != arriving_->delivery_id) {
        return fail({condition::invalid_field,
                     "delivery-id of continuation transfer ({uint," +
                         std::to_string(*transfer.delivery_id) +
                         "}) differs from delivery-id on first transfer (" +
                         std::to_string(arriving_->delivery_id) + ")",
                     {}});
    }
    if (transfer.aborted) {
        // The sender has counted it as sent.
        credit_ -= 1;
        delivery_count_ += 1;
        arriving_.reset();
        return grant_credit();
    }
    if (transfer.settled && *transfer.settled != arriving_->settled) {
        const auto shown = [](bool settled) { return std::string(settled ? "true" : "false"); };
        return fail({condition::invalid_field,
                     "field 'settled' of continuation transfer (" + shown(*transfer.settled) +
                         ") differs from (interpreted) field 'settled' on first transfer (" +
                         shown(arriving_->settled) + ")",
                     {}});
    }
    const std::uint64_t size = arriving_->bytes.size() + payload.size();
    const std::uint64_t size_max = connection().settings().max_message_size;
    if (size > size_max) {
        return session().fail({condition::message_size_exceeded,
                               "message size (" + std::to_string(size) +
                                   " bytes) > maximum message size (" + std::to_string(size_max) +
                                   " bytes)",
                               {}});
    }
    if (transfer.more) {
        arriving_->bytes.append(payload);
        return;
    }
    credit_ -= 1;
    delivery_count_ += 1;
    if (arriving_->bytes.empty()) {
        publish(payload);
    } else {
        arriving_->bytes.append(payload);
        publish(std::exchange(arriving_->bytes, {}));
    }
    arriving_.reset();
    if (is_open()) grant_credit();
}

// amqp10 5.12
bool IncomingLink::begin_message(const Transfer& transfer) {
    if (credit_ == 0) {
        fail({condition::transfer_limit_exceeded, "insufficient link credit", {}});
        return false;
    }
    if (!transfer.delivery_id) {
        fail({condition::invalid_field, "first transfer has no delivery-id", {}});
        return false;
    }
    const bool settled = transfer.settled.value_or(false);
    const bool allowed = attach_parameters().snd_settle_mode == settle_mode_mixed ||
                         settled == (attach_parameters().snd_settle_mode == settle_mode_settled);
    if (!allowed) {
        fail({condition::invalid_field,
              std::string("sender settle mode is '") + (settled ? "unsettled" : "settled") +
                  "' but transfer settled flag is interpreted as being '" +
                  (settled ? "true" : "false") + "'",
              {}});
        return false;
    }
    arriving_ = PartialDelivery{*transfer.delivery_id,
                                settled,
                                std::string(transfer.delivery_tag.value_or(std::string_view{})),
                                {}};
    return true;
}

Result<IncomingLink::Destination, Fault> IncomingLink::destination_of(
    const IncomingMessage& published) const {
    if (!published.to) {
        return Unexpected{Fault{condition::precondition_failed,
                                "anonymous terminus requires 'to' address to be set",
                                {}}};
    }
    auto address = parse_address(*published.to);
    if (!address) {
        return Unexpected{
            Fault{condition::precondition_failed,
                  "bad 'to' address string: " +
                      std::string(utf8_prefix(*published.to, shown_address_bytes_max)),
                  {}}};
    }
    if (address->kind == Address::Kind::queue) return Destination{"", std::move(address->name)};
    return Destination{std::move(address->name), std::move(address->routing_key)};
}

void IncomingLink::publish(std::string_view bytes) {
    auto published = read_published(bytes);
    if (!published) {
        Fault fault{published.error().condition, published.error().text, {}};
        if (fault.condition == condition::invalid_field) return refuse_message(std::move(fault));
        return fail(std::move(fault));
    }
    if (published->user_id) {
        if (const auto refusal = permissions_.current().user_id_refusal(*published->user_id)) {
            return fail({condition::unauthorized_access, refusal->text, {}});
        }
    }
    if (!is_anonymous()) return publish_to(*destination_, *published);
    const auto destination = destination_of(*published);
    if (!destination) return refuse_message(destination.error());
    publish_to(*destination, *published);
}

void IncomingLink::publish_to(const Destination& destination, IncomingMessage& published) {
    if (const auto refusal = permissions_.write_refusal(destination.exchange)) {
        return session().fail(fault_of(*refusal));
    }
    engine::Publish command;
    command.channel = channel();
    command.refusal_if_topic = permissions_.current().topic_write_refusal(
        destination.exchange, destination.routing_key, published.head.extra_keys);
    command.message = make_message(destination.exchange, destination.routing_key,
                                   published.properties, published.body, std::move(published.head));
    command.single_outcome = true;
    if (!arriving_->settled) {
        command.mandatory = true;
        command.confirm_sequence = next_sequence_++;
        pending_.push_back({.delivery_id = arriving_->delivery_id});
    }
    connection().publish(std::move(command));
}

// amqp10 5.15, 5.16
void IncomingLink::refuse_message(Fault fault) {
    if (!is_anonymous()) {
        if (!arriving_->settled) {
            session().settle_published(arriving_->delivery_id, PublishOutcome::released);
        }
        return fail(std::move(fault));
    }
    if (arriving_->settled) {
        // Without the tag the client could not tell which of its messages was refused.
        TypeWriter(fault.info)
            .datum(Datum::map({{Datum::symbol("delivery-tag"), Datum::binary(arriving_->tag)}}));
        return fail(std::move(fault));
    }
    session().reject_published(arriving_->delivery_id, fault);
}

// ------------------------------------------------------------------------- outcomes

std::optional<std::uint32_t> IncomingLink::take_pending(std::uint64_t sequence) {
    const std::uint64_t first = next_sequence_ - pending_.size();
    if (sequence < first || sequence >= next_sequence_) return std::nullopt;
    Pending& found = pending_[sequence - first];
    if (std::exchange(found.answered, true)) return std::nullopt;
    const std::uint32_t delivery_id = found.delivery_id;
    while (!pending_.empty() && pending_.front().answered) pending_.pop_front();
    return delivery_id;
}

// amqp10 5.14
void IncomingLink::confirm(const engine::Confirm& effect) {
    const Connection::EffectScope scope(connection());
    if (is_open()) settle(effect.sequence, PublishOutcome::accepted);
}

void IncomingLink::on_effect(engine::Effect&& effect) {
    if (auto* refused = std::get_if<engine::PublishRefused>(&effect)) {
        on_publish_refused(*refused);
    } else if (const auto* unroutable = std::get_if<engine::ReturnUnroutable>(&effect)) {
        settle(unroutable->sequence, PublishOutcome::released);
    } else if (std::holds_alternative<engine::TargetGone>(effect)) {  // amqp10 4.4
        node_deleted();
    }
}

void IncomingLink::settle(std::uint64_t sequence, PublishOutcome outcome) {
    const auto delivery_id = take_pending(sequence);
    if (!delivery_id) return;
    session().settle_published(*delivery_id, outcome);
    grant_credit();
}

void IncomingLink::reject(std::uint64_t sequence, const Fault& fault) {
    const auto delivery_id = take_pending(sequence);
    if (!delivery_id) return;
    session().reject_published(*delivery_id, fault);
    grant_credit();
}

void IncomingLink::on_publish_refused(const engine::PublishRefused& effect) {
    if (!effect.full_queue.empty()) {
        return reject(effect.sequence, full_queue_fault(effect.full_queue));
    }
    Fault fault = fault_of(effect.refusal);
    const bool settled = effect.sequence == 0;
    if (effect.refusal.kind == engine::RefusalKind::not_permitted) {
        return session().fail(std::move(fault));
    }
    // An internal exchange, to which an attach would be refused too (amqp10 4.3) with the word
    // "forbidden". The engine's text is that of AMQP 0-9-1.
    if (effect.refusal.kind == engine::RefusalKind::access_refused) {
        constexpr std::string_view other_word = "cannot";
        if (fault.description.starts_with(other_word)) {
            fault.description.replace(0, other_word.size(), "forbidden to");
        }
        return fail(std::move(fault));
    }
    if (is_anonymous() && !settled) return reject(effect.sequence, fault);
    if (!settled) settle(effect.sequence, PublishOutcome::released);
    fail(std::move(fault));
}

}  // namespace revenant::amqp10
