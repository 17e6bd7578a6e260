// PasswordRules: the validator for new passwords and their hash algorithm.
#pragma once

#include "auth/password.h"
#include "pattern/pattern.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace revenant {

struct PasswordRules {
    enum class PasswordCheck : std::uint8_t { nothing, length, pattern };

    HashAlgorithm algorithm = HashAlgorithm::sha256;
    PasswordCheck ask = PasswordCheck::nothing;
    std::size_t bytes_min = 8;  // for the minimum length check
    std::shared_ptr<const Pattern>
        pattern;  // for the pattern check; nullptr matches every password

    // The rule that a new password violates, if any. The text does not contain the password.
    std::optional<std::string> violation(std::string_view password) const;
};

}  // namespace revenant
