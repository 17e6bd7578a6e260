// Connection: one AMQP 1.0 connection without its socket. START READING HERE.
//
//   greeting ─ header, mechanisms ─▶ authenticating ─ outcome ─▶ authenticated ─ header ─▶ opening
//   opening ─ open from the client, vhost opened ─▶ running
//   opening ─ a refused open ─▶ dropping ─ timeout ─▶ closed
//
//   running ─ close from the client ─▶ leaving ─ engine has closed, close ─▶ closed
//   any     ─ error ─▶ failing ─ engine has closed, close ─▶ closing ─ close or timeout ─▶ closed
//
// A connection has sessions, a session has links. Each link has its own engine channel, so a
// refusal ends only that link.
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

// Whether these are the first eight bytes of an AMQP 1.0 client, after SASL.
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
    // Sends a command to the engine. The engine must not be called while it passes an effect to
    // this connection: commands sent then wait for the next flush, and all later ones with them.
    void send(engine::Command&& command);
    void publish(engine::Publish&& command);
    void settle(const engine::Settle& command);
    // Exists while an effect is processed.
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
    // Whether the engine still accepts commands.
    bool is_attached() const { return port_ != nullptr && state_ == State::running; }
    bool closes_soon() const { return closes_soon_; }
    ConnectionId id() const { return id_; }
    const std::string& user() const { return user_; }
    const std::string& vhost() const { return vhost_; }
    const std::string& container_id() const { return container_id_; }
    // The largest frame that the client accepts.
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
    // The session has output to add before the next flush.
    void request_flush(Session& session);
    // The session has ended on both sides.
    void session_gone(std::uint16_t channel) { gone_sessions_.push_back(channel); }
    // Keeps a link that has ended until the engine has closed its channel.
    void keep_until_closed(std::unique_ptr<Link> link);
    void link_closed(Link& link) { closed_links_.push_back(&link); }

  private:
    enum class State : std::uint8_t {
        greeting,
        authenticating,
        authenticated,  // waits for the second header
        opening,
        moving,  // to the vhost's reactor
        running,
        leaving,   // the client sent close; the engine is closing
        failing,   // after an error; the engine is closing
        closing,   // close was sent; waits for the client's
        dropping,  // neither reads nor sends; the socket closes soon
        closed,
    };

    bool expects_header() const {
        return state_ == State::greeting || state_ == State::authenticated;
    }
    bool ignores_input() const {
        return state_ == State::leaving || state_ == State::dropping || state_ == State::closed;
    }
    void on_header(std::string_view header);
    // Returns the size of the frame, or 0 if it is incomplete.
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
    bool client_closed_ = false;  // its close crossed the broker's
    std::unique_ptr<Fault> failure_;
    std::vector<std::unique_ptr<Session>> sessions_;  // by channel; many may be empty
    std::vector<std::uint16_t> gone_sessions_;
    std::vector<Session*> sessions_to_flush_;
    std::vector<std::unique_ptr<Link>> closing_links_;
    std::vector<Link*> closed_links_;
};

}  // namespace revenant::amqp10
