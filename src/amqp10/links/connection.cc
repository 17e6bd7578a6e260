#include "amqp10/links/connection.h"

#include "amqp10/codec/raw_fields.h"
#include "amqp10/links/link.h"
#include "amqp10/links/session.h"
#include "base/check.h"
#include "protocol/login.h"

#include <algorithm>
#include <utility>

namespace revenant::amqp10 {
namespace {

constexpr std::size_t header_bytes = 8;
constexpr std::string_view sasl_header{"AMQP\x03\x01\x00\x00", header_bytes};
constexpr std::string_view amqp_header{"AMQP\x00\x01\x00\x00", header_bytes};
constexpr std::uint32_t default_frame_max = 131072;
constexpr Duration silence_before_drop = seconds(3);
constexpr Duration close_timeout = seconds(10);
constexpr std::uint32_t idle_ms_min = 1000;
constexpr std::string_view default_vhost = "/";
constexpr std::string_view vhost_prefix = "vhost:";

constexpr std::uint8_t sasl_ok = 0;
constexpr std::uint8_t sasl_auth = 1;

std::vector<std::string> names_of(const std::vector<Mechanism>& mechanisms) {
    std::vector<std::string> names;
    for (const Mechanism mechanism : mechanisms) names.emplace_back(mechanism_name(mechanism));
    return names;
}

// The maximum size of frames from clients. It is limited here even if 0-9-1 has no limit.
std::uint32_t own_frame_max(const protocol::ConnectionSettings& settings) {
    return settings.frame_max == 0 ? default_frame_max : settings.frame_max;
}

// AMQPLAIN uses an AMQP 0-9-1 table, so it is not offered over AMQP 1.0.
std::vector<Mechanism> offered_here(const protocol::ConnectionSettings& settings,
                                    const protocol::Host& host) {
    auto offered = protocol::offered_mechanisms(settings, host);
    std::erase(offered, Mechanism::amqplain);
    return offered;
}

template <typename Performative>
void append_sasl_frame(std::string& out, const Performative& performative) {
    const std::size_t frame = begin_frame(out, FrameType::sasl, 0);
    TypeWriter writer(out);
    performative.encode(writer);
    end_frame(out, frame);
}

}  // namespace

bool is_greeting(std::string_view bytes) { return bytes.starts_with(sasl_header); }

Connection::Connection(const protocol::ConnectionSettings& settings, protocol::Host& host,
                       Timestamp now)
    : protocol::Connection(settings, host, now) {}

Connection::~Connection() = default;

// ------------------------------------------------------------------------- bytes in

std::size_t Connection::receive(std::string_view bytes, Timestamp now) {
    now_ = now;
    last_received_at_ = now;
    begin_receiving();
    std::size_t used = 0;
    while (state_ != State::moving) {
        if (ignores_input() || stream_broken_) return bytes.size();
        const std::string_view rest = bytes.substr(used);
        std::size_t size = 0;
        if (expects_header()) {
            if (rest.size() < header_bytes) return used;
            size = header_bytes;
            on_header(rest.substr(0, header_bytes));
        } else {
            size = receive_frame(rest);
            if (size == 0 && !stream_broken_) return used;
        }
        used += size;
        erase_closed();
        if (!may_go_on()) return used;
    }
    return used;
}

void Connection::on_header(std::string_view header) {
    const bool greeted = state_ == State::greeting;
    if (header != (greeted ? sasl_header : amqp_header)) {
        output_.buffer().append(sasl_header);
        host_.request_flush();
        state_ = State::closed;
        return;
    }
    output_.buffer().append(header);
    host_.request_flush();
    state_ = greeted ? State::authenticating : State::opening;
    if (greeted) send_mechanisms();
}

std::size_t Connection::receive_frame(std::string_view bytes) {
    const bool in_sasl = state_ == State::authenticating;
    const bool before_open = in_sasl || state_ == State::opening;
    const std::uint32_t size_max =
        before_open ? settings_.initial_frame_max : own_frame_max(settings_);
    const FrameOutcome outcome =
        read_frame(bytes, size_max, in_sasl ? FrameType::sasl : FrameType::amqp);
    if (std::holds_alternative<FrameIncomplete>(outcome)) return 0;
    if (const auto* error = std::get_if<FrameError>(&outcome)) {
        // The bytes that follow cannot be trusted.
        stream_broken_ = true;
        fail({condition::framing_error, error->text, {}});
        return 0;
    }
    const std::size_t size = frame_size(bytes);
    on_frame(std::get<Frame>(outcome));
    return size;
}

void Connection::on_frame(const Frame& frame) {
    if (frame.body.empty()) return;  // a heartbeat
    TypeReader in(frame.body);
    const auto code = in.descriptor();
    const auto items = in.list();
    if (in.failed() || !code || !items) {
        return fail({condition::decode_error, "cannot decode performative", {}});
    }
    if (frame.type == FrameType::sasl) return on_sasl(*code, *items);
    on_performative(frame.channel, *code, *items, in.rest());
}

void Connection::on_performative(std::uint16_t channel, std::uint64_t code,
                                 const TypeReader::Items& items, std::string_view payload) {
    if (code == Close::descriptor_code) return on_close();
    if (state_ == State::opening) {
        const auto open = code == Open::descriptor_code ? Open::decode(items) : std::nullopt;
        if (!open) return fail({condition::decode_error, "expected open", {}});
        return on_open(*open);
    }
    if (state_ != State::running) return;
    if (channel > channel_max_) {
        return fail({condition::framing_error,
                     "channel number (" + std::to_string(channel) +
                         ") exceeds maximum channel number (" + std::to_string(channel_max_) + ")",
                     {}});
    }
    Session* const session = find_session(channel);
    if (session != nullptr) return session->receive(code, items, payload);
    // Other performatives for an unknown session are ignored (amqp10 3.4).
    if (code == Begin::descriptor_code) on_begin(channel, items);
}

void Connection::on_begin(std::uint16_t channel, const TypeReader::Items& items) {
    const auto begin = Begin::decode(items);
    if (!begin) return fail({condition::decode_error, "cannot decode begin", {}});
    // A session counts as a channel.
    if (auto refusal = host_.admit_channel()) {
        return fail({condition::resource_limit_exceeded, std::move(*refusal), {}});
    }
    if (channel >= sessions_.size()) sessions_.resize(std::size_t{channel} + 1);
    sessions_[channel] = std::make_unique<Session>(*this, channel);
    sessions_[channel]->begin(*begin);
}

// ------------------------------------------------------------------------- handshake

void Connection::send_mechanisms() {
    std::string names;
    TypeWriter(names).symbols(names_of(offered_here(settings_, host_)));
    SaslMechanisms mechanisms;
    mechanisms.sasl_server_mechanisms = names;
    append_sasl_frame(output_.buffer(), mechanisms);
}

void Connection::send_outcome(std::uint8_t code) {
    SaslOutcome outcome;
    outcome.code = code;
    append_sasl_frame(output_.buffer(), outcome);
    host_.request_flush();
}

void Connection::on_sasl(std::uint64_t code, const TypeReader::Items& items) {
    const auto init = code == SaslInit::descriptor_code ? SaslInit::decode(items) : std::nullopt;
    if (!init) return drop_later();
    log_in(*init);
}

namespace {

Result<std::string, LoginRefusal> user_of(protocol::Host& host,
                                          const protocol::ConnectionSettings& settings,
                                          Mechanism mechanism, std::string_view response) {
    switch (mechanism) {
        case Mechanism::plain:
            return protocol::log_in_with_password(host, parse_plain(response));
        case Mechanism::anonymous:
            return protocol::log_in_anonymously(host, settings);
        case Mechanism::external:
            return protocol::log_in_by_certificate(host);
        case Mechanism::amqplain:
            break;
    }
    return Unexpected{LoginRefusal::unknown_mechanism};
}

}  // namespace

// amqp10 2.3, 2.4
void Connection::log_in(const SaslInit& init) {
    const auto mechanism = choose_mechanism(init.mechanism, offered_here(settings_, host_));
    if (!mechanism) return drop_later();
    mechanism_ = std::string(mechanism_name(*mechanism));
    const auto user =
        user_of(host_, settings_, *mechanism, init.initial_response.value_or(std::string_view{}));
    host_.count_login(engine::ClientProtocol::amqp10, user.has_value());
    if (user) {
        user_ = *user;
        state_ = State::authenticated;
        return send_outcome(sasl_ok);
    }
    if (user.error() == LoginRefusal::malformed_response) return drop_later();
    if (user.error() != LoginRefusal::too_many_failures) host_.log_line("login refused");
    send_outcome(sasl_auth);
    state_ = State::closed;
}

// The text for an invalid open (amqp10 2.7, 2.9, 2.10), or empty. `why` is set to the condition.
std::string Connection::refusal_of_open(const Open& open, std::string_view& why) const {
    why = condition::frame_size_too_small;
    if (open.max_frame_size < frame_size_min) {
        return "max_frame_size (" + std::to_string(open.max_frame_size) +
               ") < minimum maximum frame size (" + std::to_string(frame_size_min) + ")";
    }
    why = condition::not_allowed;
    if (open.idle_time_out && *open.idle_time_out > 0 && *open.idle_time_out < idle_ms_min) {
        return "idle-time-out (" + std::to_string(*open.idle_time_out) +
               " ms) < minimum idle-time-out (" + std::to_string(idle_ms_min) + " ms)";
    }
    why = condition::unauthorized_access;
    if (!check_location(user_, host_.peer_location(), settings_.loopback_users)) {
        return "user '" + user_ + "' can only connect via localhost";
    }
    const AccessTable& table = *host_.access();
    if (table.find_vhost(vhost_) == nullptr) {
        return "AMQP 1.0 connection failed: virtual host '" + vhost_ + "' does not exist";
    }
    if (!table.can_access_vhost(user_, vhost_)) {
        return "access to vhost '" + vhost_ + "' refused for user '" + user_ + "'";
    }
    return {};
}

void Connection::on_open(const Open& open) {
    container_id_ = std::string(open.container_id);
    const std::string_view hostname = open.hostname.value_or(std::string_view{});
    vhost_ =
        hostname.starts_with(vhost_prefix) ? hostname.substr(vhost_prefix.size()) : default_vhost;
    client_properties_ = table_in(open.properties);
    std::string_view why;
    if (std::string text = refusal_of_open(open, why); !text.empty()) {
        return fail({why, std::move(text), {}});
    }
    frame_max_ = std::min(open.max_frame_size, own_frame_max(settings_));
    channel_max_ = std::min<std::uint16_t>(open.channel_max, settings_.session_max - 1);
    client_idle_ms_ = open.idle_time_out.value_or(0);
    vhost_opened(host_.open_vhost(vhost_, user_));
}

void Connection::vhost_opened(const protocol::VhostAnswer& answer) {
    if (std::holds_alternative<protocol::VhostOnOtherReactor>(answer)) {
        state_ = State::moving;
        return;
    }
    if (const auto* refused = std::get_if<protocol::VhostRefused>(&answer)) {
        state_ = State::opening;
        return fail({condition::resource_limit_exceeded, refused->text, {}});
    }
    const auto& opened = std::get<protocol::VhostOpened>(answer);
    port_ = opened.port;
    id_ = opened.connection;
    state_ = State::running;
    state_deadline_ = never;
    send(engine::OpenConnection{id_, user_, engine::ClientProtocol::amqp10});
    send_open();
}

// amqp10 2.8
void Connection::send_open() {
    std::string capabilities;
    TypeWriter(capabilities).symbols({"LINK_PAIR_V1_0", "ANONYMOUS-RELAY"});
    const auto entry = [](std::string_view key, std::string_view value) {
        return MapEntry{Datum::symbol(key), Datum::string(value)};
    };
    std::string properties;
    TypeWriter(properties)
        .datum(Datum::map(
            {entry("node", settings_.cluster_name), entry("cluster_name", settings_.cluster_name),
             entry("copyright", "The Revenant authors"),
             entry("information", "Compatible with RabbitMQ " + settings_.version),
             entry("platform", settings_.platform), entry("product", settings_.product),
             entry("version", settings_.version), entry("product_name", settings_.product_name),
             entry("product_version", settings_.product_version)}));
    Open open;
    open.container_id = settings_.cluster_name;
    open.max_frame_size = own_frame_max(settings_);
    open.channel_max = channel_max_;
    if (settings_.heartbeat_seconds > 0) {
        open.idle_time_out = std::uint32_t{settings_.heartbeat_seconds} * 1000 / 2;
    }
    open.offered_capabilities = capabilities;
    open.properties = properties;
    write(0, open);
}

// ------------------------------------------------------------------------- the end

void Connection::on_close() {
    if (state_ == State::closing || state_ == State::opening) {
        if (state_ == State::opening) send_close(nullptr);
        state_ = State::closed;
        return;
    }
    if (state_ == State::failing) client_closed_ = true;
    if (state_ != State::running) return;
    before_flush();
    state_ = State::leaving;
    detach();
}

void Connection::detach() {
    CHECK(port_ != nullptr);
    send(engine::CloseConnection{id_});
}

void Connection::fail(Fault fault) {
    if (state_ == State::greeting || state_ == State::authenticating ||
        state_ == State::authenticated) {
        return drop_later();
    }
    if (state_ != State::running && state_ != State::opening) return;
    host_.log_line("closing connection: " + std::string(fault.condition) + " " + fault.description);
    // As in RabbitMQ: clients treat an open followed by a close as a lost connection and reconnect
    // immediately.
    if (state_ == State::opening) return drop_later();
    flush_sessions();
    state_ = State::failing;
    failure_ = std::make_unique<Fault>(std::move(fault));
    detach();
}

void Connection::send_close(const Fault* fault) {
    std::string error;
    Close close;
    if (fault != nullptr) {
        error = encode_fault(*fault);
        close.error = error;
    }
    write(0, close);
    state_ = client_closed_ ? State::closed : State::closing;
    state_deadline_ = now_ + (stream_broken_ ? silence_before_drop : close_timeout);
}

void Connection::request(engine::Effect&& effect) {
    if (!std::holds_alternative<engine::ConnectionClosed>(effect)) return;
    const EffectScope scope(*this);
    port_ = nullptr;
    // A session or link may be on the stack while its connection fails.
    for (auto& session : sessions_) {
        if (session) session->orphaned();
    }
    for (auto& link : closing_links_) link->orphaned();
    if (state_ == State::leaving) {
        send_close(nullptr);
        state_ = State::closed;
    } else if (state_ == State::failing) {
        send_close(failure_.get());
    }
}

void Connection::close_forced(std::string_view reason, Timestamp now) {
    now_ = now;
    if (state_ == State::running) {
        return fail(
            {condition::internal_error, "Connection forced: \"" + std::string(reason) + "\"", {}});
    }
    if (state_ != State::leaving && state_ != State::failing) state_ = State::closed;
}

void Connection::check_permissions_again() {
    const AccessTable& table = *host_.access();
    if (!table.can_access_vhost(user_, vhost_)) {
        return fail({condition::unauthorized_access,
                     "access to vhost " + vhost_ +
                         " failed for new credential: {amqp_error,not_allowed,\"access to vhost '" +
                         vhost_ + "' refused for user '" + user_ + "'\",none}",
                     {}});
    }
    for (const auto& session : sessions_) {
        if (session) session->check_permissions_again();
    }
}

void Connection::on_connection_lost() {
    const bool attached = is_attached();
    state_ = State::closed;
    if (attached) detach();
}

void Connection::drop_later() {
    state_ = State::dropping;
    state_deadline_ = now_ + silence_before_drop;
}

void Connection::tick(Timestamp now) {
    now_ = now;
    if (state_ == State::closed) return;
    output_.shrink_to_idle();
    if (state_ != State::running && state_ != State::leaving && state_ != State::failing &&
        state_ != State::moving && now >= state_deadline_) {
        state_ = State::closed;
        return;
    }
    if (state_ != State::running) return;
    const Duration heartbeat = seconds(settings_.heartbeat_seconds);
    if (heartbeat.us > 0 && now >= last_received_at_ + Duration{heartbeat.us * 2}) {
        fail({condition::resource_limit_exceeded,
              "no frame received from client within idle timeout threshold",
              {}});
        return;
    }
    const Duration pause = milliseconds(client_idle_ms_ / 2);
    if (client_idle_ms_ > 0 && now >= last_sent_at_ + pause && output_.empty()) {
        std::string& out = output_.buffer();
        end_frame(out, begin_frame(out, FrameType::amqp, 0));
        host_.request_flush();
        last_sent_at_ = now;
    }
}

// ------------------------------------------------------------------------- flow

bool Connection::wants_input() const {
    if (state_ == State::closed || state_ == State::moving) return false;
    return output_has_room();
}

void Connection::request_flush(Session& session) {
    sessions_to_flush_.push_back(&session);
    host_.request_flush();
}

void Connection::before_flush() {
    send_waiting();
    flush_sessions();
    erase_closed();
    last_sent_at_ = now_;
}

void Connection::flush_sessions() {
    // May grow during the loop: the output of a session may make room for more.
    for (std::size_t i = 0; i < sessions_to_flush_.size(); ++i) {
        sessions_to_flush_[i]->before_flush();
    }
    sessions_to_flush_.clear();
}

void Connection::send(engine::Command&& command) {
    if (port_ == nullptr) return;
    waiting_commands_.push_back(std::move(command));
    if (effects_in_progress_ > 0) return host_.request_flush();
    send_waiting();
}

void Connection::send_waiting() {
    // Effects may cause more commands, which are appended.
    for (std::size_t i = 0; i < waiting_commands_.size() && port_ != nullptr; ++i) {
        engine::Command command = std::move(waiting_commands_[i]);
        port_->send(std::move(command));
    }
    waiting_commands_.clear();
}

void Connection::publish(engine::Publish&& command) {
    if (!waiting_commands_.empty()) return send(std::move(command));
    if (port_ != nullptr) port_->publish(std::move(command));
}

void Connection::settle(const engine::Settle& command) {
    if (!waiting_commands_.empty()) return send(engine::Settle(command));
    if (port_ != nullptr) port_->settle(command);
}

void Connection::output_drained() {
    if (!deliveries_may_resume()) return;
    if (!is_attached()) return;
    for (const auto& session : sessions_) {
        if (session) session->pause_links_if_backlogged();
    }
    deliveries_resumed();
    send(engine::ResumeConnection{id_});
}

void Connection::set_alarm(std::string_view reason) {
    const bool was_blocked = is_blocked();
    alarm_ = std::string(reason);
    if (state_ != State::running || was_blocked == is_blocked()) return;
    for (auto& session : sessions_) {
        if (session) session->set_blocked(is_blocked());
    }
}

void Connection::keep_until_closed(std::unique_ptr<Link> link) {
    closing_links_.push_back(std::move(link));
}

void Connection::erase_closed_sessions() {
    for (const std::uint16_t channel : std::exchange(gone_sessions_, {})) {
        const Session* const session = find_session(channel);
        if (session == nullptr || !session->is_gone()) continue;
        std::erase(sessions_to_flush_, session);
        sessions_[channel].reset();
        host_.on_channel_closed();
    }
}

void Connection::forget_closed_links() {
    for (Link* const link : std::exchange(closed_links_, {})) {
        std::erase_if(closing_links_, [&](const auto& owned) { return owned.get() == link; });
    }
}

// ------------------------------------------------------------------------- listings

std::string_view Connection::shown_state() const {
    switch (state_) {
        case State::greeting:
        case State::authenticating:
        case State::authenticated:
            return "starting";
        case State::opening:
        case State::moving:
            return "opening";
        case State::running:
            return "running";
        case State::leaving:
        case State::failing:
        case State::closing:
            return "closing";
        case State::dropping:
        case State::closed:
            break;
    }
    return "closed";
}

protocol::ConnectionInfo Connection::info() const {
    protocol::ConnectionInfo info;
    info.id = id_;
    info.protocol = engine::ClientProtocol::amqp10;
    info.user = user_;
    info.vhost = vhost_;
    info.state = std::string(shown_state());
    info.mechanism = mechanism_;
    info.client_properties = client_properties_;
    info.frame_max = frame_max_;
    info.channel_max = channel_max_;
    info.heartbeat_seconds = static_cast<std::uint16_t>(client_idle_ms_ / 1000);
    info.container_id = container_id_;
    for (const auto& session : sessions_) {
        if (!session) continue;
        info.session_count += 1;
        for (const ChannelId link : session->link_channels()) {
            info.channels.push_back({link, session->channel(), false});
        }
    }
    return info;
}

std::vector<protocol::SessionInfo> Connection::sessions() const {
    std::vector<protocol::SessionInfo> all;
    for (const auto& session : sessions_) {
        if (session) all.push_back(session->info());
    }
    return all;
}

}  // namespace revenant::amqp10
