#include "net/network.h"

#include "base/check.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string>
#include <string_view>
#include <sys/socket.h>

namespace revenant::net {
namespace {

// A client that has been greeted: the broker knows it by then.
class Visitor {
  public:
    explicit Visitor(std::uint16_t port) : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        CHECK(::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
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
    runtime::Broker broker({});
    broker.start();
    for (const CatalogCommand& command : initial_commands({}, Salt{})) {
        ASSERT_TRUE(broker.change(command));
    }
    Network network({}, broker, [](std::string_view) {});
    const auto port = network.listen({"127.0.0.1"});
    ASSERT_TRUE(port);
    {
        const Visitor visitor(*port);
        const auto connections = network.connections();
        ASSERT_EQ(connections.size(), 1U);
        EXPECT_EQ(connections[0].name, "127.0.0.1:" + std::to_string(visitor.own_port()) +
                                           " -> 127.0.0.1:" + std::to_string(*port));
        EXPECT_TRUE(network.close_connection(connections[0].name, "enough"));
        EXPECT_FALSE(network.close_connection("nobody", "enough"));
    }
    network.shut_down(seconds(10));
    broker.stop();
}

}  // namespace
}  // namespace revenant::net
