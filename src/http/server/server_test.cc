// The server with real sockets: client errors and limits.
#include "http/server/server.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <cstring>
#include <list>
#include <semaphore>
#include <sys/socket.h>
#include <thread>

namespace revenant::http {
namespace {

class Echo final : public Responder {
  public:
    Response respond(const Request& request) override {
        Response response;
        response.body = request.method + " " + request.target + " " +
                        std::to_string(request.body.size()) +
                        (request.from_loopback ? " loopback" : " far");
        if (request.path() == "/throw") throw std::runtime_error("broken");
        if (request.target == "/stay") {
            stays.release();
            may_go.acquire();
        }
        return response;
    }
    std::binary_semaphore stays{0};
    std::binary_semaphore may_go{0};
    std::optional<Response> refuse_early(const Request& request) override {
        if (request.find_header("authorization") != nullptr) return std::nullopt;
        Response response;
        response.status = 401;
        return response;
    }
};

class Peer {
  public:
    explicit Peer(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        timeval patience{20, 0};
        setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    }
    ~Peer() { ::close(socket_); }
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;

    void send(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (count <= 0) return;  // the server may have refused already
            bytes.remove_prefix(static_cast<std::size_t>(count));
        }
    }
    // Reads one response by its Content-Length, or up to the end of the stream without one.
    std::string read_response() {
        while (text_.find("\r\n\r\n") == std::string::npos) {
            if (!read_some()) return std::exchange(text_, {});
        }
        const std::size_t head = text_.find("\r\n\r\n") + 4;
        const std::size_t field = text_.find("Content-Length: ");
        const std::size_t body =
            field < head ? std::stoul(text_.substr(field + std::strlen("Content-Length: "))) : 0;
        while (text_.size() < head + body) {
            if (!read_some()) break;
        }
        std::string response = text_.substr(0, head + body);
        text_.erase(0, head + body);
        return response;
    }
    // Whether the server has closed the connection; false after a timeout.
    bool is_closed() { return !read_some() && closed_; }

  private:
    bool read_some() {
        char buffer[4096];
        const ssize_t count = ::recv(socket_, buffer, sizeof buffer, 0);
        closed_ = count == 0 || (count < 0 && errno == ECONNRESET);
        if (count <= 0) return false;
        text_.append(buffer, static_cast<std::size_t>(count));
        return true;
    }

    int socket_;
    bool closed_ = false;
    std::string text_;
};

class ServerTest : public testing::Test {
  protected:
    std::uint16_t start(const ServerSettings& settings = {}) {
        auto opened = Server::open(settings);
        EXPECT_TRUE(opened);
        server_ = std::move(opened).value();
        server_->start(echo_);
        return server_->port();
    }

