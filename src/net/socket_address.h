// Formats socket addresses and determines whether they are local.
#pragma once

#include "auth/sasl.h"

#include <cstdint>
#include <string>
#include <sys/socket.h>

namespace revenant::net {

// The peer of a socket.
struct SocketPeer {
    std::string address;
    PeerLocation place;
};

std::string show_address(const sockaddr_storage& address);
std::uint16_t port_of(const sockaddr_storage& address);
SocketPeer peer_at(const sockaddr_storage& address);

}  // namespace revenant::net
