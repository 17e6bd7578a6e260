#include "amqp10/links/session.h"

#include "amqp10/codec/raw_fields.h"
#include "amqp10/links/client_outcome.h"
#include "amqp10/links/connection.h"
#include "amqp10/links/incoming_link.h"
#include "amqp10/links/management_links.h"
#include "amqp10/links/outgoing_link.h"
#include "base/check.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace revenant::amqp10 {
namespace {

constexpr std::uint32_t incoming_window_max = 400;
constexpr std::uint32_t outgoing_window = std::numeric_limits<std::uint32_t>::max();
// Consumers pause when this many bytes wait for the client's window, and resume below the second
// limit.
constexpr std::size_t transfer_bytes_max = 1024 * 1024;
constexpr std::size_t transfer_bytes_resume = 256 * 1024;

// The encoded outcomes without fields.
constexpr std::string_view accepted_state{"\x00\x53\x24\x45", 4};
constexpr std::string_view released_state{"\x00\x53\x26\x45", 4};

constexpr bool sending = false;  // roles
constexpr bool receiving = true;

}  // namespace

Session::Session(Connection& connection, std::uint16_t channel)
    : connection_(connection), channel_(channel) {}

Session::~Session() = default;

// ------------------------------------------------------------------------- begin and end

// amqp10 3.1
void Session::begin(const Begin& begin) {
    next_incoming_id_ = begin.next_outgoing_id;
    remote_window_ = begin.incoming_window;
    remote_outgoing_window_ = begin.outgoing_window;
    handle_max_ = std::min(begin.handle_max, connection_.settings().link_max - 1);
    blocked_ = connection_.is_blocked();
    open_incoming_window();
    Begin answer;
    answer.remote_channel = channel_;
    answer.next_outgoing_id = next_outgoing_id_;
    answer.incoming_window = incoming_window_;
    answer.outgoing_window = outgoing_window;
    answer.handle_max = handle_max_;
    connection_.write(channel_, answer);
}

void Session::close_links() {
    transfers_.clear();
    transfer_bytes_ = 0;
    auto links = std::exchange(links_, {});
    for (auto& [handle, link] : links) {
        Link& closing = *link;
        connection_.keep_until_closed(std::move(link));
        closing.close(/*detached=*/false);
    }
    unsettled_ = {};
}

void Session::on_end() {
    if (state_ == State::running) {
        before_flush();
        close_links();
        write_end(nullptr);
    }
    state_ = State::gone;
    connection_.session_gone(channel_);
}

void Session::fail(Fault fault) {
    if (state_ != State::running) return;
    connection_.host().log_line("ending session: " + std::string(fault.condition) + " " +
                                fault.description);
    before_flush();
    state_ = State::ending;
    close_links();
    write_end(&fault);
}

void Session::write_end(const Fault* fault) {
    End end;
    std::string error;
    if (fault != nullptr) {
        error = encode_fault(*fault);
        end.error = error;
    }
    connection_.write(channel_, end);
}

void Session::orphaned() {
    state_ = State::gone;
    for (auto& [handle, link] : links_) link->orphaned();
}

// ------------------------------------------------------------------------- frames in

template <typename Performative, typename Work>
void Session::with(const TypeReader::Items& items, Work work) {
    const auto performative = Performative::decode(items);
    if (performative) {
        work(*performative);
        return;
    }
    fail({condition::decode_error, "cannot decode the fields of a performative", {}});
}

void Session::receive(std::uint64_t code, const TypeReader::Items& items,
                      std::string_view payload) {
    if (state_ == State::gone) return;
    if (code == End::descriptor_code) return on_end();
    if (state_ == State::ending) return;
    switch (code) {
        case Transfer::descriptor_code:
            return with<Transfer>(items, [&](const Transfer& t) { on_transfer(t, payload); });
        case Disposition::descriptor_code:
            return with<Disposition>(items, [&](const Disposition& d) { on_disposition(d); });
        case Flow::descriptor_code:
            return with<Flow>(items, [&](const Flow& f) { on_flow(f); });
        case Attach::descriptor_code:
            return with<Attach>(items, [&](const Attach& a) { on_attach(a); });
        case Detach::descriptor_code:
            return with<Detach>(items, [&](const Detach& d) { on_detach(d); });
        default:
            fail({condition::internal_error, "unexpected performative", {}});
    }
}

