// The header of the PROXY protocol, versions 1 and 2: a proxy in front of the broker says whose
// connection it passes on. It stands before everything else, TLS included.
// https://www.haproxy.org/download/2.9/doc/proxy-protocol.txt
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>

namespace revenant::net {

// With its line end, as the protocol has it.
constexpr std::size_t proxy_line_bytes_max = 107;
// Behind the fixed part of version 2: addresses, and what proxies add of certificates and the like.
constexpr std::size_t proxy_details_bytes_max = 1024;

// Whose connection it is, and where it was meant to go.
struct ProxiedPair {
    sockaddr_storage source{};
    sockaddr_storage destination{};
};

struct ProxyHeader {
    std::size_t bytes = 0;  // what follows is the connection itself
    // Absent: the proxy speaks for itself or does not know, so the socket's own ends count.
    std::optional<ProxiedPair> pair;
};

// Absent: all of it may be a header, but there is more to come. The error says what is wrong.
Result<std::optional<ProxyHeader>, std::string> parse_proxy_header(std::string_view bytes);

// Takes the header from a socket and not one byte more.
class ProxyHeaderReader {
  public:
    enum class State : std::uint8_t { waiting, passed, refused, gone };

    State read(int descriptor);
    // Once it has passed.
    const ProxyHeader& header() const { return header_; }
    // Once it was refused.
    const std::string& fault() const { return fault_; }

  private:
    std::string held_;  // the beginning of a header
    ProxyHeader header_;
    std::string fault_;
};

}  // namespace revenant::net
