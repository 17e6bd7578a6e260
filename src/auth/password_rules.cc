#include "auth/password_rules.h"

namespace revenant {

std::optional<std::string> PasswordRules::violation(std::string_view password) const {
    switch (ask) {
        case PasswordCheck::nothing:
            break;
        case PasswordCheck::length:
            if (password.size() >= bytes_min) break;
            return "minimum required password length is " + std::to_string(bytes_min);
        case PasswordCheck::pattern:
            if (!pattern || pattern->matches(password)) break;
            return "provided password does not match the validator regular expression";
    }
    return std::nullopt;
}

}  // namespace revenant
