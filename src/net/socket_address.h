// Addresses as the system has them: in words, and how far away they are.
#pragma once

#include "auth/sasl.h"

#include <cstdint>
#include <string>
#include <sys/socket.h>

namespace revenant::net {

// The other end of a socket.
struct SocketPeer {
    std::string address;
    PeerLocation place;
};

std::string show_address(const sockaddr_storage& address);
std::uint16_t port_of(const sockaddr_storage& address);
SocketPeer peer_at(const sockaddr_storage& address);

}  // namespace revenant::net