// ------------------------------------------------------------------------- links

Link* Session::find_link(std::uint32_t handle) {
    const auto found = links_.find(handle);
    return found == links_.end() ? nullptr : found->second.get();
}

Link* Session::link_named(std::string_view name, bool client_receives, const Link* other_than) {
    for (auto& [handle, link] : links_) {
        if (link.get() == other_than) continue;
        if (link->name() == name && link->client_receives() == client_receives) return link.get();
    }
    return nullptr;
}

std::vector<ChannelId> Session::link_channels() const {
    std::vector<ChannelId> channels;
    for (const auto& [handle, link] : links_) channels.push_back(link->channel());
    return channels;
}

protocol::SessionInfo Session::info() const {
    protocol::SessionInfo info;
    info.channel = channel_;
    info.handle_max = handle_max_;
    info.next_incoming_id = next_incoming_id_;
    info.incoming_window = incoming_window_;
    info.next_outgoing_id = next_outgoing_id_;
    info.remote_incoming_window = remote_window_;
    info.remote_outgoing_window = remote_outgoing_window_;
    info.unsettled = unsettled_.count();
    for (const auto& [handle, link] : links_) info.links.push_back(link->info());
    std::sort(info.links.begin(), info.links.end(),
              [](const auto& a, const auto& b) { return a.handle < b.handle; });
    return info;
}

void Session::on_attach(const Attach& attach) {
    if (attach.handle > handle_max_) {
        return connection_.fail({condition::framing_error,
                                 "link handle value (" + std::to_string(attach.handle) +
                                     ") exceeds maximum link handle value (" +
                                     std::to_string(handle_max_) + ")",
                                 {}});
    }
    std::erase(detached_handles_, attach.handle);
    if (find_link(attach.handle) != nullptr) {
        return fail(
            {condition::handle_in_use,
             "handle " + std::to_string(attach.handle) + " is already associated with a link",
             {}});
    }
    std::unique_ptr<Link> link = make_link(attach);
    Link& made = *link;
    links_.emplace(attach.handle, std::move(link));
    made.start();
}

std::unique_ptr<Link> Session::make_link(const Attach& attach) {
    if (is_management(attach)) return make_management_link(*this, attach);
    if (attach.role == receiving) return std::make_unique<OutgoingLink>(*this, attach);
    return std::make_unique<IncomingLink>(*this, attach);
}

std::unique_ptr<Link> Session::take_link(const Link& link) {
    const auto found = links_.find(link.handle());
    CHECK(found != links_.end());
    auto taken = std::move(found->second);
    links_.erase(found);
    std::erase(ending_later_, link.handle());
    forget_deliveries_of(*taken);
    if (link.awaits_deletion()) end_deleted_links();
    return taken;
}

void Session::detach(Link& link, Fault fault) {
    if (state_ != State::running) return;
    connection_.host().log_line("detaching link: " + std::string(fault.condition) + " " +
                                fault.description);
    const std::string error = encode_fault(fault);
    Detach detach;
    detach.handle = link.handle();
    detach.closed = true;
    detach.error = error;
    before_flush();
    connection_.write(channel_, detach);
    detached_handles_.push_back(link.handle());
    connection_.keep_until_closed(take_link(link));
    link.close(/*detached=*/true);
}

bool Session::ends_later(const Link& link) {
    const bool waits = std::any_of(links_.begin(), links_.end(),
                                   [](const auto& one) { return one.second->awaits_deletion(); });
    if (waits) ending_later_.push_back(link.handle());
    return waits;
}

void Session::end_deleted_links() {
    for (const std::uint32_t handle : std::exchange(ending_later_, {})) {
        if (Link* const link = find_link(handle)) link->node_deleted();
    }
}

void Session::check_permissions_again() {
    if (state_ != State::running) return;
    for (const auto& [handle, link] : links_) {
        if (const auto refusal = link->permission_refusal()) return fail(fault_of(*refusal));
    }
}

