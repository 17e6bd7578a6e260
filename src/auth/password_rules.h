// PasswordRules: what an operator asks of new passwords, and how they are kept.
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
    std::size_t bytes_min = 8;               // if a length is asked for
    std::shared_ptr<const Pattern> pattern;  // if one is; without, every password matches

    // What is wrong with a new password; nothing if it will do. Without the password itself.
    std::optional<std::string> violation(std::string_view password) const;
};

}  // namespace revenant
