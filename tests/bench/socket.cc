#include "socket.h"

#include "failure.h"

#include <unistd.h>

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <utility>

namespace bench {

namespace {

int connect_to(const Endpoint& endpoint) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(endpoint.port);
    if (inet_pton(AF_INET, endpoint.host.c_str(), &address.sin_addr) != 1) {
        throw Failure("--host takes an IPv4 address");
    }
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) throw Failure(std::string("socket: ") + std::strerror(errno));
    const timeval patience{endpoint.timeout.count(), 0};
    ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    const int on = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        const std::string reason = std::strerror(errno);
        ::close(descriptor);
        throw Failure("connect: " + reason);
    }
    return descriptor;
}

}  // namespace

Socket::Socket(const Endpoint& endpoint) : descriptor_(connect_to(endpoint)) {}

Socket::~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

Socket::Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

void Socket::send(std::string_view bytes) const {
    while (!bytes.empty()) {
        const ssize_t count = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) throw Failure(std::string("send: ") + std::strerror(errno));
        bytes.remove_prefix(static_cast<size_t>(count));
    }
}

void Socket::receive(std::string& target, size_t size) const {
    size_t from = target.size();
    target.resize(from + size);
    while (size > 0) {
        const ssize_t count = ::recv(descriptor_, target.data() + from, size, MSG_WAITALL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) throw Failure(std::string("no answer: ") + std::strerror(errno));
        if (count == 0) throw Failure("the broker closed the connection");
        from += static_cast<size_t>(count);
        size -= static_cast<size_t>(count);
    }
}

}  // namespace bench
