#include "net/proxy_header.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <netinet/in.h>
#include <vector>

namespace revenant::net {
namespace {

using namespace std::string_view_literals;
using Parsed = Result<std::optional<ProxyHeader>, std::string>;

constexpr std::string_view line_beginning = "PROXY ";
constexpr std::string_view signature = "\r\n\r\n\0\r\nQUIT\n"sv;
constexpr std::size_t fixed_bytes = 16;  // in version 2
// In version 2, one octet contains version and command, another one family and protocol.
constexpr std::uint8_t version_2 = 2;
constexpr std::uint8_t command_local = 0;
constexpr std::uint8_t command_proxy = 1;
constexpr std::uint8_t unspecified = 0x00;
constexpr std::uint8_t tcp_over_ipv4 = 0x11;
constexpr std::uint8_t tcp_over_ipv6 = 0x21;
constexpr std::uint8_t unix_stream = 0x31;

Unexpected<std::string> bad(const char* what) { return Unexpected{std::string(what)}; }

bool may_begin_with(std::string_view bytes, std::string_view beginning) {
    const std::size_t size = std::min(bytes.size(), beginning.size());
    return bytes.substr(0, size) == beginning.substr(0, size);
}

std::uint8_t octet(std::string_view bytes, std::size_t at) {
    return static_cast<std::uint8_t>(bytes[at]);
}

sockaddr_storage ipv4(std::string_view address, std::string_view port) {
    sockaddr_in end{};
    end.sin_family = AF_INET;
    std::memcpy(&end.sin_addr, address.data(), sizeof end.sin_addr);
    std::memcpy(&end.sin_port, port.data(), sizeof end.sin_port);
    sockaddr_storage all{};
    std::memcpy(&all, &end, sizeof end);
    return all;
}

sockaddr_storage ipv6(std::string_view address, std::string_view port) {
    sockaddr_in6 end{};
    end.sin6_family = AF_INET6;
    std::memcpy(&end.sin6_addr, address.data(), sizeof end.sin6_addr);
    std::memcpy(&end.sin6_port, port.data(), sizeof end.sin6_port);
    sockaddr_storage all{};
    std::memcpy(&all, &end, sizeof end);
    return all;
}

std::optional<sockaddr_storage> parse_text_endpoint(int family, std::string_view address,
                                                    std::string_view port) {
    std::array<char, sizeof(in6_addr)> parsed{};
    std::uint16_t number = 0;
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (error != std::errc() || end != port.data() + port.size()) return std::nullopt;
    const bool whole = address.find('\0') == std::string_view::npos;
    if (!whole || inet_pton(family, std::string(address).c_str(), parsed.data()) != 1) {
        return std::nullopt;
    }
    std::array<char, 2> in_order{};
    const std::uint16_t swapped = htons(number);
    std::memcpy(in_order.data(), &swapped, sizeof swapped);
    const std::string_view address_bytes(parsed.data(), parsed.size());
    const std::string_view port_bytes(in_order.data(), in_order.size());
    return family == AF_INET ? ipv4(address_bytes, port_bytes) : ipv6(address_bytes, port_bytes);
}

std::vector<std::string_view> split_fields(std::string_view line) {
    std::vector<std::string_view> words;
    while (true) {
        const std::size_t space = line.find(' ');
        words.push_back(line.substr(0, space));
        if (space == std::string_view::npos) return words;
        line.remove_prefix(space + 1);
    }
}

Parsed parse_line(std::string_view bytes) {
    const std::size_t end = bytes.substr(0, proxy_line_bytes_max).find("\r\n");
    if (end == std::string_view::npos) {
        if (bytes.size() >= proxy_line_bytes_max) return bad("PROXY header: unterminated line");
        return std::optional<ProxyHeader>{};
    }
    ProxyHeader header{end + 2, std::nullopt};
    const auto words = split_fields(bytes.substr(0, end));
    if (words[1] == "UNKNOWN") return std::optional(header);
    const bool is_tcp4 = words[1] == "TCP4";
    if ((!is_tcp4 && words[1] != "TCP6") || words.size() != 6) {
        return bad("PROXY header: not a TCP connection");
    }
    const int family = is_tcp4 ? AF_INET : AF_INET6;
    const auto source = parse_text_endpoint(family, words[2], words[4]);
    const auto destination = parse_text_endpoint(family, words[3], words[5]);
    if (!source || !destination) return bad("PROXY header: invalid address or port");
    header.pair = ProxiedPair{*source, *destination};
    return std::optional(header);
}

// The fixed part is followed by source, destination and their ports.
ProxiedPair pair_in_bytes(std::string_view details, std::size_t address_bytes) {
    const auto make = address_bytes == sizeof(in_addr) ? ipv4 : ipv6;
    const std::string_view ports = details.substr(2 * address_bytes);
    return {make(details, ports), make(details.substr(address_bytes), ports.substr(2))};
}

Parsed parse_binary(std::string_view bytes) {
    if (bytes.size() < fixed_bytes) return std::optional<ProxyHeader>{};
    const std::uint8_t version = octet(bytes, 12) >> 4;
    const std::uint8_t command = octet(bytes, 12) & 0x0F;
    const std::uint8_t family = octet(bytes, 13);
    const std::size_t size = static_cast<std::size_t>(octet(bytes, 14)) << 8 | octet(bytes, 15);
    if (version != version_2 || (command != command_local && command != command_proxy)) {
        return bad("PROXY header: unknown version or command");
    }
    if (size > proxy_details_bytes_max) return bad("PROXY header: too long");
    if (bytes.size() < fixed_bytes + size) return std::optional<ProxyHeader>{};
    ProxyHeader header{fixed_bytes + size, std::nullopt};
    if (command == command_local || family == unspecified || family == unix_stream) {
        return std::optional(header);
    }
    if (family != tcp_over_ipv4 && family != tcp_over_ipv6) {
        return bad("PROXY header: not a TCP connection");
    }
    const std::size_t address_bytes = family == tcp_over_ipv4 ? sizeof(in_addr) : sizeof(in6_addr);
    if (size < 2 * (address_bytes + sizeof(in_port_t))) {
        return bad("PROXY header: too short for its addresses");
    }
    header.pair = pair_in_bytes(bytes.substr(fixed_bytes, size), address_bytes);
    return std::optional(header);
}

}  // namespace

Result<std::optional<ProxyHeader>, std::string> parse_proxy_header(std::string_view bytes) {
    if (may_begin_with(bytes, line_beginning)) return parse_line(bytes);
    if (may_begin_with(bytes, signature)) return parse_binary(bytes);
    return bad("no PROXY header");
}

// Consumes the bytes of an incomplete header immediately, because the level-triggered reactor would
// report them again. Peeks first to find the end of the header.
ProxyHeaderReader::State ProxyHeaderReader::read(int descriptor) {
    while (true) {
        std::array<char, fixed_bytes + proxy_details_bytes_max> buffer;
        const ssize_t seen = ::recv(descriptor, buffer.data(), buffer.size(), MSG_PEEK);
        if (seen < 0 && (errno == EAGAIN || errno == EINTR)) return State::waiting;
        if (seen <= 0) return State::gone;
        const std::size_t before = held_.size();
        held_.append(buffer.data(), static_cast<std::size_t>(seen));
        const auto parsed = parse_proxy_header(held_);
        if (!parsed) {
            fault_ = parsed.error();
            return State::refused;
        }
        const std::size_t taken = (*parsed ? (*parsed)->bytes : held_.size()) - before;
        if (::recv(descriptor, buffer.data(), taken, 0) != static_cast<ssize_t>(taken)) {
            return State::gone;
        }
        if (!*parsed) continue;
        header_ = **parsed;
        return State::passed;
    }
}

}  // namespace revenant::net
