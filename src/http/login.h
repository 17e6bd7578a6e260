// Login: HTTP Basic credentials to a user, with RabbitMQ's answers to those that fail.
#pragma once

#include "auth/access.h"
#include "base/result.h"
#include "http/request.h"

#include <span>
#include <string>

namespace revenant::http {

struct Login {
    const User* user = nullptr;  // lives as long as the table
    std::string password;
};

// management 1.2
Result<Login, Response> log_in(const AccessTable& access, const Request& request,
                               std::span<const std::string> loopback_users);

}  // namespace revenant::http
