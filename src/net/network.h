// Network: the listeners and all sockets of the node.
#pragma once

#include "base/result.h"
#include "base/roster.h"
#include "protocol/host.h"
#include "protocol/session_info.h"
#include "runtime/broker.h"
#include "runtime/client_logins.h"
#include "runtime/connection_view.h"
#include "runtime/login_throttle.h"
#include "tls/context.h"
#include "tls/peer.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::net {

class Listener;
class Socket;

// Options of all AMQP listeners and of the connections they accept.
struct SocketOptions {
    int backlog = 4096;
    bool nodelay = true;
    bool keepalive = false;
    int send_buffer_bytes = 0;  // 0: the system's default
    int receive_buffer_bytes = 0;
    bool proxy_protocol = false;  // every connection starts with a PROXY header
};

struct NetworkSettings {
    protocol::ConnectionSettings connection;
    tls::CertificateLogin certificate_login;
    SocketOptions sockets = {};
    std::shared_ptr<runtime::LoginThrottle> login_throttle = nullptr;  // nullptr: no throttling
    std::shared_ptr<runtime::ClientLogins> logins = nullptr;           // nullptr: not counted
};

struct ListenAddress {
    std::string host;
    std::uint16_t port = 0;                                    // 0: any free port
    std::shared_ptr<tls::ReloadableTlsContext> tls = nullptr;  // nullptr: plain TCP
};

class Network {
  public:
    Network(NetworkSettings settings, runtime::Broker& broker,
            std::function<void(std::string_view)> log_line);
    ~Network();
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;

    // Binds and listens. Connections are accepted from then on. Returns the port or an error.
    Result<std::uint16_t, std::string> listen(const ListenAddress& address);
    // While suspended, new connections are refused; open ones stay. If listeners cannot be
    // reopened, they stay closed and the next call tries again.
    Result<void, std::string> suspend_listeners(bool suspended);
    bool listeners_are_suspended();
    // Stops accepting, closes every connection, and waits until clients have disconnected or the
    // time is over.
    void shut_down(Duration patience);

    // A non-empty reason raises an alarm; an empty one clears it.
    void set_alarm(const std::string& reason);
    // Closes the connection with that name; false if there is none.
    bool close_connection(std::string_view name, const std::string& reason);
    void close_connections_if(std::function<bool(const runtime::ConnectionView&)> chosen,
                              const std::string& reason);
    std::vector<runtime::ConnectionView> connections();
    // The sessions of the connection with that name; empty if it has none or does not exist.
    std::vector<protocol::SessionInfo> sessions(std::string_view connection);
    // Totals of all connections, including closed ones.
    runtime::NetworkTraffic traffic();

    const NetworkSettings& settings() const { return settings_; }
    runtime::Broker& broker() { return broker_; }
    void log_line(std::string_view text) { log_line_(text); }

    // --- for sockets, on their reactor's thread ---
    void add(runtime::Reactor& reactor, Socket& socket);
    void remove(runtime::Reactor& reactor, Socket& socket);
    const std::string& alarm(runtime::Reactor& reactor) const;
    void count_received(runtime::Reactor& reactor, std::uint64_t bytes);
    void count_sent(runtime::Reactor& reactor, std::uint64_t bytes);

  private:
    void stop_listeners();

    // Used only on its reactor's thread. Aligned so that no two share a cache line.
    struct alignas(64) PerReactor {
        Roster<Socket> sockets;
        std::string alarm;
        runtime::NetworkTraffic traffic;
    };

    const NetworkSettings settings_;
    runtime::Broker& broker_;
    std::function<void(std::string_view)> log_line_;
    std::vector<PerReactor> per_reactor_;  // by reactor
    std::vector<std::unique_ptr<Listener>> listeners_;
    std::mutex listeners_mutex_;  // guards listeners_ and the two below
    bool suspended_ = false;
    bool closing_ = false;  // permanently
};

}  // namespace revenant::net
