#include "net/socket.h"

#include "amqp091/codec/spec.gen.h"
#include "base/check.h"
#include "tests/support/frame_reader.h"
#include "tests/support/listening_broker.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <chrono>
#include <netinet/in.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <utility>

namespace revenant::net {
namespace {

using namespace amqp091;
using namespace std::string_literals;

template <typename... Methods>
std::string framed(std::uint16_t channel, const Methods&... methods) {
    std::string frames;
    (append_method(frames, channel, methods), ...);
    return frames;
}

// A client that sends its bytes in pieces of chosen sizes.
class Piecemeal {
  public:
    explicit Piecemeal(ListeningBroker& listening)
        : network_(listening.network), descriptor_(connect_to_loopback(listening.port)) {}
    ~Piecemeal() { ::close(descriptor_); }
    // Does not wait until the broker has read it.
    void send_on(std::string_view piece) {
        CHECK(::send(descriptor_, piece.data(), piece.size(), 0) ==
              static_cast<ssize_t>(piece.size()));
    }
    void finish() { ::shutdown(descriptor_, SHUT_WR); }
    void reset() {
        const linger at_once{1, 0};
        CHECK(::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0);
        ::close(std::exchange(descriptor_, -1));
    }
    Piecemeal(const Piecemeal&) = delete;
    Piecemeal& operator=(const Piecemeal&) = delete;

    // Returns when the broker has read it.
    void send(std::string_view piece) {
        CHECK(::send(descriptor_, piece.data(), piece.size(), 0) ==
              static_cast<ssize_t>(piece.size()));
        sent_ += piece.size();
        while (read_by_broker() < sent_) std::this_thread::yield();
    }

    void log_in() {
        send("AMQP\x00\x00\x09\x01"s);
        send(framed(0, ConnectionStartOk{"", "PLAIN", "\0guest\0guest"s, "en_US"},
                    ConnectionTuneOk{10, 131072, 0}, ConnectionOpen{"/"}));
        receive(ConnectionOpenOk::key);
    }

    Arrival receive(std::uint32_t key) {
        while (true) {
            if (auto read = reader_.next()) {
                if (read->arrival && read->arrival->key() == key) return *read->arrival;
                continue;
            }
            std::array<char, 65536> buffer;
            const ssize_t count = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
            CHECK(count > 0);
            reader_.add({buffer.data(), static_cast<std::size_t>(count)});
        }
    }

  private:
    std::uint64_t read_by_broker() {
        const auto connections = network_.connections();
        return connections.empty() ? 0 : connections[0].received_bytes;
    }

    Network& network_;
    int descriptor_;
    std::uint64_t sent_ = 0;
    FrameReader reader_;
};

std::string publish(std::string_view body) {
    std::string frames = framed(1, BasicPublish{.routing_key = "q"});
    append_content_header(frames, 1, body.size(), "\0\0"s);
    append_body_frames(frames, 1, body, 131072);
    return frames;
}

std::string some_body(std::size_t size) {
    std::string body;
    for (std::size_t i = 0; i < size; ++i) body.push_back(static_cast<char>(i * i / 7));
    return body;
}

class SocketPieces : public testing::TestWithParam<std::size_t> {};

// Frames of every size, split at every position that matters to the read buffer of a socket.
TEST_P(SocketPieces, AFrameIsTheSameHoweverItArrives) {
    ListeningBroker listening;
    Piecemeal client(listening);
    client.log_in();
    client.send(framed(1, ChannelOpen{}, QueueDeclare{.queue = "q"}));

    const std::string large = some_body(100'000);
    const std::string small = some_body(3000);
    const std::string frames = publish(small) + publish(large) + publish(small);
    std::string_view rest = frames;
    while (!rest.empty()) {
        const std::size_t size = std::min(GetParam(), rest.size());
        client.send(rest.substr(0, size));
        rest.remove_prefix(size);
    }
    for (const std::string& body : {small, large, small}) {
        client.send(framed(1, BasicGet{"q", true}));
        EXPECT_EQ(client.receive(BasicGetOk::key).body, body);
    }
}

// A client that is not read from because of an alarm may disconnect: its resources may have caused
// the alarm.
class SocketAbandoned : public testing::TestWithParam<bool> {};

TEST_P(SocketAbandoned, ABlockedClientThatHasGoneIsForgotten) {
    ListeningBroker listening;
    Piecemeal client(listening);
    client.log_in();
    client.send(framed(1, ChannelOpen{}, QueueDeclare{.queue = "q"}) + publish("first"));
    client.receive(QueueDeclareOk::key);
    listening.network.set_alarm("memory");
    for (std::size_t i = 0; i < listening.broker.reactor_count(); ++i) {
        listening.broker.ask(listening.broker.reactor(i), [](runtime::Reactor&) {});
    }
    client.send_on(publish("second"));
    if (GetParam()) {
        client.reset();
    } else {
        client.finish();
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!listening.network.connections().empty() && std::chrono::steady_clock::now() < end) {
        std::this_thread::yield();
    }
    EXPECT_TRUE(listening.network.connections().empty());
}

INSTANTIATE_TEST_SUITE_P(Ways, SocketAbandoned, testing::Bool());

INSTANTIATE_TEST_SUITE_P(Sizes, SocketPieces,
                         testing::Values(1000, 4096, 16 * 1024, 16 * 1024 + 1, 60'000, 1'000'000));

}  // namespace
}  // namespace revenant::net
