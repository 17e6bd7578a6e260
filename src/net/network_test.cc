#include "net/network.h"

#include "base/check.h"
#include "tests/support/listening_broker.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string>
#include <string_view>
#include <sys/socket.h>

namespace revenant::net {
namespace {

// A client that has received connection.start, so the broker has registered it.
class Visitor {
  public:
    explicit Visitor(std::uint16_t port) : descriptor_(connect_to_loopback(port)) {
        constexpr std::string_view greeting{"AMQP\x00\x00\x09\x01", 8};
        CHECK(::send(descriptor_, greeting.data(), greeting.size(), 0) ==
              static_cast<ssize_t>(greeting.size()));
        char type = 0;
        CHECK(::recv(descriptor_, &type, 1, 0) == 1);
        CHECK(type == 1);
    }
    ~Visitor() { ::close(descriptor_); }
    Visitor(const Visitor&) = delete;
    Visitor& operator=(const Visitor&) = delete;

    std::uint16_t own_port() const {
        sockaddr_in address{};
        socklen_t size = sizeof address;
        CHECK(getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
        return ntohs(address.sin_port);
    }

  private:
    int descriptor_;
};

// amqp091 13.3
TEST(Network, AConnectionIsNamedByItsTwoEnds) {
    ListeningBroker listening;
    Network& network = listening.network;
    const Visitor visitor(listening.port);
    const auto connections = network.connections();
    ASSERT_EQ(connections.size(), 1U);
    EXPECT_EQ(connections[0].name, "127.0.0.1:" + std::to_string(visitor.own_port()) +
                                       " -> 127.0.0.1:" + std::to_string(listening.port));
    EXPECT_TRUE(network.close_connection(connections[0].name, "enough"));
    EXPECT_FALSE(network.close_connection("nobody", "enough"));
}

}  // namespace
}  // namespace revenant::net
