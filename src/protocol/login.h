// Login: who a client is, by the mechanisms of SASL. The same for every protocol.
#pragma once

#include "auth/sasl.h"
#include "base/result.h"
#include "protocol/host.h"

#include <string>
#include <string_view>
#include <vector>

namespace revenant::protocol {

// Those a client may use here, in the order they are offered.
std::vector<Mechanism> offered_mechanisms(const ConnectionSettings& settings, const Host& host);

// The user whose password these credentials show, unless too many were wrong.
Result<std::string, LoginRefusal> log_in_with_password(
    Host& host, const Result<Credentials, LoginRefusal>& credentials);
Result<std::string, LoginRefusal> log_in_anonymously(Host& host,
                                                     const ConnectionSettings& settings);
Result<std::string, LoginRefusal> log_in_by_certificate(Host& host);

}  // namespace revenant::protocol
