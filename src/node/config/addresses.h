// Addresses of the endpoints in the configuration.
#pragma once

#include "node/config/config.h"

#include <string>

namespace revenant::node {

// All interfaces. The IPv6 wildcard address includes IPv4; used if the machine has IPv6.
std::string any_address();
std::string address_of(const Endpoint& endpoint, const std::string& bind);
// For display: [::1]:5672
std::string show(const std::string& address, std::uint16_t port);

}  // namespace revenant::node
