#include "tls/failure.h"

#include <openssl/err.h>

#include <array>

namespace revenant::tls {

std::string last_failure() {
    const unsigned long code = ERR_get_error();
    ERR_clear_error();
    if (code == 0) return "unknown reason";
    if (ERR_SYSTEM_ERROR(code)) {
        const char* const reason = ERR_reason_error_string(code);
        if (reason != nullptr) return reason;
    }
    std::array<char, 256> text{};
    ERR_error_string_n(code, text.data(), text.size());
    return text.data();
}

}  // namespace revenant::tls
