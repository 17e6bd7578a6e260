// Connection: one client's connection without its socket, whatever protocol it speaks. Bytes and
// time in, commands and bytes out.
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

// A channel as listings name it; the engine knows the rest of it by its id.
struct ChannelInfo {
    ChannelId id;
    std::uint16_t number = 0;
    bool confirming = false;
};

// What listings show of a connection.
struct ConnectionInfo {
    ConnectionId id;  // none before the vhost is open
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
    std::size_t session_count = 0;  // the same
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

    // Works on every whole frame in the bytes, or on some of them if others wait; returns how many
    // bytes were used. The rest must be given again, in front of what arrives later.
    virtual std::size_t receive(std::string_view bytes, Timestamp now) = 0;
    // Heartbeats and time-outs. To be called a few times per second.
    virtual void tick(Timestamp now) = 0;
    // The peer is gone; nothing can be said any more.
    virtual void on_connection_lost() = 0;
    // Every connection of the node is about to be closed: what goes with the others is no news.
    virtual void expect_close() {}
    // An operator or the node ends the connection.
    virtual void close_forced(std::string_view reason, Timestamp now) = 0;

    // The home of the vhost was reached after VhostOnOtherReactor.
    virtual void vhost_opened(const VhostAnswer& answer) = 0;
    // Resources are short (a reason) or no longer (empty): publishers are blocked.
    virtual void set_alarm(std::string_view reason) = 0;

    // Puts what was gathered during the turn into the output.
    virtual void before_flush() = 0;
    // Did so much of the output leave that consumers may be served again?
    virtual void output_drained() = 0;
    Output& output() { return output_; }
    const Output& output() const { return output_; }

    virtual bool wants_input() const = 0;
    // The last receive() made room for others: the rest of its bytes is worth another call.
    bool is_interrupted() const { return interrupted_; }
    // What a frame caused took as long as so many frames do, or so long that the clock is to be
    // looked at before the next one.
    void spend(std::uint64_t frames) {
        frames_before_look_ -= std::min(frames, frames_before_look_ - 1);
    }
    void look_at_the_clock() { frames_before_look_ = 1; }
    // The socket is to be closed once the output is sent; or at once.
    virtual bool finished() const = 0;
    virtual ConnectionInfo info() const = 0;
    // Only AMQP 1.0 has sessions.
    virtual std::vector<SessionInfo> sessions() const { return {}; }

    // --- for what belongs to it: channels, sessions, links ---
    const ConnectionSettings& settings() const { return settings_; }
    Host& host() { return host_; }
    // False when the socket cannot keep up with deliveries.
    bool on_delivery_written() {
        host_.request_flush();
        if (output_.unsent_bytes() < deliveries_pause_bytes) return true;
        deliveries_paused_ = true;
        return false;
    }
    // Deliveries stopped on their way here; more come when they are asked for.
    void deliveries_paused() {
        deliveries_paused_ = true;
        host_.request_flush();
    }

  protected:
    bool deliveries_may_resume() const {
        return deliveries_paused_ && output_.unsent_bytes() <= deliveries_resume_bytes;
    }
    void deliveries_resumed() { deliveries_paused_ = false; }
    // At the beginning of receive(), and behind each of its frames: whether the next one may
    // follow.
    void begin_receiving() { interrupted_ = false; }
    bool may_go_on() {
        if (--frames_before_look_ != 0) return true;
        frames_before_look_ = frames_between_looks;
        interrupted_ = host_.others_wait();
        return !interrupted_;
    }
    // A peer that does not read what it caused is not read from.
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

    // A millisecond or two of small ones.
    static constexpr std::uint64_t frames_between_looks = 8192;

    bool deliveries_paused_ = false;
    bool interrupted_ = false;
    std::uint64_t frames_before_look_ = frames_between_looks;
};

}  // namespace revenant::protocol
