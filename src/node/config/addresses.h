// Which address an endpoint of the configuration is.
#pragma once

#include "node/config/config.h"

#include <string>

namespace revenant::node {

// All interfaces: those of IPv6 include those of IPv4, where the machine has IPv6.
std::string any_address();
std::string address_of(const Endpoint& endpoint, const std::string& bind);
// As people write it: [::1]:5672
std::string show(const std::string& address, std::uint16_t port);

}  // namespace revenant::node
