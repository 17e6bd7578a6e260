// Login: authenticates a request by HTTP Basic, with RabbitMQ's responses to failed logins.
#pragma once

#include "auth/access.h"
#include "base/result.h"
#include "http/server/request.h"
#include "runtime/login_throttle.h"

#include <span>
#include <string>

namespace revenant::http {

struct Login {
    const User* user = nullptr;  // valid as long as the access table
    std::string password;
};

struct LoginRules {
    std::span<const std::string> loopback_users;
    runtime::LoginThrottle* guard = nullptr;  // null: no address is throttled
};

// management 1.2
Result<Login, Response> log_in(const AccessTable& access, const Request& request,
                               const LoginRules& rules);

}  // namespace revenant::http
