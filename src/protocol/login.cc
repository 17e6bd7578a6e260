#include "protocol/login.h"

namespace revenant::protocol {

std::vector<Mechanism> offered_mechanisms(const ConnectionSettings& settings, const Host& host) {
    std::vector<Mechanism> offered = settings.mechanisms;
    std::erase_if(offered, [&](Mechanism mechanism) {
        return (mechanism == Mechanism::anonymous && settings.anonymous_login_user.empty()) ||
               (mechanism == Mechanism::external && !host.certificate_user());
    });
    return offered;
}

Result<std::string, LoginRefusal> log_in_with_password(
    Host& host, const Result<Credentials, LoginRefusal>& credentials) {
    if (!credentials) return Unexpected{credentials.error()};
    if (host.is_login_throttled()) return Unexpected{LoginRefusal::too_many_failures};
    const auto user = log_in(*host.access(), *credentials);
    if (user) return (*user)->name;
    host.login_failed();
    return Unexpected{user.error()};
}

// The client sent no password, so a wrong configured one does not count as a failed login.
Result<std::string, LoginRefusal> log_in_anonymously(Host& host,
                                                     const ConnectionSettings& settings) {
    REVENANT_TRY(
        const User* const user,
        log_in(*host.access(), {settings.anonymous_login_user, settings.anonymous_login_password}));
    return user->name;
}

// The certificate was verified, so its user needs no password.
Result<std::string, LoginRefusal> log_in_by_certificate(Host& host) {
    const auto named = host.certificate_user();
    if (!named || host.access()->find_user(*named) == nullptr) {
        return Unexpected{LoginRefusal::bad_credentials};
    }
    return *named;
}

}  // namespace revenant::protocol