void Session::on_detach(const Detach& detach) {
    if (std::erase(detached_handles_, detach.handle) > 0)
        return;  // the reply to the broker's detach
    Link* const link = find_link(detach.handle);
    if (link == nullptr) return;
    before_flush();
    link->attach_with_null_terminus();
    connection_.keep_until_closed(take_link(*link));
    link->close(/*detached=*/true);
    Detach answer;
    answer.handle = detach.handle;
    answer.closed = detach.closed;
    connection_.write(channel_, answer);
}

// ------------------------------------------------------------------------- transfers in

void Session::open_incoming_window() {
    incoming_window_ = blocked_ ? 0 : incoming_window_max;
    incoming_margin_ = blocked_ ? incoming_window_max : 0;
}

void Session::set_blocked(bool blocked) {
    if (state_ != State::running) return;
    blocked_ = blocked;
    open_incoming_window();
    write_flow();
}

// Returns false if the client exceeded its window.
bool Session::count_incoming_transfer() {
    next_incoming_id_ += 1;
    std::uint32_t& left = incoming_window_ > 0 ? incoming_window_ : incoming_margin_;
    if (left == 0) return false;
    left -= 1;
    if (!blocked_ && incoming_window_ <= incoming_window_max / 2) {
        open_incoming_window();
        write_flow();
    }
    return true;
}

void Session::on_transfer(const Transfer& transfer, std::string_view payload) {
    if (!count_incoming_transfer()) {
        return fail({condition::window_violation,
                     "incoming window violation (tolerated excess tranfers: " +
                         std::to_string(blocked_ ? incoming_window_max : 0) + ")",
                     {}});
    }
    Link* const link = find_link(transfer.handle);
    if (link != nullptr) return link->on_transfer(transfer, payload);
    if (std::find(detached_handles_.begin(), detached_handles_.end(), transfer.handle) !=
        detached_handles_.end()) {
        return;
    }
    fail({condition::unattached_handle,
          "Unknown link handle: " + std::to_string(transfer.handle),
          {}});
}

// ------------------------------------------------------------------------- flow

void Session::write_flow() { write_link_flow(nullptr, {}); }

void Session::write_link_flow(const Link* link, Flow flow) {
    flow.next_incoming_id = next_incoming_id_;
    flow.incoming_window = incoming_window_;
    flow.next_outgoing_id = next_outgoing_id_;
    flow.outgoing_window = outgoing_window;
    if (link != nullptr) flow.handle = link->handle();
    connection_.write(channel_, flow);
}

void Session::write_link_state(std::uint32_t handle, const LinkState& state) {
    Flow flow;
    flow.handle = handle;
    flow.delivery_count = state.delivery_count;
    flow.link_credit = state.link_credit;
    flow.available = state.available;
    flow.drain = state.drain;
    std::string properties;
    if (state.active) {  // amqp10 5.26
        TypeWriter(properties)
            .datum(Datum::map({{Datum::symbol("rabbitmq:active"), Datum::boolean(*state.active)}}));
        flow.properties = properties;
    }
    write_link_flow(nullptr, flow);
}

// amqp10 5.23: a client that is informed of used credit must already have the messages that used
// it.
void Session::send_link_state(const Link& link, const LinkState& state) {
    for (auto outgoing = transfers_.rbegin(); outgoing != transfers_.rend(); ++outgoing) {
        if (outgoing->handle != link.handle()) continue;
        outgoing->link_states_after.push_back(state);
        return;
    }
    write_link_state(link.handle(), state);
}

void Session::on_flow(const Flow& flow) {
    remote_outgoing_window_ = flow.outgoing_window;
    // The remaining window in serial arithmetic, counted from the transfers sent (amqp10 1.4).
    const std::uint32_t from = flow.next_incoming_id.value_or(0);
    if (static_cast<std::int32_t>(from - next_outgoing_id_) > 0) {
        return fail({condition::window_violation,
                     "next-incoming-id from FLOW (" + std::to_string(from) +
                         ") leads next-outgoing-id (" + std::to_string(next_outgoing_id_) + ")",
                     {}});
    }
    const auto left = static_cast<std::int32_t>(from + flow.incoming_window - next_outgoing_id_);
    const bool huge =
        flow.incoming_window > static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max());
    remote_window_ = huge ? flow.incoming_window : static_cast<std::uint32_t>(std::max(left, 0));
    send_transfers();
    if (!flow.handle) {
        if (flow.echo) write_flow();
        return;
    }
    Link* const link = find_link(*flow.handle);
    if (link != nullptr) return link->on_flow(flow);
    if (std::find(detached_handles_.begin(), detached_handles_.end(), *flow.handle) !=
        detached_handles_.end()) {
        return;
    }
    fail({condition::unattached_handle,
          "Unattached link handle: " + std::to_string(*flow.handle),
          {}});
}

