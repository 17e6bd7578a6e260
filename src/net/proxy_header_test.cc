#include "net/proxy_header.h"

#include "net/socket_address.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace revenant::net {
namespace {

using namespace std::string_literals;

const std::string proxy_signature = "\r\n\r\n\0\r\nQUIT\n"s;
const std::string ipv4_ends = "\xC0\x00\x02\x01\xC6\x33\x64\x07\xDC\x04\x16\x28"s;
const std::string ipv6_ends =
    "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01"
    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\xDC\x04\x16\x28"s;

std::string binary_header(char command, char family, const std::string& details) {
    std::string bytes = proxy_signature + command + family;
    bytes += static_cast<char>(details.size() >> 8);
    bytes += static_cast<char>(details.size());
    return bytes + details;
}

struct Expected {
    std::string bytes;
    std::string source;  // empty: the socket's own
    std::string destination;
};

std::vector<Expected> valid_headers() {
    return {
        {"PROXY TCP4 192.0.2.1 198.51.100.7 56324 5672\r\n", "192.0.2.1:56324",
         "198.51.100.7:5672"},
        {"PROXY TCP6 2001:db8::1 ::1 56324 5672\r\n", "2001:db8::1:56324", "::1:5672"},
        {"PROXY UNKNOWN\r\n", "", ""},
        {"PROXY UNKNOWN ffff::1 ffff::2 65535 65535 and more\r\n", "", ""},
        {binary_header('\x21', '\x11', ipv4_ends), "192.0.2.1:56324", "198.51.100.7:5672"},
        {binary_header('\x21', '\x21', ipv6_ends), "2001:db8::1:56324", "::1:5672"},
        // Additional fields of the proxy follow the addresses.
        {binary_header('\x21', '\x11', ipv4_ends + std::string(300, '\x04')), "192.0.2.1:56324",
         "198.51.100.7:5672"},
        {binary_header('\x20', '\x00', ""), "", ""},
        {binary_header('\x20', '\x11', ipv4_ends), "", ""},
        {binary_header('\x21', '\x00', "whatever"), "", ""},
        {binary_header('\x21', '\x31', std::string(216, '/')), "", ""},
    };
}

void expect_header(const ProxyHeader& header, const Expected& expected) {
    EXPECT_EQ(header.bytes, expected.bytes.size());
    ASSERT_EQ(header.pair.has_value(), !expected.source.empty());
    if (!header.pair) return;
    EXPECT_EQ(show_address(header.pair->source), expected.source);
    EXPECT_EQ(show_address(header.pair->destination), expected.destination);
}

TEST(ProxyHeader, EveryPrefixOfAHeaderWaitsForMore) {
    for (const Expected& expected : valid_headers()) {
        for (std::size_t size = 0; size < expected.bytes.size(); ++size) {
            // A separate allocation, so that the sanitizer detects a read past its end.
            const std::vector<char> prefix(expected.bytes.begin(),
                                           expected.bytes.begin() + static_cast<long>(size));
            const auto parsed = parse_proxy_header({prefix.data(), prefix.size()});
            ASSERT_TRUE(parsed) << parsed.error();
            EXPECT_FALSE(*parsed) << size;
        }
        for (const char* rest : {"", "AMQP\0\0\x09\x01", "\r\n"}) {
            const auto parsed = parse_proxy_header(expected.bytes + rest);
            ASSERT_TRUE(parsed) << parsed.error();
            ASSERT_TRUE(*parsed);
            expect_header(**parsed, expected);
        }
    }
}

TEST(ProxyHeader, WhatIsNoneIsRefusedAtOnce) {
    for (const std::string& bytes :
         {"AMQP\0\0\x09\x01"s, "\x16\x03\x01"s, "G"s, "PROXY\t"s, "proxy "s, "\r\n\r\nX"s,
          "PROXY \r\n"s, "PROXY TCP4\r\n"s, "PROXY UDP4 1.1.1.1 2.2.2.2 1 2\r\n"s,
          "PROXY TCP4 1.1.1.1 2.2.2.2 1\r\n"s, "PROXY TCP4 1.1.1.1 2.2.2.2 1 2 3\r\n"s,
          "PROXY TCP4 1.1.1.1 2.2.2.2 1 65536\r\n"s, "PROXY TCP4 1.1.1.1 2.2.2.2 -1 2\r\n"s,
          "PROXY TCP4 1.1.1.1 2.2.2.2  2\r\n"s, "PROXY TCP4 1.1.1.256 2.2.2.2 1 2\r\n"s,
          "PROXY TCP4 ::1 ::1 1 2\r\n"s, "PROXY TCP6 1.1.1.1 2.2.2.2 1 2\r\n"s,
          "PROXY TCP4 1.1.1.1\0 2.2.2.2 1 2\r\n"s, "PROXY UNKNOWN" + std::string(94, 'x'),
          binary_header('\x11', '\x11', ipv4_ends), binary_header('\x22', '\x11', ipv4_ends),
          binary_header('\x21', '\x12', ipv4_ends), binary_header('\x21', '\x11', "short"),
          binary_header('\x21', '\x21', ipv4_ends),
          // Refused because of the declared length, before the rest arrives.
          proxy_signature + "\x21\x11\x04\x01"}) {
        const auto parsed = parse_proxy_header(bytes);
        EXPECT_FALSE(parsed) << bytes;
    }
}

TEST(ProxyHeader, NoChangeOfBytesIsTooMuch) {
    std::mt19937 random(7);
    for (const Expected& expected : valid_headers()) {
        for (int i = 0; i < 2'000; ++i) {
            std::vector<char> bytes(expected.bytes.begin(), expected.bytes.end());
            for (std::size_t n = 1 + random() % 3; n > 0; --n) {
                bytes[random() % bytes.size()] = static_cast<char>(random());
            }
            bytes.resize(bytes.size() - random() % 4);
            const auto parsed = parse_proxy_header({bytes.data(), bytes.size()});
            if (!parsed || !*parsed) continue;
            EXPECT_LE((*parsed)->bytes, bytes.size());
        }
    }
}

class Pair {
  public:
    Pair() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends_.data()), 0); }
    ~Pair() {
        ::close(ends_[0]);
        hang_up();
    }
    Pair(const Pair&) = delete;
    Pair& operator=(const Pair&) = delete;

    int descriptor() const { return ends_[0]; }
    void send(std::string_view bytes) const {
        EXPECT_EQ(::send(ends_[1], bytes.data(), bytes.size(), 0),
                  static_cast<ssize_t>(bytes.size()));
    }
    void hang_up() {
        if (ends_[1] >= 0) ::close(ends_[1]);
        ends_[1] = -1;
    }
    std::string rest() const {
        std::array<char, 64> buffer;
        const ssize_t count = ::recv(ends_[0], buffer.data(), buffer.size(), 0);
        return count < 0 ? "" : std::string(buffer.data(), static_cast<std::size_t>(count));
    }

  private:
    std::array<int, 2> ends_{};
};

