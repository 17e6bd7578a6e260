#include "net/stream.h"

#include "base/check.h"
#include "tests/support/certificates.h"
#include "tests/support/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <sys/socket.h>
#include <vector>

namespace revenant::net {
namespace {

using ::testing::Optional;
using ::testing::StartsWith;
using tls::TlsSettings;
using State = Stream::State;

constexpr int turns_max = 100'000;

std::string some_bytes(std::size_t size) {
    std::string bytes;
    for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>(i * i / 7));
    return bytes;
}

// The two ends of a connection. Reads and writes do not block.
struct Ends {
    Ends() { CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, descriptors) == 0); }
    ~Ends() {
        close_client();
        ::close(descriptors[0]);
    }
    Ends(const Ends&) = delete;
    Ends& operator=(const Ends&) = delete;
    int server() const { return descriptors[0]; }
    int client() const { return descriptors[1]; }
    void close_client() {
        if (descriptors[1] >= 0) ::close(std::exchange(descriptors[1], -1));
    }
    int descriptors[2]{};
};

TEST(PlainStream, GivesAndTakesWhatThereIs) {
    Ends ends;
    const auto stream = plain_stream(ends.server());
    std::string buffer(100, '\0');
    EXPECT_EQ(stream->read(buffer).state, State::waiting);
    ASSERT_EQ(::send(ends.client(), "hello", 5, 0), 5);
    EXPECT_EQ(stream->read(buffer).bytes, 5U);
    const std::vector<std::string_view> parts{"one", "two", "three"};
    EXPECT_EQ(stream->write(parts).bytes, 11U);
    EXPECT_EQ(::recv(ends.client(), buffer.data(), buffer.size(), 0), 11);
    EXPECT_EQ(buffer.substr(0, 11), "onetwothree");
    EXPECT_FALSE(stream->tls());
    ends.close_client();
    EXPECT_EQ(stream->read(buffer).state, State::gone);
    EXPECT_EQ(stream->write(parts).state, State::gone);
}

// An OpenSSL client connected to the broker's end.
class TlsStreams : public testing::Test {
  protected:
    TlsSettings server_settings() {
        const auto files = authority_.issue("server", {.subject = {{"CN", "localhost"}}});
        return {.certificate_file = files.certificate,
                .key_file = files.key,
                .ca_file = authority_.ca_file()};
    }
    TlsSettings verifying() {
        TlsSettings settings = server_settings();
        settings.verify = tls::Verify::peer;
        return settings;
    }
    CertificateAuthority::Files bunny() {
        return authority_.issue("client",
                                {.subject = {{"O", "rabbits"}, {"CN", "bunny"}},
                                 .alternative_names = "DNS:first,DNS:second,email:b@example.org"});
    }

    void connect(const TlsSettings& settings, const tls::CertificateLogin& login = {},
                 const CertificateAuthority::Files& certificate = {}) {
        const auto context = tls::TlsContext::load(settings);
        CHECK(context);
        server = tls_stream(ends.server(), *context, login);
        client_context_ = {SSL_CTX_new(TLS_client_method()), SSL_CTX_free};
        if (!certificate.key.empty()) {
            CHECK(SSL_CTX_use_certificate_chain_file(client_context_.get(),
                                                     certificate.certificate.c_str()) == 1);
            CHECK(SSL_CTX_use_PrivateKey_file(client_context_.get(), certificate.key.c_str(),
                                              SSL_FILETYPE_PEM) == 1);
        }
        client = {SSL_new(client_context_.get()), SSL_free};
        SSL_set_fd(client.get(), ends.client());
        SSL_set_connect_state(client.get());
        SSL_set_mode(client.get(), SSL_MODE_ENABLE_PARTIAL_WRITE);
    }

    // Both ends take turns until the handshake succeeds or fails.
    State shake_hands() {
        std::string buffer(1000, '\0');
        for (int i = 0; i < turns_max; ++i) {
            const int done = SSL_do_handshake(client.get());
            const Stream::Outcome outcome = server->read(buffer);
            if (outcome.state == State::gone) return State::gone;
            if (done == 1 && server->tls()->protocol != "unknown" && i > 3) return State::open;
        }
        return State::waiting;
    }

    std::string read_all(std::size_t size, std::size_t at_once) {
        std::string all;
        std::string buffer(at_once, '\0');
        for (int i = 0; i < turns_max && all.size() < size; ++i) {
            const Stream::Outcome outcome = server->read(buffer);
            all += buffer.substr(0, outcome.bytes);
        }
        return all;
    }

    Folder directory_;
    CertificateAuthority authority_{directory_.path()};
    Ends ends;
    std::shared_ptr<SSL_CTX> client_context_;
    std::unique_ptr<Stream> server;
    std::shared_ptr<SSL> client;
};

TEST_F(TlsStreams, CarryBytesBothWays) {
    connect(server_settings());
    ASSERT_EQ(shake_hands(), State::open);
    ASSERT_EQ(SSL_write(client.get(), "hello", 5), 5);
    EXPECT_EQ(read_all(5, 100), "hello");
    const std::vector<std::string_view> parts{"one", "two", "three"};
    ASSERT_EQ(server->write(parts).bytes, 11U);
    std::string buffer(100, '\0');
    ASSERT_EQ(SSL_read(client.get(), buffer.data(), 100), 11);
    EXPECT_EQ(buffer.substr(0, 11), "onetwothree");
    EXPECT_EQ(server->tls()->protocol, "TLSv1.3");
    EXPECT_THAT(server->tls()->cipher, StartsWith("TLS_"));
    EXPECT_EQ(server->certificate_user(), std::nullopt);
}

