#include "node/config/addresses.h"

#include <unistd.h>

#include <netinet/in.h>
#include <sys/socket.h>

namespace revenant::node {

std::string any_address() {
    const int probe = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (probe < 0) return "0.0.0.0";
    sockaddr_in6 any{};
    any.sin6_family = AF_INET6;
    any.sin6_addr = in6addr_any;
    const bool bound = ::bind(probe, reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0;
    ::close(probe);
    return bound ? "::" : "0.0.0.0";
}

std::string address_of(const Endpoint& endpoint, const std::string& bind) {
    if (!endpoint.address.empty()) return endpoint.address;
    if (!bind.empty()) return bind;
    return endpoint.reach == Endpoint::BindScope::all_interfaces ? any_address() : "127.0.0.1";
}

std::string show(const std::string& address, std::uint16_t port) {
    const bool brackets = address.find(':') != std::string::npos;
    return (brackets ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

}  // namespace revenant::node
