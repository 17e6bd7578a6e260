#include "tests/support/peer10.h"

#include "amqp10/codec/raw_fields.h"
#include "base/check.h"

#include <algorithm>
#include <utility>

namespace revenant::amqp10 {

using namespace std::string_literals;

namespace {

void check_error(Raw field, std::string_view condition, std::string_view description, Where where) {
    const testing::ScopedTrace trace(where.file, where.line, "the error");
    const ErrorText error = error_in(field);
    EXPECT_EQ(error.condition, condition);
    EXPECT_EQ(error.description, description);
}

}  // namespace

// ------------------------------------------------------------------------- peer

Peer::Peer(World& world, const Connect& options) : world_(world), index_(world.connect(options)) {}

Peer::~Peer() {
    if (ignoring_rest_) return;
    arrive();
    for (const auto& [channel, inbox] : inboxes_) {
        for (const Arrival& arrival : inbox) {
            ADD_FAILURE() << "unexpected on channel " << channel << ": " << arrival.describe();
        }
    }
}

void Peer::send(std::string_view bytes) {
    if (holding_) {
        held_.append(bytes);
    } else {
        world_.feed(index_, bytes);
    }
}

void Peer::release() {
    holding_ = false;
    send(std::exchange(held_, {}));
}

void Peer::arrive() {
    CHECK(!holding_);
    world_.carry();
    const std::string& received = wire().received();
    reader_.add(std::string_view(received).substr(read_));
    read_ = received.size();
    while (auto arrival = reader_.next()) {
        if (arrival->is_heartbeat()) {
            heartbeats_ += 1;
            continue;
        }
        const std::uint16_t channel = arrival->channel;
        if (arrival->code() == Begin::descriptor_code) transfers_[channel] = 0;
        if (arrival->code() == Transfer::descriptor_code) transfers_[channel] += 1;
        if (arrival->code() == Attach::descriptor_code) {
            const auto attach = Attach::decode(arrival->items());
            if (attach) deliveries_[{channel, attach->handle}] = 0;
        }
        if (tells_only_activity(*arrival)) continue;
        inboxes_[channel].push_back(std::move(*arrival));
    }
    EXPECT_EQ(reader_.fault(), "");
}

bool Peer::tells_only_activity(const Arrival& arrival) {
    if (arrival.code() != Flow::descriptor_code) return false;
    const auto flow = Flow::decode(arrival.items());
    if (!flow || !flow->handle) return false;
    const auto active = entry_in(flow->properties, "rabbitmq:active");
    if (!active || active->as_boolean() == nullptr) return false;
    activity_[{arrival.channel, *flow->handle}].push_back(*active->as_boolean());
    return !flow->drain && !flow->echo;
}

std::vector<bool> Peer::activity_of(std::uint16_t channel, std::uint32_t handle) {
    arrive();
    return std::exchange(activity_[{channel, handle}], {});
}

std::uint32_t Peer::transfers_of(std::uint16_t channel) const {
    const auto found = transfers_.find(channel);
    return found == transfers_.end() ? 0 : found->second;
}

const Arrival* Peer::next(std::uint16_t channel) {
    arrive();
    auto& inbox = inboxes_[channel];
    if (inbox.empty()) return nullptr;
    taken_.push_back(std::move(inbox.front()));
    inbox.pop_front();
    return &taken_.back();
}

const Arrival* Peer::take(std::uint16_t channel, std::uint64_t code, Where where) {
    const Arrival* const arrival = next(channel);
    if (arrival == nullptr) {
        ADD_FAILURE_AT(where.file, where.line)
            << "expected performative " << code << " on channel " << channel << ", got nothing"
            << (wire().closed() ? "; the socket is closed" : "");
        return nullptr;
    }
    if (arrival->code() == code && !arrival->is_header) return arrival;
    ADD_FAILURE_AT(where.file, where.line) << "expected performative " << code << " on channel "
                                           << channel << ", got " << arrival->describe();
    return nullptr;
}

void Peer::expect_header(std::string_view header, Where where) {
    const Arrival* const arrival = next(0);
    if (arrival != nullptr && arrival->is_header && arrival->body == header) return;
    ADD_FAILURE_AT(where.file, where.line)
        << "expected a header, got " << (arrival == nullptr ? "nothing" : arrival->describe());
}

void Peer::expect_close(std::string_view condition, std::string_view description, Where where) {
    check_error(expect<Close>(0, where).error, condition, description, where);
}

void Peer::expect_nothing(Where where) {
    arrive();
    for (auto& [channel, inbox] : inboxes_) {
        if (inbox.empty()) continue;
        ADD_FAILURE_AT(where.file, where.line)
            << "expected nothing, but on channel " << channel << ": " << inbox.front().describe();
        inbox.clear();
    }
}

void Peer::expect_nothing_on(std::uint16_t channel, Where where) {
    arrive();
    const auto& inbox = inboxes_[channel];
    if (inbox.empty()) return;
    ADD_FAILURE_AT(where.file, where.line)
        << "expected nothing on channel " << channel << ", got " << inbox.front().describe();
}

void Peer::expect_socket_closed(Where where) {
    arrive();
    if (!wire().closed()) ADD_FAILURE_AT(where.file, where.line) << "the socket is still open";
    expect_nothing(where);
}

bool Peer::is_open() {
    arrive();
    return !wire().closed();
}

std::size_t Peer::take_heartbeats() {
    arrive();
    return std::exchange(heartbeats_, 0);
}

void Peer::greet(Where where) {
    send(sasl_greeting);
    expect_header(sasl_greeting, where);
    expect<SaslMechanisms>(0, where);
}

void Peer::send_init(const Login& login) {
    const std::string response =
        login.mechanism == "PLAIN" ? "\0"s + login.user + "\0"s + login.password : std::string();
    SaslInit init;
    init.mechanism = login.mechanism;
    init.initial_response = response;
    send(sasl_frame(init));
}

void Peer::log_in(const Login& login, Where where) {
    greet(where);
    send_init(login);
    EXPECT_EQ(expect<SaslOutcome>(0, where).code, 0);
    send(amqp_greeting);
    expect_header(amqp_greeting, where);
}

void Peer::send_open(const Login& login) {
    Open open;
    open.container_id = login.container_id;
    if (login.hostname) open.hostname = *login.hostname;
    open.max_frame_size = login.max_frame_size;
    open.channel_max = login.channel_max;
    open.idle_time_out = login.idle_time_out;
    send(0, open);
}

Peer& Peer::connect(const Login& login, Where where) {
    log_in(login, where);
    reader_.limit_frames(login.max_frame_size);
    send_open(login);
    expect<Open>(0, where);
    return *this;
}

PeerSession Peer::begin(std::uint16_t channel, std::uint32_t incoming_window, Where where) {
    PeerSession begun(*this, channel);
    begun.begin(incoming_window, where);
    return begun;
}

void Peer::close(Where where) {
    send(0, Close{});
    EXPECT_TRUE(is_absent(expect<Close>(0, where).error));
}

// ------------------------------------------------------------------------- session

void PeerSession::expect_nothing(Where where) { peer_->expect_nothing_on(channel_, where); }

void PeerSession::begin(std::uint32_t incoming_window, Where where) {
    send(Begin{.next_outgoing_id = 0, .incoming_window = incoming_window, .outgoing_window = 1000});
    EXPECT_EQ(expect<Begin>(where).remote_channel, channel_);
}

void PeerSession::end(Where where) {
    send(End{});
    EXPECT_TRUE(is_absent(expect<End>(where).error));
}

void PeerSession::expect_end(std::string_view condition, std::string_view description,
                             Where where) {
    check_error(expect<End>(where).error, condition, description, where);
}

namespace {

std::string link_name(std::uint32_t handle) { return "link " + std::to_string(handle); }

}  // namespace

void PeerSession::send_attach_sender(std::uint32_t handle, std::optional<std::string> address,
                                     std::uint8_t settle_mode) {
    const std::string name = link_name(handle);
    const std::string source = source_of("here");
    const std::string target = target_of(std::move(address));
    send(Attach{.name = name,
                .handle = handle,
                .role = false,
                .snd_settle_mode = settle_mode,
                .source = source,
                .target = target,
                .initial_delivery_count = 0});
}

void PeerSession::send_attach_receiver(std::uint32_t handle, std::optional<std::string> address,
                                       std::uint8_t settle_mode) {
    const std::string name = link_name(handle);
    const std::string source = source_of(std::move(address));
    const std::string target = target_of("here");
    send(Attach{.name = name,
                .handle = handle,
                .role = true,
                .snd_settle_mode = settle_mode,
                .source = source,
                .target = target});
}

void PeerSession::attach_sender(std::uint32_t handle, std::optional<std::string> address,
                                std::uint8_t settle_mode, Where where) {
    send_attach_sender(handle, std::move(address), settle_mode);
    EXPECT_EQ(expect<Attach>(where).handle, handle);
    const Flow flow = expect<Flow>(where);
    EXPECT_EQ(flow.handle, handle);
    EXPECT_EQ(flow.link_credit, 170U);
}

void PeerSession::attach_receiver(std::uint32_t handle, const std::string& address,
                                  std::uint32_t credit_given, std::uint8_t settle_mode,
                                  Where where) {
    send_attach_receiver(handle, address, settle_mode);
    const Attach attach = expect<Attach>(where);
    EXPECT_EQ(attach.handle, handle);
    EXPECT_FALSE(is_absent(attach.source)) << "refused at line " << where.line;
    if (credit_given > 0) credit(handle, credit_given);
}

void PeerSession::send_attach_reply_receiver(std::uint32_t handle) {
    Source asked;
    const std::string capability = encoded(Datum::symbol("rabbitmq:volatile-queue"));
    asked.dynamic = true;
    asked.expiry_policy = "link-detach";
    asked.capabilities = capability;
    const std::string name = link_name(handle);
    const std::string source = encoded(asked);
    send(Attach{.name = name,
                .handle = handle,
                .role = true,
                .snd_settle_mode = settled_mode,
                .source = source});
}

std::string PeerSession::attach_reply_receiver(std::uint32_t handle, Where where) {
    send_attach_reply_receiver(handle);
    const Attach attach = expect<Attach>(where);
    return string_of(composite_in<Source>(attach.source).value().address).value_or("");
}

void PeerSession::expect_refused_attach(std::uint32_t handle, std::string_view condition,
                                        std::string_view description, Where where) {
    const testing::ScopedTrace trace(where.file, where.line, "the refusal");
    const Attach attach = expect<Attach>(where);
    EXPECT_EQ(attach.handle, handle);
    if (attach.role) {
        EXPECT_TRUE(is_absent(attach.target));
    } else {
        EXPECT_TRUE(is_absent(attach.source));
        EXPECT_EQ(attach.initial_delivery_count, 0U);
    }
    expect_detach(handle, condition, description, where);
    detach_ok(handle);
}

void PeerSession::expect_detach(std::uint32_t handle, std::string_view condition,
                                std::string_view description, Where where) {
    const Detach detach = expect<Detach>(where);
    EXPECT_EQ(detach.handle, handle);
    EXPECT_TRUE(detach.closed);
    check_error(detach.error, condition, description, where);
}

void PeerSession::detach(std::uint32_t handle, Where where) {
    detach_ok(handle);
    const Detach answer = expect<Detach>(where);
    EXPECT_EQ(answer.handle, handle);
    EXPECT_TRUE(answer.closed);
    EXPECT_TRUE(is_absent(answer.error));
}

void PeerSession::transfer(std::uint32_t handle, std::uint32_t delivery_id,
                           const std::string& message, bool settled) {
    const std::string tag = std::to_string(delivery_id);
    send(Transfer{.handle = handle,
                  .delivery_id = delivery_id,
                  .delivery_tag = tag,
                  .message_format = 0,
                  .settled = settled},
         message);
}

void PeerSession::credit_within_window(std::uint32_t handle, std::uint32_t credit,
                                       std::uint32_t window) {
    send(Flow{.next_incoming_id = 0,
              .incoming_window = window,
              .handle = handle,
              .delivery_count = 0,
              .link_credit = credit});
}

void PeerSession::credit(std::uint32_t handle, std::uint32_t credit, bool drain, bool echo) {
    send(Flow{.next_incoming_id = peer_->transfers_of(channel_),
              .incoming_window = 10000,
              .next_outgoing_id = 0,
              .outgoing_window = 1000,
              .handle = handle,
              .delivery_count = peer_->deliveries_of(channel_, handle),
              .link_credit = credit,
              .drain = drain,
              .echo = echo});
}

TakenMessage PeerSession::expect_message_bytes(std::string& bytes, Where where) {
    TakenMessage received;
    bytes.clear();
    for (bool more = true; more;) {
        const Arrival* const arrival = peer_->take(channel_, Transfer::descriptor_code, where);
        if (arrival == nullptr) return received;
        const auto transfer = Transfer::decode(arrival->items());
        if (!transfer) {
            ADD_FAILURE_AT(where.file, where.line) << "undecodable " << arrival->describe();
            return received;
        }
        if (received.frames == 0) {
            received.handle = transfer->handle;
            received.delivery_id = transfer->delivery_id.value_or(0);
            received.tag = std::string(transfer->delivery_tag.value_or(std::string_view{}));
            received.settled = transfer->settled.value_or(false);
        }
        EXPECT_EQ(transfer->handle, received.handle);
        EXPECT_EQ(transfer->delivery_id.value_or(received.delivery_id), received.delivery_id);
        received.frames += 1;
        bytes.append(arrival->payload());
        more = transfer->more;
    }
    peer_->note_deliveries(channel_, received.handle, 1);
    return received;
}

TakenMessage PeerSession::expect_message(Where where) {
    std::string bytes;
    TakenMessage received = expect_message_bytes(bytes, where);
    if (received.frames > 0) received.parts = take_apart(std::move(bytes));
    return received;
}

TakenMessage PeerSession::expect_message(std::string_view body, Where where) {
    TakenMessage received = expect_message(where);
    const testing::ScopedTrace trace(where.file, where.line, "the message");
    EXPECT_EQ(received.body(), body);
    return received;
}

void PeerSession::settle(std::uint32_t first, std::uint32_t last, const std::string& state,
                         bool settled) {
    send(Disposition{
        .role = true, .first = first, .last = last, .settled = settled, .state = state});
}

Raw PeerSession::outcome_of(std::uint32_t first, std::uint32_t last, Where where) {
    const Disposition told = expect<Disposition>(where);
    const testing::ScopedTrace trace(where.file, where.line, "the outcome");
    EXPECT_TRUE(told.role);
    EXPECT_TRUE(told.settled);
    EXPECT_EQ(told.first, first);
    EXPECT_EQ(told.last.value_or(told.first), last);
    return told.state;
}

void PeerSession::expect_rejected(std::uint32_t delivery, std::string_view condition,
                                  std::string_view description, Where where) {
    check_error(expect_outcome<Rejected>(delivery, where).error, condition, description, where);
}

// ------------------------------------------------------------------------- tests

void Wire10Test::TearDown() {
    peers10_.clear();
    WireTest::TearDown();
}

Peer& Wire10Test::new_peer10(PeerLocation place) {
    peers10_.push_back(
        std::make_unique<Peer>(world(), Connect{GetParam(), place, protocol::Protocol::amqp10}));
    return *peers10_.back();
}

Peer& Wire10Test::connect10(const Login& login, Where where) {
    return new_peer10().connect(login, where);
}

Peer& Wire10Test::peer10() {
    if (peer10_ == nullptr) peer10_ = &connect10();
    return *peer10_;
}

PeerSession& Wire10Test::session() {
    if (!session_) session_ = peer10().begin();
    return *session_;
}

void Wire10Test::declare(std::string_view queue, std::initializer_list<Argument> arguments,
                         Where where) {
    channel().declare(queue, arguments, where);
}

void Wire10Test::declare_quorum(std::string_view queue, std::initializer_list<Argument> arguments,
                                Where where) {
    const std::string type = amqp091::table({{"x-queue-type", "quorum"}});
    const std::string rest = amqp091::table(arguments);
    channel().send(
        amqp091::QueueDeclare{.queue = queue, .durable = true, .arguments = type + rest});
    channel().expect<amqp091::QueueDeclareOk>(where);
}

}  // namespace revenant::amqp10
