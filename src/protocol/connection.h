// Connection: one client connection without its socket, for any protocol. Takes bytes and time,
// produces commands and bytes.
#pragma once

#include "base/ids.h"
#include "base/time.h"
#include "engine/words/client_protocol.h"
#include "engine/words/effect.h"
#include "message/value.h"
#include "protocol/host.h"
#include "protocol/output.h"
#include "protocol/session_info.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::protocol {

// A channel in listings. The engine has the rest of the data under its id.
struct ChannelInfo {
    ChannelId id;
    std::uint16_t number = 0;
    bool confirming = false;
};

// The data of a connection for listings.
struct ConnectionInfo {
    ConnectionId id;  // unset until the vhost is open
    engine::ClientProtocol protocol = engine::ClientProtocol::amqp091;
    std::string user;
    std::string vhost;
    std::string state;
    std::string mechanism;
    Table client_properties;
    std::vector<ChannelInfo> channels;
    std::uint32_t frame_max = 0;
    std::uint16_t channel_max = 0;
    std::uint16_t heartbeat_seconds = 0;
    std::string container_id;       // AMQP 1.0 only
    std::size_t session_count = 0;  // AMQP 1.0 only
};

class Connection : public engine::EffectSink {
  public:
    Connection(const ConnectionSettings& settings, Host& host, Timestamp now)
        : settings_(settings),
          host_(host),
          now_(now),
          last_received_at_(now),
          last_sent_at_(now),
          state_deadline_(now + settings.handshake_timeout) {}

    // Processes the complete frames in the bytes, or some of them if other connections are waiting,
    // and returns the number of bytes used. The caller passes the rest again, followed by later
    // input.
    virtual std::size_t receive(std::string_view bytes, Timestamp now) = 0;
    // Handles heartbeats and timeouts. Called a few times per second.
    virtual void tick(Timestamp now) = 0;
    // The peer has disconnected. Nothing more can be sent.
    virtual void on_connection_lost() = 0;
    // All connections of the node are about to be closed.
    virtual void expect_close() {}
    // An operator or the node closes the connection.
    virtual void close_forced(std::string_view reason, Timestamp now) = 0;

    // The home reactor of the vhost was reached after VhostOnOtherReactor.
    virtual void vhost_opened(const VhostAnswer& answer) = 0;
    // A non-empty reason raises an alarm and blocks publishers; an empty one clears it.
    virtual void set_alarm(std::string_view reason) = 0;

    // Appends everything gathered during the turn to the output.
    virtual void before_flush() = 0;
    // Called after output was sent. Resumes deliveries if enough of it was.
    virtual void output_drained() = 0;
    Output& output() { return output_; }
    const Output& output() const { return output_; }

    virtual bool wants_input() const = 0;
    // The last receive() stopped early for other connections, so its remaining bytes can be
    // processed.
    bool is_interrupted() const { return interrupted_; }
    // The work caused by a frame took as long as this many frames, or long enough to read the clock
    // before the next frame.
    void spend(std::uint64_t frames) {
        frames_before_look_ -= std::min(frames, frames_before_look_ - 1);
    }
    void look_at_the_clock() { frames_before_look_ = 1; }
    // Whether to close the socket once the output is sent.
    virtual bool finished() const = 0;
    virtual ConnectionInfo info() const = 0;
    // Only AMQP 1.0 has sessions.
    virtual std::vector<SessionInfo> sessions() const { return {}; }

    // --- for its parts: channels, sessions, links ---
    const ConnectionSettings& settings() const { return settings_; }
    Host& host() { return host_; }
    // Returns false if the socket cannot keep up with deliveries.
    bool on_delivery_written() {
        host_.request_flush();
        if (output_.unsent_bytes() < deliveries_pause_bytes) return true;
        deliveries_paused_ = true;
        return false;
    }
    // Deliveries were stopped before they reached this connection. More come when they are
    // requested.
    void deliveries_paused() {
        deliveries_paused_ = true;
        host_.request_flush();
    }

  protected:
    bool deliveries_may_resume() const {
        return deliveries_paused_ && output_.unsent_bytes() <= deliveries_resume_bytes;
    }
    void deliveries_resumed() { deliveries_paused_ = false; }
    // begin_receiving() is called at the start of receive(), may_go_on() after each frame. The
    // latter returns whether the next frame may be processed.
    void begin_receiving() { interrupted_ = false; }
    bool may_go_on() {
        if (--frames_before_look_ != 0) return true;
        frames_before_look_ = frames_between_looks;
        interrupted_ = host_.others_wait();
        return !interrupted_;
    }
    // A peer that does not read its replies is not read from.
    bool output_has_room() const { return output_.unsent_bytes() < reading_pause_bytes; }

    const ConnectionSettings& settings_;
    Host& host_;
    Output output_;
    Timestamp now_;
    Timestamp last_received_at_;
    Timestamp last_sent_at_;
    Timestamp state_deadline_;  // of a handshake, a close or a drop

  private:
    static constexpr std::size_t deliveries_pause_bytes = 1024 * 1024;
    static constexpr std::size_t deliveries_resume_bytes = 256 * 1024;
    static constexpr std::size_t reading_pause_bytes = 16 * 1024 * 1024;

    // About 1 to 2 ms of small frames.
    static constexpr std::uint64_t frames_between_looks = 8192;

    bool deliveries_paused_ = false;
    bool interrupted_ = false;
    std::uint64_t frames_before_look_ = frames_between_looks;
};

}  // namespace revenant::protocol
