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

// Of every AMQP listener and of the connections it accepts.
struct SocketOptions {
    int backlog = 4096;
    bool nodelay = true;
    bool keepalive = false;
    int send_buffer_bytes = 0;  // 0: what the system thinks right
    int receive_buffer_bytes = 0;
    bool proxy_protocol = false;  // every connection begins with a PROXY header
};

struct NetworkSettings {
    protocol::ConnectionSettings connection;
    tls::CertificateLogin certificate_login;
    SocketOptions sockets = {};
    std::shared_ptr<runtime::LoginThrottle> login_throttle = nullptr;  // none: nobody has to wait
    std::shared_ptr<runtime::ClientLogins> logins = nullptr;           // none: nobody counts
};

struct ListenAddress {
    std::string host;
    std::uint16_t port = 0;                                    // 0: a free one
    std::shared_ptr<tls::ReloadableTlsContext> tls = nullptr;  // without: plain TCP
};

class Network {
  public:
    Network(NetworkSettings settings, runtime::Broker& broker,
            std::function<void(std::string_view)> log_line);
    ~Network();
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;

    // Binds and listens; connections are accepted from then on. The answer is the port, or what
    // went wrong.
    Result<std::uint16_t, std::string> listen(const ListenAddress& address);
    // While suspended, connections are refused; those that are open stay. On failure the listeners
    // that could not be opened again stay closed, and the next attempt tries them.
    Result<void, std::string> suspend_listeners(bool suspended);
    bool listeners_are_suspended();
    // Accepts no more, tells every client, and waits until they have left or the time is over.
    void shut_down(Duration patience);

    // Resources are short (a reason) or no longer (empty).
    void set_alarm(const std::string& reason);
    // Ends the connection of that name; false if there is none.
    bool close_connection(std::string_view name, const std::string& reason);
    void close_connections_if(std::function<bool(const runtime::ConnectionView&)> chosen,
                              const std::string& reason);
    std::vector<runtime::ConnectionView> connections();
    // Those of the connection of that name; none if it has none or is gone.
    std::vector<protocol::SessionInfo> sessions(std::string_view connection);
    // Of all connections, those that are gone included.
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

    // Touched on the reactor's own thread only, so none shares a cache line with another.
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
    bool closing_ = false;  // for good
};

}  // namespace revenant::net
