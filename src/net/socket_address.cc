#include "net/socket_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

namespace revenant::net {
namespace {

std::string show_host(const sockaddr_storage& address) {
    char text[INET6_ADDRSTRLEN] = "?";
    if (address.ss_family == AF_INET) {
        const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
        inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    } else if (address.ss_family == AF_INET6) {
        const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
        if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
            inet_ntop(AF_INET, &v6.sin6_addr.s6_addr[12], text, sizeof text);
        } else {
            inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
        }
    }
    return text;
}

PeerLocation place_of(const sockaddr_storage& peer) {
    if (peer.ss_family == AF_INET) {
        const auto& v4 = reinterpret_cast<const sockaddr_in&>(peer);
        return (ntohl(v4.sin_addr.s_addr) >> 24) == 127 ? PeerLocation::loopback
                                                        : PeerLocation::remote;
    }
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(peer);
    const bool mapped_loopback =
        IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr) && v6.sin6_addr.s6_addr[12] == 127;
    return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr) || mapped_loopback ? PeerLocation::loopback
                                                                  : PeerLocation::remote;
}

}  // namespace

std::uint16_t port_of(const sockaddr_storage& address) {
    return ntohs(address.ss_family == AF_INET
                     ? reinterpret_cast<const sockaddr_in&>(address).sin_port
                     : reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
}

std::string show_address(const sockaddr_storage& address) {
    return show_host(address) + ':' + std::to_string(port_of(address));
}

SocketPeer peer_at(const sockaddr_storage& address) {
    return {show_host(address), place_of(address)};
}

}  // namespace revenant::net