    Echo echo_;
    std::unique_ptr<Server> server_;
};

std::string status_of(const std::string& response) { return response.substr(9, 3); }
std::string body_of(const std::string& response) {
    return response.substr(response.find("\r\n\r\n") + 4);
}

TEST_F(ServerTest, AnswersOneRequestAfterTheOtherOnOneConnection) {
    Peer peer(start());
    for (int i = 0; i < 3; ++i) {
        peer.send("GET /a?b HTTP/1.1\r\nHost: x\r\n\r\n");
        EXPECT_EQ(body_of(peer.read_response()), "GET /a?b 0 loopback");
    }
    peer.send("PUT /c HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcGET /d HTTP/1.1\r\n\r\n");
    EXPECT_EQ(body_of(peer.read_response()), "PUT /c 3 loopback");
    EXPECT_EQ(body_of(peer.read_response()), "GET /d 0 loopback");
}

TEST_F(ServerTest, ClosesWhenTheClientWishes) {
    Peer peer(start());
    peer.send("GET / HTTP/1.1\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(status_of(peer.read_response()), "200");
    EXPECT_TRUE(peer.is_closed());
}

TEST_F(ServerTest, AHeadHasTheLengthOfTheBodyAndNoBody) {
    Peer peer(start());
    peer.send("HEAD /a HTTP/1.1\r\nConnection: close\r\n\r\n");
    const std::string response = peer.read_response();
    EXPECT_NE(response.find("Content-Length: 17\r\n"), std::string::npos) << response;
    EXPECT_EQ(body_of(response), "");
}

TEST_F(ServerTest, TakesABodyInChunks) {
    Peer peer(start());
    peer.send("POST / HTTP/1.1\r\nAuthorization: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    peer.send("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n");
    EXPECT_EQ(body_of(peer.read_response()), "POST / 11 loopback");
}

TEST_F(ServerTest, ContinuesWhoAsksForIt) {
    Peer peer(start());
    peer.send("PUT / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    EXPECT_EQ(status_of(peer.read_response()), "100");
    peer.send("ab");
    EXPECT_EQ(body_of(peer.read_response()), "PUT / 2 loopback");
}

TEST_F(ServerTest, AFailureOfTheResponderIsA500) {
    Peer peer(start());
    peer.send("GET /throw HTTP/1.1\r\n\r\n");
    EXPECT_EQ(status_of(peer.read_response()), "500");
    peer.send("GET / HTTP/1.1\r\n\r\n");
    EXPECT_EQ(status_of(peer.read_response()), "200");
}

TEST_F(ServerTest, AFailureOfTheResponderIsNoted) {
    std::vector<std::string> noted;
    ServerSettings settings;
    settings.note_failure = [&](const Request& request, std::string_view what) {
        noted.push_back(request.method + " " + std::string(request.path()) + ": " +
                        std::string(what));
    };
    Peer peer(start(settings));
    peer.send("POST /throw?password=secret HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(status_of(peer.read_response()), "500");
    EXPECT_EQ(noted, std::vector<std::string>{"POST /throw: broken"});
}

TEST_F(ServerTest, ABodyBeyondTheLimitIsA400AndTheEnd) {  // management 1.5
    Peer peer(start({.body_bytes_max = 1000}));
    peer.send("PUT / HTTP/1.1\r\nContent-Length: 1001\r\n\r\n" + std::string(1001, 'x'));
    const std::string response = peer.read_response();
    EXPECT_EQ(status_of(response), "400");
    EXPECT_NE(response.find("Exceeded HTTP request body size limit"), std::string::npos);
    EXPECT_TRUE(peer.is_closed());
}

TEST_F(ServerTest, ChunksBeyondTheLimitAreA400AndTheEnd) {
    Peer peer(start({.body_bytes_max = 1000}));
    peer.send("PUT / HTTP/1.1\r\nAuthorization: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 20; ++i) peer.send("64\r\n" + std::string(100, 'x') + "\r\n");
    EXPECT_EQ(status_of(peer.read_response()), "400");
    EXPECT_TRUE(peer.is_closed());
}

TEST_F(ServerTest, NobodysLargeBodyIsRead) {
    Peer peer(start({.small_body_bytes_max = 10}));
    peer.send("PUT / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n");
    EXPECT_EQ(status_of(peer.read_response()), "401");
}

TEST_F(ServerTest, LargeBodiesTogetherAreBounded) {
    const std::uint16_t port = start({.small_body_bytes_max = 10, .large_bodies_bytes_max = 1500});
    const std::string head = "PUT / HTTP/1.1\r\nAuthorization: x\r\nContent-Length: 1000\r\n";
    Peer first(port);
    first.send(head + "Expect: 100-continue\r\n\r\n");
    EXPECT_EQ(status_of(first.read_response()), "100");
    Peer second(port);
    second.send(head + "\r\n");
    EXPECT_EQ(status_of(second.read_response()), "503");
    first.send(std::string(1000, 'x'));
    EXPECT_EQ(body_of(first.read_response()), "PUT / 1000 loopback");
    first.send("GET / HTTP/1.1\r\n\r\n");
    EXPECT_EQ(status_of(first.read_response()), "200");  // its reservation is released
    Peer third(port);
    third.send(head + "\r\n" + std::string(1000, 'x'));
    EXPECT_EQ(status_of(third.read_response()), "200");
}

TEST_F(ServerTest, HeadersBeyondTheLimitAreA431AndTheEnd) {
    Peer peer(start({.header_bytes_max = 1000}));
    peer.send("GET / HTTP/1.1\r\nX: " + std::string(5000, 'x') + "\r\n\r\n");
    EXPECT_EQ(status_of(peer.read_response()), "431");
    EXPECT_TRUE(peer.is_closed());
}

TEST_F(ServerTest, WhatIsNotHttpIsA400AndTheEnd) {
    Peer peer(start());
    peer.send("AMQP\x01\x01\r\n\r\n");
    EXPECT_EQ(status_of(peer.read_response()), "400");
    EXPECT_TRUE(peer.is_closed());
}

TEST_F(ServerTest, WhoSendsItsHeaderTooSlowlyIsCut) {
    Peer peer(start({.header_timeout = milliseconds(50)}));
    peer.send("GET / HTTP/1.1\r\nX: ");
    EXPECT_TRUE(peer.is_closed());
}

TEST_F(ServerTest, WhoSendsItsBodyTooSlowlyIsCut) {
    Peer peer(start({.body_timeout = milliseconds(50)}));
    peer.send("PUT / HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc");
    EXPECT_TRUE(peer.is_closed());
}

TEST_F(ServerTest, WhoAsksNothingIsCut) {
    Peer peer(start({.idle_timeout = seconds(60), .header_timeout = milliseconds(50)}));
    EXPECT_TRUE(peer.is_closed());
}

TEST_F(ServerTest, WhoAsksNothingMoreIsCut) {
    Peer peer(start({.idle_timeout = milliseconds(50)}));
    peer.send("GET / HTTP/1.1\r\n\r\n");
    EXPECT_EQ(status_of(peer.read_response()), "200");
    EXPECT_TRUE(peer.is_closed());
}

TEST_F(ServerTest, WhoWaitedLongestGivesWay) {
    const std::uint16_t port = start({.connections_max = 3});
    Peer silent(port);
    Peer slow(port);
    slow.send("GET / HT");
    Peer answered(port);
    answered.send("GET / HTTP/1.1\r\n\r\n");
    EXPECT_EQ(status_of(answered.read_response()), "200");
    std::list<Peer> more;
    for (int i = 0; i < 10; ++i) {
        Peer& peer = more.emplace_back(port);
        peer.send("GET / HTTP/1.1\r\n\r\n");
        EXPECT_EQ(status_of(peer.read_response()), "200");
    }
    EXPECT_TRUE(silent.is_closed());
    EXPECT_TRUE(slow.is_closed());
    EXPECT_TRUE(answered.is_closed());
    EXPECT_TRUE(more.front().is_closed());
    more.back().send("GET / HTTP/1.1\r\n\r\n");
    EXPECT_EQ(status_of(more.back().read_response()), "200");
}

TEST_F(ServerTest, ConnectionsAreBoundedAndComeBack) {
    const std::uint16_t port = start({.connections_max = 1});
    {
        Peer first(port);
        first.send("GET /stay HTTP/1.1\r\n\r\n");
        echo_.stays.acquire();
        Peer second(port);  // The first connection is being served and is not evicted.
        EXPECT_TRUE(second.is_closed());
        echo_.may_go.release();
        EXPECT_EQ(status_of(first.read_response()), "200");
    }
    // The slot is free once the server has seen the first connection close.
    for (int attempt = 0; attempt < 1000; ++attempt) {
        Peer third(port);
        third.send("GET / HTTP/1.1\r\n\r\n");
        if (!third.read_response().empty()) return;
    }
    FAIL() << "no place became free";
}

TEST_F(ServerTest, StopsWhileClientsAreConnected) {
    Peer peer(start());
    peer.send("GET / HTTP/1.1\r\n\r\n");
    EXPECT_EQ(status_of(peer.read_response()), "200");
    server_.reset();
    EXPECT_TRUE(peer.is_closed());
}

TEST_F(ServerTest, ATakenPortIsAnError) {
    const std::uint16_t port = start();
    const auto second = Server::open({.port = port});
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().find(std::to_string(port)), std::string::npos);
    EXPECT_FALSE(Server::open({.address = "not an address"}));
}

}  // namespace
}  // namespace revenant::http
