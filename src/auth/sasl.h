// SASL as AMQP uses it: mechanism names, responses to credentials, credentials to a user.
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
// The names with a space between them, as connection.start carries them. amqp091 2.5
std::string mechanism_list(std::span<const Mechanism> offered);

struct Credentials {
    std::string user;
    std::string password;
    friend bool operator==(const Credentials&, const Credentials&) = default;
};

enum class LoginRefusal : std::uint8_t {
    unknown_mechanism,   // not offered; the socket is dropped. amqp091 3.4
    malformed_response,  // not what the mechanism says; the socket is dropped. amqp091 3.4
    bad_credentials,     // unknown user or wrong password. amqp091 3.1
    loopback_only,       // a loopback user from another address; the client is told the same.
                         // amqp091 3.3
    too_many_failures,   // from that address; the password was not looked at
};

// The mechanism of that name if it is among those offered.
Result<Mechanism, LoginRefusal> choose_mechanism(std::string_view name,
                                                 std::span<const Mechanism> offered);

// NUL user NUL password, exactly. amqp091 2.10
Result<Credentials, LoginRefusal> parse_plain(std::string_view response);
// The fields LOGIN and PASSWORD of the decoded response. amqp091 2.11
Result<Credentials, LoginRefusal> parse_amqplain(const Table& response);

// The reply text of connection.close 403, after "ACCESS_REFUSED - ". amqp091 3.1
std::string login_refused_text(std::string_view mechanism);

// The user whose password this is. The pointer lives as long as the table.
Result<const User*, LoginRefusal> log_in(const AccessTable& table, const Credentials& credentials);

// Where the peer of a connection is, as far as logging in is concerned.
enum class PeerLocation : std::uint8_t { loopback, remote };
// amqp091 3.3
Result<void, LoginRefusal> check_location(std::string_view user, PeerLocation place,
                                          std::span<const std::string> loopback_users);

}  // namespace revenant
