// SASL in AMQP: mechanism names, parsing of responses, and login.
#pragma once

#include "auth/access.h"
#include "base/result.h"
#include "message/value.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace revenant {

enum class Mechanism : std::uint8_t { plain, amqplain, anonymous, external };

// "PLAIN", "AMQPLAIN", "ANONYMOUS", "EXTERNAL".
std::string_view mechanism_name(Mechanism mechanism);
std::optional<Mechanism> mechanism_named(std::string_view name);
// The names separated by spaces, for connection.start. amqp091 2.5
std::string mechanism_list(std::span<const Mechanism> offered);

struct Credentials {
    std::string user;
    std::string password;
    friend bool operator==(const Credentials&, const Credentials&) = default;
};

enum class LoginRefusal : std::uint8_t {
    unknown_mechanism,   // not offered; the socket is dropped. amqp091 3.4
    malformed_response,  // invalid for its mechanism; the socket is dropped. amqp091 3.4
    bad_credentials,     // unknown user or wrong password. amqp091 3.1
    loopback_only,       // loopback user from another address; same reply as above.
                         // amqp091 3.3
    too_many_failures,   // the address is throttled; the password was not checked
};

// Returns the mechanism with that name if it is offered.
Result<Mechanism, LoginRefusal> choose_mechanism(std::string_view name,
                                                 std::span<const Mechanism> offered);

// NUL user NUL password, exactly. amqp091 2.10
Result<Credentials, LoginRefusal> parse_plain(std::string_view response);
// The fields LOGIN and PASSWORD of the decoded response. amqp091 2.11
Result<Credentials, LoginRefusal> parse_amqplain(const Table& response);

// The reply text of connection.close 403, after "ACCESS_REFUSED - ". amqp091 3.1
std::string login_refused_text(std::string_view mechanism);

// Returns the user if the password matches. The pointer is valid as long as the table.
Result<const User*, LoginRefusal> log_in(const AccessTable& table, const Credentials& credentials);

// The location of a peer, for login decisions.
enum class PeerLocation : std::uint8_t { loopback, remote };
// amqp091 3.3
Result<void, LoginRefusal> check_location(std::string_view user, PeerLocation place,
                                          std::span<const std::string> loopback_users);

}  // namespace revenant
