#include "net/listener.h"

#include "net/socket.h"
#include "net/socket_address.h"
#include "runtime/descriptors.h"

#include <netdb.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <utility>

namespace revenant::net {
namespace {

constexpr int accepts_per_turn = 256;

// Accepted sockets inherit these options.
void set_options(int descriptor, const SocketOptions& options) {
    const int nodelay = options.nodelay ? 1 : 0;
    const int keepalive = options.keepalive ? 1 : 0;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &nodelay, sizeof nodelay);
    setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &keepalive, sizeof keepalive);
    if (options.send_buffer_bytes > 0) {
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &options.send_buffer_bytes, sizeof(int));
    }
    if (options.receive_buffer_bytes > 0) {
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &options.receive_buffer_bytes, sizeof(int));
    }
}

Result<int, std::string> listening_socket(const ListenAddress& address,
                                          const SocketOptions& options) {
    const std::string port = std::to_string(address.port);
    const std::string where = address.host + ":" + port;
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const int failure = getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
    if (failure != 0) return Unexpected{"cannot resolve " + where + ": " + gai_strerror(failure)};
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, freeaddrinfo);
    const int descriptor =
        socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, found->ai_protocol);
    const auto fail = [&](const char* what) {
        const std::string text =
            std::string("cannot ") + what + " " + where + ": " + std::strerror(errno);
        if (descriptor >= 0) ::close(descriptor);
        return Unexpected{text};
    };
    if (descriptor < 0) return fail("open a socket for");
    const int on = 1;
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    set_options(descriptor, options);
    if (bind(descriptor, found->ai_addr, found->ai_addrlen) != 0) return fail("bind");
    if (::listen(descriptor, options.backlog) != 0) return fail("listen on");
    return descriptor;
}

}  // namespace

Listener::Listener(Network& network, runtime::Reactor& reactor, int descriptor,
                   ListenAddress address)
    : network_(network), reactor_(reactor), descriptor_(descriptor), address_(std::move(address)) {}

Listener::~Listener() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

Result<std::unique_ptr<Listener>, std::string> Listener::open(Network& network,
                                                              runtime::Reactor& reactor,
                                                              const ListenAddress& address) {
    REVENANT_TRY(const int descriptor, listening_socket(address, network.settings().sockets));
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    getsockname(descriptor, reinterpret_cast<sockaddr*>(&bound), &size);
    ListenAddress actual = address;
    actual.port = port_of(bound);
    return std::unique_ptr<Listener>(new Listener(network, reactor, descriptor, std::move(actual)));
}

Result<bool, std::string> Listener::open_again() {
    if (descriptor_ >= 0) return false;
    REVENANT_TRY(descriptor_, listening_socket(address_, network_.settings().sockets));
    return true;
}

void Listener::start() {
    reactor_.watch(descriptor_, EPOLLIN, *this);
    watching_ = true;
    reactor_.add_ticking(*this);
}

void Listener::stop() {
    if (watching_) reactor_.unwatch(descriptor_, *this);
    watching_ = false;
    reactor_.remove_ticking(*this);
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

void Listener::tick(Timestamp) {
    shortage_logged_ = false;
    // Accepting stopped when descriptors ran out. Tries again.
    if (watching_ || descriptor_ < 0) return;
    reactor_.watch(descriptor_, EPOLLIN, *this);
    watching_ = true;
}

void Listener::ready(std::uint32_t) {
    for (int i = 0; i < accepts_per_turn; ++i) {
        sockaddr_storage peer{};
        socklen_t size = sizeof peer;
        const int descriptor = accept4(descriptor_, reinterpret_cast<sockaddr*>(&peer), &size,
                                       SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (descriptor < 0) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
                network_.log_line("cannot accept connections: " +
                                  std::string(std::strerror(errno)));
                reactor_.unwatch(descriptor_, *this);
                watching_ = false;
            }
            return;
        }
        if (runtime::is_reserved_for_files(descriptor)) {
            ::close(descriptor);
            if (std::exchange(shortage_logged_, true)) continue;
            network_.log_line(
                "connection refused: remaining file descriptors are reserved for files");
            continue;
        }
        sockaddr_storage local{};
        size = sizeof local;
        getsockname(descriptor, reinterpret_cast<sockaddr*>(&local), &size);
        // Owns itself after register_with_reactor(); the reactor deletes it when it closes.
        auto stream = address_.tls ? tls_stream(descriptor, address_.tls->current(),
                                                network_.settings().certificate_login)
                                   : plain_stream(descriptor);
        auto* const socket =
            new Socket(network_, reactor_, descriptor, std::move(stream),
                       show_address(peer) + " -> " + show_address(local), peer_at(peer));
        socket->register_with_reactor();
    }
}

}  // namespace revenant::net
