// The header of the PROXY protocol, versions 1 and 2, with which a proxy passes on the addresses of
// a connection. It precedes everything else, TLS included.
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

// Including the line end, as defined by the protocol.
constexpr std::size_t proxy_line_bytes_max = 107;
// After the fixed part of version 2: addresses and additional fields such as certificate data.
constexpr std::size_t proxy_details_bytes_max = 1024;

// The addresses of the original connection.
struct ProxiedPair {
    sockaddr_storage source{};
    sockaddr_storage destination{};
};

struct ProxyHeader {
    std::size_t bytes = 0;  // the connection's own data follows
    // Absent: the proxy connects for itself or does not know the addresses, so the socket's own
    // apply.
    std::optional<ProxiedPair> pair;
};

// Absent: the bytes may be the start of a header, but more are needed.
Result<std::optional<ProxyHeader>, std::string> parse_proxy_header(std::string_view bytes);

// Reads the header from a socket and not a byte more.
class ProxyHeaderReader {
  public:
    enum class State : std::uint8_t { waiting, passed, refused, gone };

    State read(int descriptor);
    // Valid in the state `passed`.
    const ProxyHeader& header() const { return header_; }
    // Valid in the state `refused`.
    const std::string& fault() const { return fault_; }

  private:
    std::string held_;  // the start of a header
    ProxyHeader header_;
    std::string fault_;
};

}  // namespace revenant::net
