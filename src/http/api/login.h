// Login: HTTP Basic credentials to a user, with RabbitMQ's answers to those that fail.
#pragma once

#include "auth/access.h"
#include "base/result.h"
#include "http/server/request.h"
#include "runtime/login_throttle.h"

#include <span>
#include <string>

namespace revenant::http {

struct Login {
    const User* user = nullptr;  // lives as long as the table
    std::string password;
};

struct LoginRules {
    std::span<const std::string> loopback_users;
    runtime::LoginThrottle* guard = nullptr;  // none: nobody has to wait
};

// management 1.2
Result<Login, Response> log_in(const AccessTable& access, const Request& request,
                               const LoginRules& rules);

}  // namespace revenant::http
