#include "amqp10/links/management_links.h"

#include "amqp10/codec/raw_fields.h"
#include "amqp10/links/connection.h"
#include "amqp10/links/session.h"

#include <algorithm>
#include <utility>

namespace revenant::amqp10 {
namespace {

constexpr std::string_view management_address = "/management";
constexpr std::uint32_t request_credit_max = 8;

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
    return client_receives() ? address_in<Target>(attach_parameters().target).value_or("")
                             : address_in<Source>(attach_parameters().source).value_or("");
}

ManagementLink* ManagementLink::other_half() {
    // All links of a session to /management are ManagementLinks.
    return dynamic_cast<ManagementLink*>(session().link_named(name(), !client_receives()));
}

// amqp10 7.1
void ManagementLink::start() {
    const auto paired = entry_in(attach_parameters().properties, "paired");
    if (!paired || paired->as_boolean() == nullptr || !*paired->as_boolean()) {
        return fail({condition::invalid_field,
                     "Link property 'paired' is not set to boolean value 'true'",
                     {}});
    }
    if (session().link_named(name(), client_receives(), this) != nullptr) {
        return fail({condition::precondition_failed,
                     "the session already has a link '" + name() + "' in this direction",
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
        write_attach({.source = attach_parameters().source,
                      .target = attach_parameters().target,
                      .snd_settle_mode = settle_mode_settled,
                      .initial_delivery_count = 0,
                      .max_message_size = attach_parameters().max_message_size,
                      .properties = attach_parameters().properties});
    } else {
        write_attach({.source = attach_parameters().source,
                      .target = attach_parameters().target,
                      .snd_settle_mode = settle_mode_settled,
                      .initial_delivery_count = std::nullopt,
                      .max_message_size = connection().settings().frame_max,
                      .properties = attach_parameters().properties});
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
    session().send_link_state(*this, {.delivery_count = delivery_count_,
                                      .link_credit = credit(),
                                      .available = 0,
                                      .drain = flow.drain,
                                      .active = std::nullopt});
}

protocol::LinkInfo ManagementResponses::info() const {
    protocol::LinkInfo info = Link::info();
    info.settle_mode = protocol::SettleMode::settled;
    info.delivery_count = delivery_count_;
    info.credit = credit();
    return info;
}

void ManagementResponses::send_answer(std::string message) {
    delivery_count_ += 1;
    OutgoingTransfer& outgoing = session().next_transfer();
    outgoing.link = nullptr;
    outgoing.handle = handle();
    outgoing.settled = true;
    outgoing.head.bytes = std::move(message);
    outgoing.message = {};
    outgoing.message_body = {};
    session().send_next_transfer();
}

// ------------------------------------------------------------------------- requests

ManagementRequests::ManagementRequests(Session& session, const Attach& attach)
    : ManagementLink(session, attach),
      work_(
          *this,
          {connection().host(), connection().settings(), connection().user(), connection().vhost()},
          channel()),
      delivery_count_(attach_parameters().initial_delivery_count) {}

protocol::LinkInfo ManagementRequests::info() const {
    protocol::LinkInfo info = Link::info();
    info.settle_mode = protocol::SettleMode::settled;
    info.delivery_count = delivery_count_;
    info.credit = credit_;
    return info;
}

void ManagementRequests::attached() {
    open_channel();
    grant_credit();
}

void ManagementRequests::grant_credit() {
    // Limits both the requests that wait for the engine and the responses that wait for the client.
    if (credit_ > request_credit_max / 2 || outstanding_responses() >= request_credit_max) return;
    if (session().is_backlogged()) return;
    credit_ = request_credit_max;
    on_flow(Flow{.echo = true});
}

void ManagementRequests::on_flow(const Flow& flow) {
    if (!flow.echo) return;
    Flow state;
    state.delivery_count = delivery_count_;
    state.link_credit = credit_;
    session().write_link_flow(this, state);
}

// amqp10 7.2
void ManagementRequests::on_transfer(const Transfer& transfer, std::string_view payload) {
    const auto refuse = [this](std::string_view why, std::string text) {
        session().fail({why, std::move(text), {}});
    };
    if (transfer.more) {
        return refuse(condition::not_implemented, "a management request must fit in one transfer");
    }
    if (!transfer.settled.value_or(false)) {
        return refuse(condition::not_implemented, "a management request must be settled");
    }
    if (credit_ == 0) {
        return refuse(condition::transfer_limit_exceeded,
                      "insufficient credit (0) for management link from client to RabbitMQ");
    }
    auto* const responses = dynamic_cast<ManagementResponses*>(other_half());
    if (responses == nullptr) {
        return refuse(condition::precondition_failed,
                      "received transfer on half open management link pair");
    }
    // Outstanding responses will use some of the credit.
    if (responses->credit() <= outstanding_responses()) {
        return refuse(condition::precondition_failed,
                      "insufficient credit (" +
                          std::to_string(responses->credit() -
                                         std::min(responses->credit(), outstanding_responses())) +
                          ") for management link from RabbitMQ to client");
    }
    credit_ -= 1;
    delivery_count_ += 1;
    waiting_.push_back(read_request(payload));
    // Must precede the response, which may be immediate.
    grant_credit();
    next_request();
}

void ManagementRequests::next_request() {
    while (is_open() && !work_.is_busy() && !waiting_.empty()) {
        ManagementRequest request = std::move(waiting_.front());
        waiting_.pop_front();
        work_.begin(std::move(request));
    }
}

void ManagementRequests::answer(const ManagementRequest& request, const ManagementAnswer& given) {
    auto* const responses = dynamic_cast<ManagementResponses*>(other_half());
    if (responses != nullptr) responses->send_answer(encode_answer(request, given));
    grant_credit();
    session().end_deleted_links();
}

void ManagementRequests::deny(const engine::Refusal& refusal) { session().fail(fault_of(refusal)); }

void ManagementRequests::send_to_engine(engine::Command&& command) { ask(std::move(command)); }

void ManagementRequests::check_permissions_again() { connection().check_permissions_again(); }

void ManagementRequests::on_done(engine::Done&& done) {
    work_.on_done(std::move(done));
    next_request();
}

void ManagementRequests::on_refused(const engine::Refuse& refuse) {
    // The engine has closed the channel. The next request uses a new one.
    open_channel();
    work_.on_refused(refuse.refusal);
    next_request();
}

std::uint32_t ManagementRequests::outstanding_responses() const {
    return static_cast<std::uint32_t>(waiting_.size()) + (work_.is_busy() ? 1 : 0);
}

}  // namespace revenant::amqp10
