// Connection: one AMQP 0-9-1 connection without its socket. Bytes and time in, commands and bytes
// out. START READING HERE.
//
//   greeting ─ start ─▶ starting ─ start-ok, tune ─▶ tuning ─ tune-ok ─▶ opening ─ open ─▶ running
//
//   running ─ close from the client ─▶ leaving ─ engine has let go, close-ok ─▶ parting ─▶ closed
//   any     ─ error ─▶ (engine lets go) ─ close ─▶ closing ─ close-ok or time ─▶ closed
#pragma once

#include "amqp091/errors.h"
#include "amqp091/frame.h"
#include "amqp091/host.h"
#include "amqp091/output.h"
#include "base/time.h"
#include "message/value.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::amqp091 {

class Channel;

class Connection final : public engine::EffectSink {
  public:
    Connection(const ConnectionSettings& settings, Host& host, Timestamp now);
    ~Connection() override;
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // Works on every whole frame in the bytes; returns how many bytes were used. The rest must be
    // given again, in front of what arrives later.
    std::size_t receive(std::string_view bytes, Timestamp now);
    // Bytes that arrived but cannot be used yet still show that the peer lives.
    void note_arrival(Timestamp now) { last_arrival_ = now; }
    // Heartbeats and time-outs. To be called a few times per second.
    void tick(Timestamp now);
    // The peer is gone; nothing can be said any more.
    void lost();
    // An operator or the node ends the connection (amqp091 4.7).
    void close_forced(std::string_view reason, Timestamp now);

    // The home of the vhost was reached after VhostElsewhere.
    void vhost_opened(const VhostAnswer& answer);
    // Resources are short (a reason) or no longer (empty): publishing connections are blocked.
    void set_alarm(std::string_view reason);

    // Puts what was gathered during the turn — confirms — into the output.
    void before_flush();
    Output& output() { return output_; }
    // Did so much of the output leave that consumers may be served again?
    void output_drained();

    bool wants_input() const;
    // The socket is to be closed once the output is sent; or at once.
    bool finished() const { return state_ == State::closed; }

    // --- effects addressed to the connection as a whole ---
    bool deliver(engine::Deliver&&) override { return true; }
    void confirm(const engine::Confirm&) override {}
    void request(engine::Effect&& effect) override;

    // --- for its channels ---
    const ConnectionSettings& settings() const { return settings_; }
    Host& host() { return host_; }
    Port& port() { return *port_; }
    const std::string& user() const { return user_; }
    const std::string& vhost() const { return vhost_; }
    std::uint32_t frame_max() const { return frame_max_; }
    const AccessTable& access();
    bool client_can(std::string_view capability) const;
    template <typename Method>
    void write(std::uint16_t channel, const Method& method) {
        append_method(output_.buffer(), channel, method);
        host_.wants_flush();
    }
    void write_raw(std::string_view frames) {
        output_.buffer().append(frames);
        host_.wants_flush();
    }
    void fail(ProtocolError error);
    void confirms_waiting(Channel& channel);
    // The channel ended; it is forgotten as soon as none of its methods can be on the stack.
    void channel_gone(std::uint16_t number) { gone_channels_.push_back(number); }
    void note_publish();
    // False when the socket cannot keep up with deliveries.
    bool note_delivery();
    // Deliveries stopped on their way here; more come when they are asked for.
    void deliveries_paused() {
        deliveries_paused_ = true;
        host_.wants_flush();
    }

    // --- views, for listings ---
    enum class State : std::uint8_t {
        greeting,
        starting,
        tuning,
        opening,
        moving,  // on its way to the vhost's reactor
        running,
        leaving,   // the client closed; the engine is letting go
        failing,   // an error closes; the engine is letting go
        closing,   // connection.close is sent; close-ok is awaited
        parting,   // close-ok is sent; it is the client's turn to close the socket
        dropping,  // nothing is sent and nothing read; the socket closes soon (amqp091 3.2)
        closed,
    };
    State state() const { return state_; }
    ConnectionId id() const { return id_; }
    std::size_t channel_count() const { return channels_.size(); }
    template <typename Visit>
    void for_each_channel(Visit visit) const {
        for (const auto& [number, channel] : channels_) visit(*channel);
    }
    const Table& client_properties() const { return client_properties_; }
    bool blocked() const { return blocked_; }
    std::string_view mechanism() const { return mechanism_; }
    std::uint16_t heartbeat_seconds() const { return heartbeat_seconds_; }
    std::uint16_t channel_max() const { return channel_max_; }
    std::size_t unsent_bytes() const { return output_.unsent_bytes(); }

  private:
    std::size_t receive_greeting(std::string_view bytes);
    void on_frame(const Frame& frame);
    void on_connection_method(const MethodPayload& method);
    void on_channel_frame(const Frame& frame);
    void on_bad_frame(const FrameCut& cut);
    void on_start_ok(const MethodPayload& method);
    void on_tune_ok(const MethodPayload& method);
    void on_open(const MethodPayload& method);
    void on_close(const MethodPayload& method);
    void on_update_secret(const MethodPayload& method);
    void apply_alarm();
    void unexpected_method(const MethodPayload& method);
    void send_start();
    // The user it is.
    Result<std::string, LoginRefusal> log_in_with(Mechanism mechanism, std::string_view response);
    Result<std::string, LoginRefusal> log_in_anonymously();
    void refuse_login(LoginRefusal refusal, std::string_view mechanism);
    void refuse_login_quietly(std::string_view mechanism);
    void detach();
    void part();
    Duration close_timeout() const;
    void send_close(const ProtocolError& error);
    void drop_later();
    void forget_channel(std::uint16_t number);
    void forget_gone_channels();

    const ConnectionSettings& settings_;
    Host& host_;
    Port* port_ = nullptr;
    ConnectionId id_;
    State state_ = State::greeting;
    Timestamp now_;
    Timestamp last_arrival_;
    Timestamp last_departure_;
    Timestamp state_deadline_;  // of a handshake, a close or a drop
    Output output_;
    std::uint32_t frame_max_;
    std::uint16_t channel_max_ = 0;
    std::uint16_t heartbeat_seconds_ = 0;
    std::string user_;
    std::string vhost_;
    std::string mechanism_;
    Table client_properties_;
    boost::unordered_flat_map<std::uint16_t, std::unique_ptr<Channel>> channels_;
    Channel* last_channel_ = nullptr;
    std::vector<Channel*> confirming_channels_;
    std::vector<std::uint16_t> gone_channels_;
    std::unique_ptr<ProtocolError> failure_;  // told once the engine has let go
    bool client_closed_ = false;              // its close crossed ours
    bool stream_broken_ = false;              // what comes behind a bad frame means nothing
    std::string alarm_;
    bool publishes_ = false;
    bool blocked_ = false;
    bool deliveries_paused_ = false;
};

}  // namespace revenant::amqp091
