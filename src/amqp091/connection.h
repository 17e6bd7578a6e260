// Connection: one AMQP 0-9-1 connection without its socket. Bytes and time in, commands and bytes
// out. START READING HERE.
//
//   greeting ─ start ─▶ starting ─ start-ok, tune ─▶ tuning ─ tune-ok ─▶ opening ─ open ─▶ running
//
//   running ─ close from the client ─▶ leaving ─ engine has let go, close-ok ─▶ parting ─▶ closed
//   any     ─ error ─▶ (engine lets go) ─ close ─▶ closing ─ close-ok or time ─▶ closed
#pragma once

#include "amqp091/codec/errors.h"
#include "amqp091/codec/frame.h"
#include "amqp091/message/properties.h"
#include "base/time.h"
#include "message/value.h"
#include "protocol/connection.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::amqp091 {

class Channel;

using protocol::ConnectionSettings;
using protocol::EngineProxy;
using protocol::Host;
using protocol::Output;
using protocol::VhostAnswer;

class Connection final : public protocol::Connection {
  public:
    Connection(const ConnectionSettings& settings, Host& host, Timestamp now);
    ~Connection() override;
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    std::size_t receive(std::string_view bytes, Timestamp now) override;
    void tick(Timestamp now) override;
    void on_connection_lost() override;
    void close_forced(std::string_view reason, Timestamp now) override;  // amqp091 4.7
    void vhost_opened(const VhostAnswer& answer) override;
    void set_alarm(std::string_view reason) override;
    void before_flush() override;
    void output_drained() override;
    bool wants_input() const override;
    bool finished() const override { return state_ == State::closed; }
    protocol::ConnectionInfo info() const override;

    // --- effects addressed to the connection as a whole ---
    bool deliver(engine::Deliver&&) override { return true; }
    void confirm(const engine::Confirm&) override {}
    void request(engine::Effect&& effect) override;

    // --- for its channels ---
    EngineProxy& port() { return *port_; }
    const std::string& user() const { return user_; }
    const std::string& vhost() const { return vhost_; }
    std::uint32_t frame_max() const { return frame_max_; }
    const AccessTable& access();
    // By the version of RabbitMQ that the virtual host follows.
    ExpirationForm expiration_form();
    bool client_supports(std::string_view capability) const;
    template <typename Method>
    void write(std::uint16_t channel, const Method& method) {
        append_method(output_.buffer(), channel, method);
        host_.request_flush();
    }
    void write_raw(std::string_view frames) {
        output_.buffer().append(frames);
        host_.request_flush();
    }
    void fail(ProtocolError error);
    void schedule_confirms(Channel& channel);
    // The channel ended; it is forgotten as soon as none of its methods can be on the stack.
    void channel_gone(std::uint16_t number) { gone_channels_.push_back(number); }
    void note_publish();

    enum class State : std::uint8_t {
        greeting,
        starting,
        tuning,
        opening,
        moving,  // on its way to the vhost's reactor
        running,
        leaving,       // the client closed; the engine is letting go
        failing,       // an error closes; the engine is letting go
        closing,       // connection.close is sent; close-ok is awaited
        awaiting_eof,  // close-ok is sent; it is the client's turn to close the socket
        dropping,      // nothing is sent and nothing read; the socket closes soon (amqp091 3.2)
        closed,
    };
    State state() const { return state_; }
    ConnectionId id() const { return id_; }

  private:
    std::size_t receive_greeting(std::string_view bytes);
    void on_frame(const Frame& frame);
    void on_connection_method(const MethodPayload& method);
    void on_channel_frame(const Frame& frame);
    void on_bad_frame(const FrameResult& cut);
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
    void refuse_login(LoginRefusal refusal, std::string_view mechanism);
    void refuse_login_unlogged(std::string_view mechanism);
    void detach();
    void await_eof();
    Duration close_timeout() const;
    void send_close(const ProtocolError& error);
    void drop_later();
    void forget_channel(std::uint16_t number);
    void forget_gone_channels();

    EngineProxy* port_ = nullptr;
    ConnectionId id_;
    State state_ = State::greeting;
    std::uint32_t frame_max_;
    std::uint16_t channel_max_ = 0;
    std::uint16_t heartbeat_seconds_ = 0;
    std::string user_;
    std::string vhost_;
    std::string mechanism_;
    ExpirationForm expiration_form_ = ExpirationForm::number;
    std::uint64_t expiration_form_version_ = UINT64_MAX;  // of the access table it was read from
    Table client_properties_;
    boost::unordered_flat_map<std::uint16_t, std::unique_ptr<Channel>> channels_;
    Channel* last_channel_ = nullptr;
    std::vector<Channel*> confirming_channels_;
    std::vector<std::uint16_t> gone_channels_;
    std::unique_ptr<ProtocolError> failure_;  // told once the engine has let go
    bool client_closed_ = false;              // its close crossed ours
    bool stream_broken_ = false;              // what comes behind a bad frame means nothing
    std::string alarm_;
    bool has_published_ = false;
    bool blocked_ = false;
};

}  // namespace revenant::amqp091
