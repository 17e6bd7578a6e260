#include "auth/sasl.h"

#include "base/check.h"

#include <algorithm>

namespace revenant {
namespace {

// The value of a string field, which clients send as S or x. amqp091 2.11
const std::string* text_of(const Table& table, std::string_view name) {
    const Value* value = find(table, name);
    if (!value) return nullptr;
    if (value->type != ValueType::long_string && value->type != ValueType::binary) return nullptr;
    return std::get_if<std::string>(&value->data);
}

}  // namespace

std::string_view mechanism_name(Mechanism mechanism) {
    switch (mechanism) {
        case Mechanism::plain:
            return "PLAIN";
        case Mechanism::amqplain:
            return "AMQPLAIN";
        case Mechanism::anonymous:
            return "ANONYMOUS";
        case Mechanism::external:
            return "EXTERNAL";
    }
    UNREACHABLE();
}

std::optional<Mechanism> mechanism_named(std::string_view name) {
    for (const auto mechanism :
         {Mechanism::plain, Mechanism::amqplain, Mechanism::anonymous, Mechanism::external})
        if (mechanism_name(mechanism) == name) return mechanism;
    return std::nullopt;
}

std::string mechanism_list(std::span<const Mechanism> offered) {
    std::string list;
    for (const auto mechanism : offered) {
        if (!list.empty()) list += ' ';
        list += mechanism_name(mechanism);
    }
    return list;
}

Result<Mechanism, LoginRefusal> choose_mechanism(std::string_view name,
                                                 std::span<const Mechanism> offered) {
    const auto mechanism = mechanism_named(name);
    if (!mechanism || std::find(offered.begin(), offered.end(), *mechanism) == offered.end())
        return Unexpected{LoginRefusal::unknown_mechanism};
    return *mechanism;
}

Result<Credentials, LoginRefusal> parse_plain(std::string_view response) {
    // An authorization identity before the first NUL or a NUL after the password is an error.
    if (!response.starts_with('\0')) return Unexpected{LoginRefusal::malformed_response};
    response.remove_prefix(1);
    const auto separator = response.find('\0');
    if (separator == std::string_view::npos) return Unexpected{LoginRefusal::malformed_response};
    const std::string_view user = response.substr(0, separator);
    const std::string_view password = response.substr(separator + 1);
    if (password.find('\0') != std::string_view::npos)
        return Unexpected{LoginRefusal::malformed_response};
    return Credentials{std::string(user), std::string(password)};
}

Result<Credentials, LoginRefusal> parse_amqplain(const Table& response) {
    const std::string* user = text_of(response, "LOGIN");
    const std::string* password = text_of(response, "PASSWORD");
    if (!user || !password) return Unexpected{LoginRefusal::malformed_response};
    return Credentials{*user, *password};
}

std::string login_refused_text(std::string_view mechanism) {
    return "Login was refused using authentication mechanism " + std::string(mechanism) +
           ". For details see the broker logfile.";
}

Result<const User*, LoginRefusal> log_in(const AccessTable& table, const Credentials& credentials) {
    const User* user = table.find_user(credentials.user);
    // An unknown name also costs a hash, so that timing does not reveal which names exist.
    static const PasswordHash nobody = make_hash("nobody", Salt{});
    const bool matched = password_matches(user ? user->password : nobody, credentials.password);
    if (!user || !matched) return Unexpected{LoginRefusal::bad_credentials};
    return user;
}

Result<void, LoginRefusal> check_location(std::string_view user, PeerLocation place,
                                          std::span<const std::string> loopback_users) {
    if (place == PeerLocation::remote &&
        std::find(loopback_users.begin(), loopback_users.end(), user) != loopback_users.end())
        return Unexpected{LoginRefusal::loopback_only};
    return {};
}

}  // namespace revenant
