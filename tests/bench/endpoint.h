// Address and credentials of a broker.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace bench {

struct Login {
    std::string user = "guest";
    std::string password = "guest";
    std::string vhost = "/";
};

struct Endpoint {
    std::string host = "127.0.0.1";
    uint16_t port = 0;
    Login login;
    std::chrono::seconds timeout{60};
};

}  // namespace bench
