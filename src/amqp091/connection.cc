#include "amqp091/connection.h"

#include "amqp091/channel.h"
#include "amqp091/codec/quoted_octets.h"
#include "amqp091/codec/table.h"
#include "base/check.h"
#include "protocol/login.h"

#include <algorithm>
#include <array>
#include <utility>

namespace revenant::amqp091 {

using protocol::log_in_anonymously;
using protocol::log_in_by_certificate;
using protocol::log_in_with_password;
using protocol::offered_mechanisms;
using protocol::VhostOnOtherReactor;
using protocol::VhostOpened;
using protocol::VhostRefused;

namespace {

constexpr std::string_view greeting_091{"AMQP\x00\x00\x09\x01", 8};
constexpr std::string_view greeting_09{"AMQP\x01\x01\x00\x09", 8};
constexpr std::string_view greeting_10_sasl{"AMQP\x03\x01\x00\x00", 8};

constexpr std::uint16_t negotiated_channel_max_min = 1;
constexpr Duration silence_before_drop = seconds(3);
constexpr Duration close_timeout_max = seconds(30);

std::string_view state_name(Connection::State state) {
    switch (state) {
        case Connection::State::greeting:
            return "greeting";
        case Connection::State::starting:
            return "starting";
        case Connection::State::tuning:
            return "tuning";
        case Connection::State::opening:
        case Connection::State::moving:
            return "opening";
        case Connection::State::running:
            return "running";
        case Connection::State::leaving:
        case Connection::State::failing:
        case Connection::State::closing:
        case Connection::State::awaiting_eof:
            return "closing";
        case Connection::State::dropping:
        case Connection::State::closed:
            return "closed";
    }
    UNREACHABLE();
}

}  // namespace

Connection::Connection(const ConnectionSettings& settings, Host& host, Timestamp now)
    : protocol::Connection(settings, host, now), frame_max_(settings.initial_frame_max) {}

Connection::~Connection() {
    for (auto& [number, channel] : channels_) host_.release_channel(channel->id());
}

// ------------------------------------------------------------------------- bytes in

std::size_t Connection::receive(std::string_view bytes, Timestamp now) {
    now_ = now;
    last_received_at_ = now;
    begin_receiving();
    std::size_t used = 0;
    if (state_ == State::greeting) {
        used = receive_greeting(bytes);
        if (used == 0) return 0;
    }
    while (state_ != State::closed && state_ != State::moving) {
        // Nothing counts behind a close of the client or a frame that could not be read.
        if (state_ == State::dropping || state_ == State::leaving ||
            state_ == State::awaiting_eof || stream_broken_) {
            return bytes.size();
        }
        const FrameResult cut = read_frame(bytes.substr(used), frame_max_);
        if (cut.outcome == FrameResult::Outcome::incomplete) return used;
        if (cut.outcome != FrameResult::Outcome::frame) {
            on_bad_frame(cut);
            return bytes.size();
        }
        used += cut.size;
        on_frame(cut.frame);
        if (!may_go_on()) return used;
    }
    return state_ == State::closed ? bytes.size() : used;
}

// amqp091 2.1 to 2.3
std::size_t Connection::receive_greeting(std::string_view bytes) {
    if (bytes.size() < greeting_091.size()) return 0;
    const std::string_view greeting = bytes.substr(0, greeting_091.size());
    if (greeting == greeting_091 || greeting == greeting_09) {
        state_ = State::starting;
        send_start();
        return greeting.size();
    }
    const bool newer_0_x = greeting.starts_with(std::string_view{"AMQP\0\0", 6}) &&
                           static_cast<unsigned char>(greeting[6]) >= 9;
    write_raw(newer_0_x ? greeting_091 : greeting_10_sasl);
    state_ = State::closed;
    return bytes.size();
}

void Connection::on_bad_frame(const FrameResult& cut) {
    // The stream cannot be trusted any more: say why, then drop the socket (amqp091 12.1).
    stream_broken_ = true;
    if (state_ == State::closing) return drop_later();
    ProtocolError error;
    error.code = ReplyCode::frame_error;
    const std::string intro = "type " + std::to_string(static_cast<unsigned>(cut.frame.type)) +
                              ", all octets = " + quoted_octets(cut.frame.payload) + ": ";
    switch (cut.outcome) {
        case FrameResult::Outcome::too_large:
            error.text = intro + "{frame_too_large," + std::to_string(cut.payload_size) + "," +
                         std::to_string(frame_max_) + "}";
            break;
        case FrameResult::Outcome::bad_end:
            error.text = intro + "{invalid_frame_end_marker," + std::to_string(cut.end_octet) + "}";
            break;
        default:
            error.text = intro + "unknown_frame";
            break;
    }
    fail(std::move(error));
}

void Connection::on_frame(const Frame& frame) {
    if (frame.type == FrameType::heartbeat) {
        if (frame.channel != 0) {
            fail({ReplyCode::unexpected_frame, "type 8, all octets = <<>>", 0, 0});
        }
        return;
    }
    if (frame.channel == 0) {
        if (frame.type != FrameType::method) {
            fail({ReplyCode::unexpected_frame,
                  "type " + std::to_string(static_cast<unsigned>(frame.type)) +
                      ", all octets = " + quoted_octets(frame.payload),
                  0, 0});
            return;
        }
        on_connection_method(split_method(frame));
        return;
    }
    on_channel_frame(frame);
}

void Connection::on_connection_method(const MethodPayload& method) {
    const std::uint32_t key = method.key();
    if (state_ == State::closing || state_ == State::failing) {
        // amqp091 4.5: nothing counts any more but the end.
        if (key == ConnectionClose::key && state_ == State::failing) client_closed_ = true;
        if (key == ConnectionClose::key && state_ == State::closing) write(0, ConnectionCloseOk{});
        if (key == ConnectionCloseOk::key && state_ == State::closing) state_ = State::closed;
        return;
    }
    if (key == ConnectionClose::key && state_ != State::starting) {
        on_close(method);
        return;
    }
    switch (state_) {
        case State::starting:
            if (key == ConnectionStartOk::key) return on_start_ok(method);
            break;
        case State::tuning:
            if (key == ConnectionTuneOk::key) return on_tune_ok(method);
            break;
        case State::opening:
            if (key == ConnectionOpen::key) return on_open(method);
            break;
        case State::running:
            if (key == ConnectionUpdateSecret::key) return on_update_secret(method);
            break;
        default:
            break;
    }
    unexpected_method(method);
}

// amqp091 2.18
void Connection::unexpected_method(const MethodPayload& method) {
    if (state_ == State::starting) return drop_later();
    if (method_name(method.class_id, method.method_id).empty()) {
        return fail({ReplyCode::command_invalid, "unimplemented method", method.class_id,
                     method.method_id});
    }
    fail({ReplyCode::channel_error,
          "unexpected method in connection state " + std::string(state_name(state_)),
          method.class_id, method.method_id});
}

void Connection::on_channel_frame(const Frame& frame) {
    if (state_ == State::leaving || state_ == State::failing || state_ == State::closing) return;
    if (state_ != State::running) return drop_later();
    if (last_channel_ == nullptr || last_channel_->number() != frame.channel) {
        const auto found = channels_.find(frame.channel);
        last_channel_ = found == channels_.end() ? nullptr : found->second.get();
    }
    if (last_channel_ != nullptr && last_channel_->gone()) forget_channel(frame.channel);
    if (last_channel_ != nullptr) {
        last_channel_->receive(frame);
        return;
    }
    // amqp091 5.1
    const bool opens =
        frame.type == FrameType::method && split_method(frame).key() == ChannelOpen::key;
    if (!opens) {
        // A close-ok that crosses our own is harmless.
        const bool late =
            frame.type == FrameType::method && split_method(frame).key() == ChannelCloseOk::key;
        if (late) return;
        const MethodPayload method =
            frame.type == FrameType::method ? split_method(frame) : MethodPayload{};
        return fail({ReplyCode::channel_error, "expected 'channel.open'", method.class_id,
                     method.method_id});
    }
    forget_gone_channels();
    if (channels_.size() >= channel_max_) {
        return fail({ReplyCode::not_allowed,
                     "number of channels opened (" + std::to_string(channels_.size()) +
                         ") has reached the negotiated channel_max (" +
                         std::to_string(channel_max_) + ")",
                     ChannelOpen::class_id, ChannelOpen::method_id});
    }
    if (auto refusal = host_.admit_channel()) {
        return fail({ReplyCode::not_allowed, std::move(*refusal), ChannelOpen::class_id,
                     ChannelOpen::method_id});
    }
    auto channel = std::make_unique<Channel>(*this, frame.channel);
    Channel& opened = *channel;
    channels_.emplace(frame.channel, std::move(channel));
    opened.open();
}

// ------------------------------------------------------------------------- handshake

void Connection::send_start() {
    Table capabilities;
    for (const char* name :
         {"publisher_confirms", "exchange_exchange_bindings", "basic.nack",
          "consumer_cancel_notify", "connection.blocked", "consumer_priorities",
          "authentication_failure_close", "per_consumer_qos", "direct_reply_to"}) {
        capabilities.push_back({name, Value::boolean(true)});
    }
    Table properties;
    properties.push_back({"capabilities", Value::table(std::move(capabilities))});
    properties.push_back({"cluster_name", Value::string(settings_.cluster_name)});
    properties.push_back({"copyright", Value::string("The Revenant authors")});
    properties.push_back(
        {"information", Value::string("Compatible with RabbitMQ " + settings_.version)});
    properties.push_back({"platform", Value::string(settings_.platform)});
    properties.push_back({"product", Value::string(settings_.product)});
    properties.push_back({"version", Value::string(settings_.version)});
    properties.push_back({"product_name", Value::string(settings_.product_name)});
    properties.push_back({"product_version", Value::string(settings_.product_version)});
    std::string encoded;
    encode_table(properties, encoded);
    const std::string mechanisms = mechanism_list(offered_mechanisms(settings_, host_));
    ConnectionStart start;
    start.version_major = 0;
    start.version_minor = 9;
    start.server_properties = encoded;
    start.mechanisms = mechanisms;
    start.locales = "en_US";
    write(0, start);
}

void Connection::on_start_ok(const MethodPayload& method) {
    const auto start_ok = ConnectionStartOk::decode(method.arguments);
    if (!start_ok) return drop_later();
    auto properties = decode_table(start_ok->client_properties);
    if (!properties) return drop_later();
    client_properties_ = std::move(properties).value();
    const auto offered = offered_mechanisms(settings_, host_);
    const auto mechanism = choose_mechanism(start_ok->mechanism, offered);
    if (!mechanism) return refuse_login(mechanism.error(), start_ok->mechanism);
    mechanism_ = std::string(mechanism_name(*mechanism));
    const auto user = log_in_with(*mechanism, start_ok->response);
    host_.count_login(engine::ClientProtocol::amqp091, user.has_value());
    if (!user) return refuse_login(user.error(), mechanism_);
    const auto place = check_location(*user, host_.peer_location(), settings_.loopback_users);
    if (!place) return refuse_login(place.error(), mechanism_);
    user_ = *user;
    state_ = State::tuning;
    ConnectionTune tune;
    tune.channel_max = settings_.channel_max;
    tune.frame_max = settings_.frame_max;
    tune.heartbeat = settings_.heartbeat_seconds;
    write(0, tune);
}

Result<std::string, LoginRefusal> Connection::log_in_with(Mechanism mechanism,
                                                          std::string_view response) {
    switch (mechanism) {
        case Mechanism::plain:
            return log_in_with_password(host_, parse_plain(response));
        case Mechanism::amqplain: {
            const auto table = decode_table(response);
            if (!table) return Unexpected{LoginRefusal::malformed_response};
            return log_in_with_password(host_, parse_amqplain(*table));
        }
        case Mechanism::anonymous:
            return log_in_anonymously(host_, settings_);
        case Mechanism::external:
            break;
    }
    return log_in_by_certificate(host_);
}

// amqp091 3.1 to 3.4
void Connection::refuse_login(LoginRefusal refusal, std::string_view mechanism) {
    if (refusal == LoginRefusal::too_many_failures) return refuse_login_unlogged(mechanism);
    const bool told =
        refusal == LoginRefusal::bad_credentials || refusal == LoginRefusal::loopback_only;
    host_.log_line(refusal == LoginRefusal::loopback_only
                       ? "login refused: user can only connect via localhost"
                       : "login refused");
    if (!told || !client_supports("authentication_failure_close")) return drop_later();
    fail({ReplyCode::access_refused, login_refused_text(mechanism), 0, 0});
}

// The client is told the same as after a wrong password. The log has been told of the address once;
// a line for each attempt would let strangers fill the disk.
void Connection::refuse_login_unlogged(std::string_view mechanism) {
    if (!client_supports("authentication_failure_close")) return drop_later();
    send_close({ReplyCode::access_refused, login_refused_text(mechanism), 0, 0});
}

namespace {

// amqp091 2.15
std::string negotiation_fault(std::string_view name, std::uint64_t value, std::uint64_t minimum,
                              std::uint64_t maximum) {
    const std::string shown = "negotiated " + std::string(name) + " = " + std::to_string(value) +
                              (value == 0 ? " (no limit)" : "");
    if (value != 0 && value < minimum) {
        return shown + " is lower than the minimum allowed value (" + std::to_string(minimum) + ")";
    }
    if (maximum != 0 && (value == 0 || value > maximum)) {
        return shown + " is higher than the maximum allowed value (" + std::to_string(maximum) +
               ")";
    }
    return {};
}

}  // namespace

void Connection::on_tune_ok(const MethodPayload& method) {
    const auto tune_ok = ConnectionTuneOk::decode(method.arguments);
    if (!tune_ok) {
        return fail({ReplyCode::frame_error, "cannot decode " + quoted_octets(method.arguments),
                     method.class_id, method.method_id});
    }
    std::string fault = negotiation_fault("frame_max", tune_ok->frame_max, settings_.frame_max_min,
                                          settings_.frame_max);
    if (fault.empty()) {
        fault = negotiation_fault("channel_max", tune_ok->channel_max, negotiated_channel_max_min,
                                  settings_.channel_max);
    }
    if (!fault.empty()) {
        return fail(
            {ReplyCode::not_allowed, fault, ConnectionTune::class_id, ConnectionTune::method_id});
    }
    frame_max_ = tune_ok->frame_max;
    channel_max_ = tune_ok->channel_max == 0 ? std::uint16_t{65535} : tune_ok->channel_max;
    heartbeat_seconds_ = tune_ok->heartbeat;
    state_ = State::opening;
}

void Connection::on_open(const MethodPayload& method) {
    const auto open = ConnectionOpen::decode(method.arguments);
    if (!open) {
        return fail({ReplyCode::frame_error, "cannot decode " + quoted_octets(method.arguments),
                     method.class_id, method.method_id});
    }
    vhost_ = std::string(open->virtual_host);
    const auto refuse = [&](std::string text) {
        fail({ReplyCode::not_allowed, std::move(text), ConnectionOpen::class_id,
              ConnectionOpen::method_id});
    };
    const AccessTable& table = access();
    if (table.find_vhost(vhost_) == nullptr) return refuse("vhost " + vhost_ + " not found");
    if (!table.can_access_vhost(user_, vhost_)) {
        return refuse("access to vhost '" + vhost_ + "' refused for user '" + user_ + "'");
    }
    vhost_opened(host_.open_vhost(vhost_, user_));
}

// The internal user store has no secrets that expire (amqp091 13.2).
void Connection::on_update_secret(const MethodPayload& method) {
    if (ConnectionUpdateSecret::decode(method.arguments)) {
        write(0, ConnectionUpdateSecretOk{});
        return;
    }
    fail({ReplyCode::frame_error, "cannot decode " + quoted_octets(method.arguments),
          method.class_id, method.method_id});
}

void Connection::vhost_opened(const VhostAnswer& answer) {
    if (std::holds_alternative<VhostOnOtherReactor>(answer)) {
        state_ = State::moving;
        return;
    }
    if (const auto* refused = std::get_if<VhostRefused>(&answer)) {
        fail({ReplyCode::not_allowed, refused->text, ConnectionOpen::class_id,
              ConnectionOpen::method_id});
        return;
    }
    const auto& opened = std::get<VhostOpened>(answer);
    port_ = opened.port;
    id_ = opened.connection;
    state_ = State::running;
    state_deadline_ = never;
    port_->send(engine::OpenConnection{id_, user_, engine::ClientProtocol::amqp091});
    write(0, ConnectionOpenOk{});
}

// ------------------------------------------------------------------------- the end

void Connection::on_close(const MethodPayload&) {
    if (state_ != State::running) return await_eof();
    state_ = State::leaving;
    detach();
}

// Some clients take a socket that ends right behind close-ok for a broken one: they close it
// themselves, as they do with RabbitMQ, and we only see to it that they do.
void Connection::await_eof() {
    write(0, ConnectionCloseOk{});
    state_ = State::awaiting_eof;
    state_deadline_ = now_ + close_timeout();
}

Duration Connection::close_timeout() const {
    if (stream_broken_) return silence_before_drop;
    const Duration heartbeat = seconds(heartbeat_seconds_);
    return heartbeat_seconds_ > 0 ? std::min(heartbeat, close_timeout_max) : close_timeout_max;
}

// Everything the engine holds for this connection goes: channels, consumers, exclusive queues. The
// engine answers with ConnectionClosed.
void Connection::detach() {
    CHECK(port_ != nullptr);
    port_->send(engine::CloseConnection{id_});
}

void Connection::fail(ProtocolError error) {
    if (state_ == State::failing || state_ == State::closing || state_ == State::closed ||
        state_ == State::dropping || state_ == State::leaving || state_ == State::awaiting_eof) {
        return;
    }
    host_.log_line("closing connection: " + reply_text(error.code, error.text));
    if (state_ == State::running) {
        before_flush();
        state_ = State::failing;
        failure_ = std::make_unique<ProtocolError>(std::move(error));
        detach();
        return;
    }
    send_close(error);
}

void Connection::send_close(const ProtocolError& error) {
    ConnectionClose close;
    const std::string text = reply_text(error.code, error.text);
    close.reply_code = static_cast<std::uint16_t>(error.code);
    close.reply_text = text;
    close.failing_class_id = error.class_id;
    close.failing_method_id = error.method_id;
    write(0, close);
    if (client_closed_) write(0, ConnectionCloseOk{});
    blocked_ = false;  // or its close-ok would never be read
    state_ = State::closing;
    state_deadline_ = now_ + close_timeout();
}

void Connection::request(engine::Effect&& effect) {
    if (!std::holds_alternative<engine::ConnectionClosed>(effect)) return;
    port_ = nullptr;
    for (auto& [number, channel] : channels_) host_.release_channel(channel->id());
    if (state_ != State::closed) {
        for (Channel* const channel : confirming_channels_) channel->write_confirms();
    }
    confirming_channels_.clear();
    last_channel_ = nullptr;
    // A channel may be on the stack while its connection fails; its methods look at nothing then.
    for (auto& [number, channel] : channels_) channel->orphaned();
    if (state_ == State::leaving) {
        await_eof();
    } else if (state_ == State::failing) {
        send_close(*failure_);
    }
}

void Connection::close_forced(std::string_view reason, Timestamp now) {
    now_ = now;
    if (state_ == State::greeting || state_ == State::starting) {
        state_ = State::closed;
        return;
    }
    fail({ReplyCode::connection_forced, std::string(reason), 0, 0});
}

void Connection::on_connection_lost() {
    const bool attached = port_ != nullptr && (state_ == State::running);
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
    if (state_ != State::running || heartbeat_seconds_ == 0) return;
    const Duration interval = seconds(heartbeat_seconds_);
    // A blocked connection is not read from, so its silence is ours (amqp091 13.1).
    if (!blocked_ && now >= last_received_at_ + Duration{interval.us * 2}) {
        host_.log_line("missed heartbeats from client");
        on_connection_lost();
        return;
    }
    if (now >= last_sent_at_ + Duration{interval.us / 2} && output_.empty()) {
        append_heartbeat(output_.buffer());
        host_.request_flush();
        last_sent_at_ = now;
    }
}

// ------------------------------------------------------------------------- flow

bool Connection::wants_input() const {
    if (state_ == State::closed || state_ == State::moving) return false;
    if (blocked_) return false;
    return output_has_room();
}

void Connection::before_flush() {
    for (std::size_t i = 0; i < confirming_channels_.size(); ++i)
        confirming_channels_[i]->write_confirms();
    confirming_channels_.clear();
    forget_gone_channels();
    last_sent_at_ = now_;
}

void Connection::schedule_confirms(Channel& channel) {
    confirming_channels_.push_back(&channel);
    host_.request_flush();
}

void Connection::output_drained() {
    if (!deliveries_may_resume()) return;
    deliveries_resumed();
    if (state_ == State::running) port_->send(engine::ResumeConnection{id_});
}

void Connection::note_publish() {
    if (has_published_ && alarm_.empty()) return;
    has_published_ = true;
    apply_alarm();
}

void Connection::set_alarm(std::string_view reason) {
    alarm_ = std::string(reason);
    apply_alarm();
}

// amqp091 13.1
void Connection::apply_alarm() {
    const bool block = has_published_ && !alarm_.empty();
    if (state_ != State::running || block == blocked_) return;
    blocked_ = block;
    last_received_at_ = now_;
    if (!client_supports("connection.blocked")) return;
    if (block) {
        ConnectionBlocked blocked;
        blocked.reason = alarm_;
        write(0, blocked);
    } else {
        write(0, ConnectionUnblocked{});
    }
}

// ------------------------------------------------------------------------- listings

namespace {

std::string_view shown_state(Connection::State state, bool blocked) {
    using State = Connection::State;
    switch (state) {
        case State::greeting:
        case State::starting:
            return "starting";
        case State::tuning:
            return "tuning";
        case State::opening:
        case State::moving:
            return "opening";
        case State::running:
            return blocked ? "blocked" : "running";
        case State::leaving:
        case State::failing:
        case State::closing:
        case State::awaiting_eof:
            return "closing";
        case State::dropping:
        case State::closed:
            break;
    }
    return "closed";
}

}  // namespace

protocol::ConnectionInfo Connection::info() const {
    protocol::ConnectionInfo info;
    info.id = id_;
    info.protocol = engine::ClientProtocol::amqp091;
    info.user = user_;
    info.vhost = vhost_;
    info.state = std::string(shown_state(state_, blocked_));
    info.mechanism = mechanism_;
    info.client_properties = client_properties_;
    for (const auto& [number, channel] : channels_) {
        info.channels.push_back({channel->id(), number, channel->confirming()});
    }
    std::sort(info.channels.begin(), info.channels.end(),
              [](const auto& a, const auto& b) { return a.number < b.number; });
    info.frame_max = frame_max_;
    info.channel_max = channel_max_;
    info.heartbeat_seconds = heartbeat_seconds_;
    return info;
}

const AccessTable& Connection::access() { return *host_.access(); }

ExpirationForm Connection::expiration_form() {
    const AccessTable& table = access();
    if (expiration_form_version_ == table.version()) return expiration_form_;
    expiration_form_version_ = table.version();
    const Vhost* const vhost = table.find_vhost(vhost_);
    const bool named = vhost != nullptr && !vhost->compat.empty();
    expiration_form_ = expiration_form_of(named ? vhost->compat : settings().compat);
    return expiration_form_;
}

bool Connection::client_supports(std::string_view capability) const {
    const Value* const capabilities = find(client_properties_, "capabilities");
    if (capabilities == nullptr || capabilities->as_table() == nullptr) return false;
    const Value* const flag = find(*capabilities->as_table(), capability);
    return flag != nullptr && flag->as_boolean() != nullptr && *flag->as_boolean();
}

void Connection::forget_channel(std::uint16_t number) {
    const auto found = channels_.find(number);
    CHECK(found != channels_.end());
    host_.release_channel(found->second->id());
    std::erase(confirming_channels_, found->second.get());
    if (last_channel_ == found->second.get()) last_channel_ = nullptr;
    channels_.erase(found);
    host_.on_channel_closed();
}

void Connection::forget_gone_channels() {
    for (const std::uint16_t number : std::exchange(gone_channels_, {})) {
        const auto found = channels_.find(number);
        if (found != channels_.end() && found->second->gone()) forget_channel(number);
    }
}

}  // namespace revenant::amqp091
