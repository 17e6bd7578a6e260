#include "runtime/login_throttle.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <iterator>
#include <netinet/in.h>

namespace revenant::runtime {
namespace {

constexpr std::size_t network_bytes = 8;

}  // namespace

std::string login_source(std::string_view address) {
    const std::string text(address.substr(0, address.find('%')));
    in6_addr parsed{};
    if (inet_pton(AF_INET6, text.c_str(), &parsed) != 1) return text;
    std::array<char, INET6_ADDRSTRLEN> shown{};
    if (IN6_IS_ADDR_V4MAPPED(&parsed)) {
        return inet_ntop(AF_INET, &parsed.s6_addr[12], shown.data(), shown.size());
    }
    if (IN6_IS_ADDR_LOOPBACK(&parsed)) return text;
    std::fill(std::begin(parsed.s6_addr) + network_bytes, std::end(parsed.s6_addr), 0);
    return inet_ntop(AF_INET6, &parsed, shown.data(), shown.size()) + std::string("/64");
}

}  // namespace revenant::runtime