// ------------------------------------------------------------------------- transfers out

bool Session::is_backlogged() const { return transfer_bytes_ > transfer_bytes_max; }

OutgoingTransfer& Session::next_transfer() {
    fresh_.head.clear();
    fresh_.converted.clear();
    fresh_.sent = 0;
    fresh_.started = false;
    fresh_.timed_out = false;
    return fresh_;
}

bool Session::send_next_transfer() {
    if (transfers_.empty() && remote_window_ > 0) {
        if (!send_frames(fresh_)) {
            transfer_bytes_ += fresh_.size();
            transfers_.push_back(std::move(fresh_));
        } else {
            fresh_.message = {};
            if (fresh_.head.owner != nullptr) fresh_.head.clear();
        }
    } else {
        transfer_bytes_ += fresh_.size();
        transfers_.push_back(std::move(fresh_));
    }
    const bool room = connection_.on_delivery_written();
    if (!is_backlogged()) return room;
    // Pauses all of them for now; see pause_links_if_backlogged.
    connection_.deliveries_paused();
    return false;
}

void Session::pause_links_if_backlogged() {
    if (state_ != State::running || !is_backlogged()) return;
    links_paused_ = true;
    for (const auto& [handle, link] : links_) link->on_backlogged();
}

// Returns true if the last frame was written.
bool Session::send_frames(OutgoingTransfer& outgoing) {
    if (!outgoing.started) {
        outgoing.started = true;
        // Assigns the number now, in the order of the transfers.
        const std::uint64_t number = outgoing.settled
                                         ? unsettled_.skip()
                                         : unsettled_.add({outgoing.link, outgoing.delivery});
        outgoing.delivery_id = static_cast<std::uint32_t>(number - 1);
        if (outgoing.timed_out)
            queue_disposition(sending, outgoing.delivery_id, released_state, /*settled=*/false);
    }
    while (remote_window_ > 0) {
        remote_window_ -= 1;
        next_outgoing_id_ += 1;
        if (append_transfer_frame(connection_.output(), channel_, outgoing,
                                  connection_.frame_max())) {
            return true;
        }
    }
    return false;
}

void Session::send_transfers() {
    while (!transfers_.empty() && remote_window_ > 0) {
        connection_.on_delivery_written();
        if (!send_frames(transfers_.front())) break;
        const OutgoingTransfer sent = std::move(transfers_.front());
        transfers_.pop_front();
        transfer_bytes_ -= sent.size();
        for (const LinkState& state : sent.link_states_after) write_link_state(sent.handle, state);
    }
    resume_links_if_cleared();
}

void Session::resume_links_if_cleared() {
    if (!links_paused_ || transfer_bytes_ > transfer_bytes_resume) return;
    links_paused_ = false;
    for (const auto& [handle, link] : links_) link->on_backlog_cleared();
}

void Session::forget_deliveries_of(const Link& link) {
    std::erase_if(transfers_, [&](const OutgoingTransfer& outgoing) {
        if (outgoing.handle != link.handle()) return false;
        transfer_bytes_ -= outgoing.size();
        return true;
    });
    std::vector<std::uint64_t> numbers;
    unsettled_.for_each_up_to(unsettled_.newest(), [&](std::uint64_t number, const Unsettled& one) {
        if (one.link == &link) numbers.push_back(number);
    });
    for (const std::uint64_t number : numbers) unsettled_.remove(number);
    resume_links_if_cleared();
}

// ------------------------------------------------------------------------- settlement

// Settles messages published by the client.
void Session::settle_published(std::uint32_t delivery, PublishOutcome outcome) {
    queue_disposition(receiving, delivery,
                      outcome == PublishOutcome::accepted ? accepted_state : released_state);
}

