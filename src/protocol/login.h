// Login: identifies a client by a SASL mechanism. Used by all protocols.
#pragma once

#include "auth/sasl.h"
#include "base/result.h"
#include "protocol/host.h"

#include <string>
#include <string_view>
#include <vector>

namespace revenant::protocol {

// The mechanisms that are available to a client, in the order they are offered.
std::vector<Mechanism> offered_mechanisms(const ConnectionSettings& settings, const Host& host);

// Returns the user if the password is correct and the address is not throttled.
Result<std::string, LoginRefusal> log_in_with_password(
    Host& host, const Result<Credentials, LoginRefusal>& credentials);
Result<std::string, LoginRefusal> log_in_anonymously(Host& host,
                                                     const ConnectionSettings& settings);
Result<std::string, LoginRefusal> log_in_by_certificate(Host& host);

}  // namespace revenant::protocol