TEST_F(TlsStreams, TellOfBytesThatTheDescriptorDoesNotTellOf) {
    connect(server_settings());
    ASSERT_EQ(shake_hands(), State::open);
    const std::string sent = some_bytes(10'000);
    ASSERT_EQ(SSL_write(client.get(), sent.data(), 10'000), 10'000);
    EXPECT_EQ(read_all(7, 7), sent.substr(0, 7));
    EXPECT_TRUE(server->has_buffered());
    EXPECT_EQ(read_all(9'993, 1000), sent.substr(7));
    EXPECT_FALSE(server->has_buffered());
}

TEST_F(TlsStreams, WhatDoesNotFitGoesOnWithTheSameBytes) {
    connect(server_settings());
    ASSERT_EQ(shake_hands(), State::open);
    const std::string all = some_bytes(3'000'000);
    std::string_view unsent = all;
    std::string received;
    std::string buffer(20'000, '\0');
    int waited = 0;
    std::size_t offered = 5'000;  // grows, like the output of a busy connection
    for (int i = 0; i < turns_max && received.size() < all.size(); ++i) {
        while (!unsent.empty()) {
            const std::string_view some = unsent.substr(0, std::min(offered, unsent.size()));
            const std::vector<std::string_view> parts{some.substr(0, some.size() / 2),
                                                      some.substr(some.size() / 2)};
            const Stream::Outcome outcome = server->write(parts);
            ASSERT_NE(outcome.state, State::gone);
            unsent.remove_prefix(outcome.bytes);
            offered += 3'000;
            if (outcome.state == State::waiting) {
                waited += 1;
                break;
            }
        }
        const int got = SSL_read(client.get(), buffer.data(), 20'000);
        if (got > 0) received.append(buffer, 0, static_cast<std::size_t>(got));
    }
    EXPECT_EQ(received, all);
    EXPECT_GT(waited, 3);
}

TEST_F(TlsStreams, SomethingElseThanTlsIsTheEnd) {
    connect(server_settings());
    ASSERT_EQ(::send(ends.client(), "AMQP\0\0\x9\x1 and more", 17, 0), 17);
    std::string buffer(1000, '\0');
    EXPECT_EQ(server->read(buffer).state, State::gone);
    server->close_notify();
}

TEST_F(TlsStreams, TheEndIsToldToBoth) {
    connect(server_settings());
    ASSERT_EQ(shake_hands(), State::open);
    ASSERT_EQ(SSL_write(client.get(), "bye", 3), 3);
    SSL_shutdown(client.get());
    EXPECT_EQ(read_all(3, 100), "bye");
    std::string buffer(100, '\0');
    EXPECT_EQ(server->read(buffer).state, State::gone);
    server->close_notify();
    EXPECT_EQ(SSL_read(client.get(), buffer.data(), 100), 0);
    EXPECT_EQ(SSL_get_shutdown(client.get()) & SSL_RECEIVED_SHUTDOWN, SSL_RECEIVED_SHUTDOWN);
}

TEST_F(TlsStreams, ACertificateThatIsVerifiedNamesAUser) {
    connect(verifying(), {}, bunny());
    ASSERT_EQ(shake_hands(), State::open);
    EXPECT_THAT(server->certificate_user(), Optional(std::string("CN=bunny,O=rabbits")));
    EXPECT_EQ(server->tls()->peer_subject, "CN=bunny,O=rabbits");
    EXPECT_EQ(server->tls()->peer_issuer, "CN=Test CA");
}

TEST_F(TlsStreams, ByItsCommonName) {
    connect(verifying(), {.from = tls::LoginFrom::common_name}, bunny());
    ASSERT_EQ(shake_hands(), State::open);
    EXPECT_THAT(server->certificate_user(), Optional(std::string("bunny")));
}

TEST_F(TlsStreams, OrByOneOfItsAlternativeNames) {
    connect(verifying(),
            {.from = tls::LoginFrom::subject_alternative_name,
             .kind = tls::AlternativeName::dns,
             .index = 1},
            bunny());
    ASSERT_EQ(shake_hands(), State::open);
    EXPECT_THAT(server->certificate_user(), Optional(std::string("second")));
}

TEST_F(TlsStreams, ACertificateThatNobodyVerifiesNamesNobody) {
    connect(server_settings(), {}, bunny());
    ASSERT_EQ(shake_hands(), State::open);
    EXPECT_EQ(server->certificate_user(), std::nullopt);
}

TEST_F(TlsStreams, ACertificateOfAStrangerIsRefused) {
    const Folder elsewhere;
    CertificateAuthority stranger(elsewhere.path(), "Somebody else");
    connect(verifying(), {}, stranger.issue("client", {.subject = {{"CN", "bunny"}}}));
    EXPECT_EQ(shake_hands(), State::gone);
}

TEST_F(TlsStreams, WithoutACertificateOnlyIfNoneIsDemanded) {
    connect(verifying());
    EXPECT_EQ(shake_hands(), State::open);
    EXPECT_EQ(server->certificate_user(), std::nullopt);
}

TEST_F(TlsStreams, ADemandedCertificateMustCome) {
    TlsSettings settings = verifying();
    settings.fail_if_no_peer_certificate = true;
    connect(settings);
    EXPECT_EQ(shake_hands(), State::gone);
}

}  // namespace
}  // namespace revenant::net
