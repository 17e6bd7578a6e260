// ListeningBroker: a broker with the default definitions that listens on a loopback port.
#pragma once

#include "base/check.h"
#include "base/time.h"
#include "catalog/catalog.h"
#include "net/network.h"
#include "runtime/broker.h"

#include <cstdint>
#include <netinet/in.h>
#include <string_view>
#include <sys/socket.h>

namespace revenant::net {

class ListeningBroker {
  public:
    ListeningBroker() {
        broker.start();
        for (const CatalogCommand& command : initial_commands({}, Salt{})) {
            CHECK(broker.change(command));
        }
        port = network.listen({"127.0.0.1"}).value();
    }
    ~ListeningBroker() {
        network.shut_down(seconds(10));
        broker.stop();
    }
    ListeningBroker(const ListeningBroker&) = delete;
    ListeningBroker& operator=(const ListeningBroker&) = delete;

    runtime::Broker broker{runtime::BrokerSettings{}};
    Network network{NetworkSettings{}, broker, [](std::string_view) {}};
    std::uint16_t port = 0;
};

// The descriptor of a socket connected to the port. The caller closes it.
inline int connect_to_loopback(std::uint16_t port) {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(::connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    return descriptor;
}

}  // namespace revenant::net
