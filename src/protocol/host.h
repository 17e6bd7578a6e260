// Host: the environment of a connection: a socket in the broker, a script in a test. EngineProxy:
// access to the engine of its virtual host, on this reactor or another.
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

// Commands to the engine of one virtual host, handled in the order they are sent. Effects arrive at
// the EffectSink that the host registered, possibly before send() returns.
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
    std::uint32_t frame_max_min = 8192;  // lowest value a client may request: amqp091 2.15
    std::uint32_t initial_frame_max = 8192;
    std::uint16_t heartbeat_seconds = 60;
    std::uint16_t session_max = 64;  // per AMQP 1.0 connection
    std::uint32_t link_max = 256;    // per session
    std::uint64_t max_message_size = 16777216;
    Duration handshake_timeout = seconds(10);
    // The product name and version that clients see. Some clients refuse any other.
    std::string product = "RabbitMQ";
    std::string version = "4.3.0";
    // The broker's actual name and version.
    std::string product_name = "Revenant";
    std::string product_version{revenant_version};
    std::string platform = "C++";
    std::string cluster_name = "rabbit@localhost";
    std::vector<std::string> loopback_users = {"guest"};
    // Offered in this order: ANONYMOUS only if anonymous_login_user is set, EXTERNAL only to
    // clients with a valid certificate.
    std::vector<Mechanism> mechanisms = {Mechanism::plain, Mechanism::amqplain,
                                         Mechanism::anonymous};
    std::string anonymous_login_user = "guest";  // empty: ANONYMOUS is not offered
    std::string anonymous_login_password = "guest";
    std::uint32_t consumer_max_per_channel = 0;  // 0: no limit
    // Also for clients that support consumer cancellation.
    bool consumer_timeout_closes_channel = false;
    std::string default_queue_type = "classic";  // for virtual hosts without their own
    std::string compat = "4.3";                  // for virtual hosts without their own
    bool permits_global_qos = true;              // amqp091 11.1
};

// The result of connection.open.
struct VhostOpened {
    EngineProxy* port = nullptr;
    ConnectionId connection;
};
struct VhostRefused {
    std::string text;  // reply text of the 530
};
// The connection moves to another reactor first; vhost_opened() is called there.
struct VhostOnOtherReactor {};
using VhostAnswer = std::variant<VhostOpened, VhostRefused, VhostOnOtherReactor>;

class Host {
  public:
    virtual ~Host() = default;
    // The current permissions; the reference is valid until the next turn.
    virtual const std::shared_ptr<const AccessTable>& access() = 0;
    virtual PeerLocation peer_location() const = 0;
    // The peer's address has too many failed logins, so its password is not checked now.
    virtual bool is_login_throttled() { return false; }
    // The password was wrong.
    virtual void login_failed() {}
    // Counts a login that was checked.
    virtual void count_login(engine::ClientProtocol, bool /*succeeded*/) {}
    // The user named by the client's certificate, if it sent a valid one.
    virtual std::optional<std::string> certificate_user() const { return std::nullopt; }
    // Requires that the vhost exists and that the user has access to it.
    virtual VhostAnswer open_vhost(std::string_view vhost, std::string_view user) = 0;
    // Counts a new channel, or returns why it is refused. on_channel_closed() uncounts it.
    virtual std::optional<std::string> admit_channel() { return std::nullopt; }
    virtual void on_channel_closed() {}
    // Effects for the channel are sent to the sink until release_channel().
    virtual ChannelId register_channel(engine::EffectSink& sink) = 0;
    virtual void release_channel(ChannelId channel) = 0;
    // The prefix followed by 22 random characters of the URL-safe base64 alphabet.
    virtual std::string random_name(std::string_view prefix) = 0;
    // The output is no longer empty.
    virtual void request_flush() = 0;
    // Whether other connections have waited long enough. Reads the clock.
    virtual bool others_wait() { return false; }
    // Writes a log line. It must not contain secrets or bodies.
    virtual void log_line(std::string_view text) = 0;
};

}  // namespace revenant::protocol
