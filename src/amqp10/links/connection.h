// Connection: one AMQP 1.0 connection without its socket. START READING HERE.
//
//   greeting ─ header, mechanisms ─▶ authenticating ─ outcome ─▶ authenticated ─ header ─▶ opening
//   opening ─ open from the client, the vhost lets it in ─▶ running
//   opening ─ a refused open ─▶ dropping ─ time ─▶ closed
//
//   running ─ close from the client ─▶ leaving ─ engine has let go, close ─▶ closed
//   any     ─ error ─▶ failing ─ engine has let go, close ─▶ closing ─ close or time ─▶ closed
//
// A connection has sessions, a session has links. A link has a channel of the engine of its own, so
// that what is refused ends the link and nothing else.
#pragma once

#include "amqp10/codec/fault.h"
#include "amqp10/codec/frame.h"
#include "amqp10/codec/performatives.gen.h"
#include "base/time.h"
#include "protocol/connection.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::amqp10 {

class Session;
class Link;

// The first eight bytes of a client that speaks AMQP 1.0, behind SASL.
bool is_greeting(std::string_view bytes);

class Connection final : public protocol::Connection {
  public:
    Connection(const protocol::ConnectionSettings& settings, protocol::Host& host, Timestamp now);
    ~Connection() override;
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    std::size_t receive(std::string_view bytes, Timestamp now) override;
    void tick(Timestamp now) override;
    void on_connection_lost() override;
    void expect_close() override { closes_soon_ = true; }
    void close_forced(std::string_view reason, Timestamp now) override;
    void vhost_opened(const protocol::VhostAnswer& answer) override;
    void set_alarm(std::string_view reason) override;
    void before_flush() override;
    void output_drained() override;
    bool wants_input() const override;
    bool finished() const override { return state_ == State::closed; }
    protocol::ConnectionInfo info() const override;
    std::vector<protocol::SessionInfo> sessions() const override;

    // --- effects addressed to the connection as a whole ---
    bool deliver(engine::Deliver&&) override { return true; }
    void confirm(const engine::Confirm&) override {}
    void request(engine::Effect&& effect) override;

    // --- for its sessions and links ---
    // To the engine. While it is telling us something it must not be asked anything: what is sent
    // then waits for the next flush, and whatever comes later waits behind it.
    void send(engine::Command&& command);
    void publish(engine::Publish&& command);
    void settle(const engine::Settle& command);
    // For as long as an effect is worked on.
    class EffectScope {
      public:
        explicit EffectScope(Connection& connection) : connection_(connection) {
            connection_.effects_in_progress_ += 1;
        }
        ~EffectScope() { connection_.effects_in_progress_ -= 1; }
        EffectScope(const EffectScope&) = delete;
        EffectScope& operator=(const EffectScope&) = delete;

      private:
        Connection& connection_;
    };
    // The engine still listens.
    bool is_attached() const { return port_ != nullptr && state_ == State::running; }
    bool closes_soon() const { return closes_soon_; }
    ConnectionId id() const { return id_; }
    const std::string& user() const { return user_; }
    const std::string& vhost() const { return vhost_; }
    const std::string& container_id() const { return container_id_; }
    // The largest frame the client takes.
    std::uint32_t frame_max() const { return frame_max_; }
    bool is_blocked() const { return !alarm_.empty(); }

    template <typename Performative>
    void write(std::uint16_t channel, const Performative& performative) {
        std::string& out = output_.buffer();
        const std::size_t frame = begin_frame(out, FrameType::amqp, channel);
        TypeWriter writer(out);
        performative.encode(writer);
        end_frame(out, frame);
        host_.request_flush();
    }
    void fail(Fault fault);
    // The client has renewed its credentials (amqp10 7.11).
    void check_permissions_again();
    // Has something to say before the output is sent.
    void request_flush(Session& session);
    // The session has ended on both sides.
    void session_gone(std::uint16_t channel) { gone_sessions_.push_back(channel); }
    // Keeps a link that has ended until the engine has let go of it.
    void keep_until_closed(std::unique_ptr<Link> link);
    void link_closed(Link& link) { closed_links_.push_back(&link); }

  private:
    enum class State : std::uint8_t {
        greeting,
        authenticating,
        authenticated,  // the second header is awaited
        opening,
        moving,  // on its way to the vhost's reactor
        running,
        leaving,   // the client closed; the engine is letting go
        failing,   // an error closes; the engine is letting go
        closing,   // our close is sent; the client's is awaited
        dropping,  // nothing is sent and nothing read; the socket closes soon
        closed,
    };

    bool expects_header() const {
        return state_ == State::greeting || state_ == State::authenticated;
    }
    bool ignores_input() const {
        return state_ == State::leaving || state_ == State::dropping || state_ == State::closed;
    }
    void on_header(std::string_view header);
    // How many bytes the frame took; 0 if it is not complete.
    std::size_t receive_frame(std::string_view bytes);
    void on_frame(const Frame& frame);
    void on_performative(std::uint16_t channel, std::uint64_t code, const TypeReader::Items& items,
                         std::string_view payload);
    void on_sasl(std::uint64_t code, const TypeReader::Items& items);
    void log_in(const SaslInit& init);
    void send_mechanisms();
    void send_outcome(std::uint8_t code);
    void on_open(const Open& open);
    std::string refusal_of_open(const Open& open, std::string_view& why) const;
    void send_open();
    void on_begin(std::uint16_t channel, const TypeReader::Items& items);
    void on_close();
    void send_close(const Fault* fault);
    void detach();
    void drop_later();
    void send_waiting();
    void flush_sessions();
    Session* find_session(std::uint16_t channel) {
        return channel < sessions_.size() ? sessions_[channel].get() : nullptr;
    }
    void erase_closed() {
        if (!gone_sessions_.empty()) erase_closed_sessions();
        if (!closed_links_.empty()) forget_closed_links();
    }
    void erase_closed_sessions();
    void forget_closed_links();
    std::string_view shown_state() const;

    protocol::EngineProxy* port_ = nullptr;
    ConnectionId id_;
    State state_ = State::greeting;
    std::string user_;
    std::string vhost_;
    std::string mechanism_;
    std::string container_id_;
    Table client_properties_;
    std::uint32_t frame_max_ = frame_size_min;
    std::uint16_t channel_max_ = 0;
    std::uint32_t client_idle_ms_ = 0;
    std::string alarm_;
    int effects_in_progress_ = 0;
    std::vector<engine::Command> waiting_commands_;
    bool closes_soon_ = false;
    bool stream_broken_ = false;
    bool client_closed_ = false;  // its close crossed ours
    std::unique_ptr<Fault> failure_;
    std::vector<std::unique_ptr<Session>> sessions_;  // by channel; many may be empty
    std::vector<std::uint16_t> gone_sessions_;
    std::vector<Session*> sessions_to_flush_;
    std::vector<std::unique_ptr<Link>> closing_links_;
    std::vector<Link*> closed_links_;
};

}  // namespace revenant::amqp10