void Session::reject_published(std::uint32_t delivery, const Fault& fault) {
    const std::string error = encode_fault(fault);
    Rejected rejected;
    rejected.error = error;
    std::string state;
    TypeWriter out(state);
    rejected.encode(out);
    queue_disposition(receiving, delivery, state);
}

// amqp10 5.27: the client is notified and then settles the deliveries itself.
void Session::send_timed_out(const OutgoingLink& link, const std::vector<DeliveryId>& deliveries) {
    const auto is_meant = [&](const OutgoingLink* of, std::uint64_t delivery) {
        return of == &link &&
               std::binary_search(deliveries.begin(), deliveries.end(), DeliveryId{delivery});
    };
    unsettled_.for_each_up_to(unsettled_.newest(), [&](std::uint64_t number, const Unsettled& one) {
        if (!is_meant(one.link, one.delivery)) return;
        queue_disposition(sending, static_cast<std::uint32_t>(number - 1), released_state,
                          /*settled=*/false);
    });
    // Transfers that wait for the client's window are reported when they are sent.
    for (OutgoingTransfer& outgoing : transfers_) {
        if (!outgoing.started && is_meant(outgoing.link, outgoing.delivery))
            outgoing.timed_out = true;
    }
}

void Session::queue_disposition(bool role, std::uint32_t delivery, std::string_view state,
                                bool settled) {
    if (!flush_wanted_) {
        flush_wanted_ = true;
        connection_.request_flush(*this);
    }
    if (!runs_.empty()) {
        Run& last = runs_.back();
        if (last.role == role && last.last + 1 == delivery && last.state == state &&
            last.settled == settled) {
            last.last = delivery;
            return;
        }
    }
    runs_.push_back({delivery, delivery, role, std::string(state), settled});
}

void Session::before_flush() {
    flush_wanted_ = false;
    if (state_ != State::running) return;
    for (const Run& run : std::exchange(runs_, {})) {
        Disposition disposition;
        disposition.role = run.role;
        disposition.first = run.first;
        if (run.last != run.first) disposition.last = run.last;
        disposition.settled = run.settled;
        disposition.state = run.state;
        connection_.write(channel_, disposition);
    }
}

// The client settles messages it received (amqp10 5.24).
void Session::on_disposition(const Disposition& disposition) {
    if (disposition.role == sending)
        return;  // for the client's own messages, which the broker has settled
    if (disposition.state == accepted_state) {  // the common case
        return settle_deliveries(disposition, {{.kind = engine::OutcomeKind::accepted}, {}});
    }
    const auto outcome = read_outcome(disposition.state);
    if (!outcome) return fail(outcome.error());
    // An unsettled disposition without a state has no effect.
    if (!disposition.settled && is_absent(disposition.state)) return;
    settle_deliveries(disposition, *outcome);
}

void Session::settle_deliveries(const Disposition& disposition, const ClientOutcome& outcome) {
    const std::uint64_t newest = unsettled_.newest();
    const auto number_of = [&](std::uint32_t id) {
        const auto back = static_cast<std::int32_t>(static_cast<std::uint32_t>(newest - 1) - id);
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(newest) - back);
    };
    const std::uint64_t first = number_of(disposition.first);
    const std::uint64_t last = number_of(disposition.last.value_or(disposition.first));
    if (first == last) return settle_delivery(first, disposition, outcome);
    std::vector<std::uint64_t> numbers;
    unsettled_.for_each_between(
        first, last, [&](std::uint64_t number, const Unsettled&) { numbers.push_back(number); });
    for (const std::uint64_t number : numbers) {
        settle_delivery(number, disposition, outcome);
        if (state_ != State::running) return;
    }
}

void Session::settle_delivery(std::uint64_t number, const Disposition& disposition,
                              const ClientOutcome& outcome) {
    const Unsettled* const found = unsettled_.find(number);
    if (found == nullptr) return;
    // A copy, because the engine may cause more deliveries now.
    const Unsettled settled = *found;
    unsettled_.remove(number);
    if (!disposition.settled) {
        queue_disposition(sending, static_cast<std::uint32_t>(number - 1),
                          echo_of(disposition.state));
    }
    settled.link->settle(settled.delivery, outcome);
}

}  // namespace revenant::amqp10