TEST(ProxyHeaderReader, TakesTheHeaderAndNothingBehindIt) {
    for (const Expected& expected : valid_headers()) {
        const Pair pair;
        ProxyHeaderReader gate;
        pair.send(expected.bytes + "AMQP");
        ASSERT_EQ(gate.read(pair.descriptor()), ProxyHeaderReader::State::passed) << gate.fault();
        expect_header(gate.header(), expected);
        EXPECT_EQ(pair.rest(), "AMQP");
    }
}

TEST(ProxyHeaderReader, TakesItByteByByteAndLeavesNothingWaiting) {
    for (const Expected& expected : valid_headers()) {
        const Pair pair;
        ProxyHeaderReader gate;
        for (const char byte : expected.bytes.substr(0, expected.bytes.size() - 1)) {
            pair.send({&byte, 1});
            ASSERT_EQ(gate.read(pair.descriptor()), ProxyHeaderReader::State::waiting);
            EXPECT_EQ(pair.rest(), "");  // the reactor does not report it again
        }
        pair.send(expected.bytes.substr(expected.bytes.size() - 1) + "A");
        ASSERT_EQ(gate.read(pair.descriptor()), ProxyHeaderReader::State::passed);
        expect_header(gate.header(), expected);
        EXPECT_EQ(pair.rest(), "A");
    }
}

TEST(ProxyHeaderReader, TellsWhoIsWrongFromWhoIsGone) {
    Pair pair;
    ProxyHeaderReader gate;
    EXPECT_EQ(gate.read(pair.descriptor()), ProxyHeaderReader::State::waiting);
    pair.send("PROXY ");
    EXPECT_EQ(gate.read(pair.descriptor()), ProxyHeaderReader::State::waiting);
    pair.hang_up();
    EXPECT_EQ(gate.read(pair.descriptor()), ProxyHeaderReader::State::gone);
    const Pair other;
    ProxyHeaderReader strict;
    other.send("AMQP");
    EXPECT_EQ(strict.read(other.descriptor()), ProxyHeaderReader::State::refused);
    EXPECT_EQ(strict.fault(), "no PROXY header");
}

}  // namespace
}  // namespace revenant::net
