// Host: what a connection needs of the world that carries it — a socket in the broker, a script in
// a test. EngineProxy: the way to the engine of its virtual host, near or far.
#pragma once

#include "auth/access.h"
#include "auth/sasl.h"
#include "base/ids.h"
#include "base/time.h"
#include "base/version.h"
#include "engine/words/command.h"
#include "engine/words/effect.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace revenant::protocol {

// Commands to the engine of one virtual host, handled in the order they are sent. Effects come back
// through the EffectSink the host registered, perhaps before send() returns.
class EngineProxy {
  public:
    virtual ~EngineProxy() = default;
    virtual void send(engine::Command&& command) = 0;
    virtual void publish(engine::Publish&& command) = 0;
    virtual void settle(const engine::Settle& command) = 0;
};

struct ConnectionSettings {
    std::uint16_t channel_max = 2047;
    std::uint32_t frame_max = 131072;
    std::uint32_t frame_max_min = 8192;  // that a client may ask for: amqp091 2.15
    std::uint32_t initial_frame_max = 8192;
    std::uint16_t heartbeat_seconds = 60;
    std::uint16_t session_max = 64;  // of an AMQP 1.0 connection
    std::uint32_t link_max = 256;    // of a session
    std::uint64_t max_message_size = 16777216;
    Duration handshake_timeout = seconds(10);
    // Whom clients believe to speak to: some refuse any other.
    std::string product = "RabbitMQ";
    std::string version = "4.3.0";
    // Who it is.
    std::string product_name = "Revenant";
    std::string product_version{revenant_version};
    std::string platform = "C++";
    std::string cluster_name = "rabbit@localhost";
    std::vector<std::string> loopback_users = {"guest"};
    // Offered, in this order; ANONYMOUS only if there is somebody for it to be, EXTERNAL only to
    // clients with a certificate that holds.
    std::vector<Mechanism> mechanisms = {Mechanism::plain, Mechanism::amqplain,
                                         Mechanism::anonymous};
    std::string anonymous_login_user = "guest";  // empty: ANONYMOUS is not offered
    std::string anonymous_login_password = "guest";
    std::uint32_t consumer_max_per_channel = 0;  // 0: no limit
    // Also for clients that could be told that their consumer ends.
    bool consumer_timeout_closes_channel = false;
    std::string default_queue_type = "classic";  // in virtual hosts that name none
    std::string compat = "4.3";                  // in virtual hosts that name none
    bool permits_global_qos = true;              // amqp091 11.1
};

// The answer to connection.open.
struct VhostOpened {
    EngineProxy* port = nullptr;
    ConnectionId connection;
};
struct VhostRefused {
    std::string text;  // of the 530
};
// The connection goes to another reactor first; vhost_opened() follows there.
struct VhostOnOtherReactor {};
using VhostAnswer = std::variant<VhostOpened, VhostRefused, VhostOnOtherReactor>;

class Host {
  public:
    virtual ~Host() = default;
    // The permissions in force; the reference is good until the next turn.
    virtual const std::shared_ptr<const AccessTable>& access() = 0;
    virtual PeerLocation peer_location() const = 0;
    // Too many passwords from where the peer is were wrong: its own is not looked at for now.
    virtual bool is_login_throttled() { return false; }
    // The password of the peer was wrong.
    virtual void login_failed() {}
    // Any login that was looked at.
    virtual void count_login(engine::ClientProtocol, bool /*succeeded*/) {}
    // Whom the certificate of the client names, if it has shown one that holds.
    virtual std::optional<std::string> certificate_user() const { return std::nullopt; }
    // The vhost exists and the user may enter it.
    virtual VhostAnswer open_vhost(std::string_view vhost, std::string_view user) = 0;
    // Counts a channel in, or says why there may be none; it is counted out when it is closed.
    virtual std::optional<std::string> admit_channel() { return std::nullopt; }
    virtual void on_channel_closed() {}
    // Effects for the channel go to the sink until release_channel.
    virtual ChannelId register_channel(engine::EffectSink& sink) = 0;
    virtual void release_channel(ChannelId channel) = 0;
    // The prefix followed by 22 random characters of the URL-safe base64 alphabet.
    virtual std::string random_name(std::string_view prefix) = 0;
    // There is output where there was none.
    virtual void request_flush() = 0;
    // Others have waited long enough for this connection. Reads the clock.
    virtual bool others_wait() { return false; }
    // For the diary: no secrets, no bodies.
    virtual void log_line(std::string_view text) = 0;
};

}  // namespace revenant::protocol
