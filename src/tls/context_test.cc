#include "tls/context.h"

#include "tests/support/certificates.h"
#include "tests/support/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace revenant::tls {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Files {
    Folder directory;
    CertificateAuthority authority{directory.path()};
    CertificateAuthority::Files server =
        authority.issue("server", {.subject = {{"CN", "localhost"}}});

    TlsSettings settings() const {
        return {.certificate_file = server.certificate, .key_file = server.key};
    }
};

std::string failure(const TlsSettings& settings) {
    const auto loaded = TlsContext::load(settings);
    return loaded ? "" : loaded.error();
}

// Whether a server of this version and a client that accepts everything can connect.
bool can_talk(const Files& files, int version) {
    using Context = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;
    using Session = std::unique_ptr<SSL, decltype(&SSL_free)>;
    const Context server(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
    const Context client(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
    SSL_CTX_set_min_proto_version(server.get(), version);
    SSL_CTX_set_max_proto_version(server.get(), version);
    SSL_CTX_use_certificate_chain_file(server.get(), files.server.certificate.c_str());
    SSL_CTX_use_PrivateKey_file(server.get(), files.server.key.c_str(), SSL_FILETYPE_PEM);
    SSL_CTX_set_security_level(client.get(), 0);
    SSL_CTX_set_min_proto_version(client.get(), TLS1_VERSION);
    const Session listening(SSL_new(server.get()), SSL_free);
    const Session calling(SSL_new(client.get()), SSL_free);
    BIO* near = nullptr;
    BIO* far = nullptr;
    BIO_new_bio_pair(&near, 0, &far, 0);
    SSL_set_bio(listening.get(), near, near);
    SSL_set_bio(calling.get(), far, far);
    SSL_set_accept_state(listening.get());
    SSL_set_connect_state(calling.get());
    bool done = false;
    for (int i = 0; i < 20 && !done; ++i) {
        const int called = SSL_do_handshake(calling.get());
        done = SSL_do_handshake(listening.get()) == 1 && called == 1;
    }
    return done;
}

TEST(TlsContext, KnowsTheVersionsOfTheLibrary) {
    const Files files;
    std::vector<std::string> possible;
    if (can_talk(files, TLS1_3_VERSION)) possible.emplace_back("tlsv1.3");
    if (can_talk(files, TLS1_2_VERSION)) possible.emplace_back("tlsv1.2");
    if (can_talk(files, TLS1_1_VERSION)) possible.emplace_back("tlsv1.1");
    if (can_talk(files, TLS1_VERSION)) possible.emplace_back("tlsv1");
    EXPECT_EQ(available_versions(), possible);
    EXPECT_GE(possible.size(), 2U);
}

TEST(TlsContext, KnowsWhenItsCertificateEnds) {
    const Files files;
    const auto loaded = TlsContext::load(files.settings());
    ASSERT_TRUE(loaded) << loaded.error();
    EXPECT_GT((*loaded)->expires_at(), std::time(nullptr));
    EXPECT_LT((*loaded)->expires_at(), std::time(nullptr) + 3700);
}

TEST(TlsContext, NamesTheFileThatCannotBeUsed) {
    const Files files;
    TlsSettings settings = files.settings();
    settings.certificate_file = "/nowhere/server.pem";
    EXPECT_THAT(failure(settings),
                AllOf(HasSubstr("/nowhere/server.pem"), HasSubstr("No such file")));
    settings = files.settings();
    settings.key_file = files.server.certificate;
    EXPECT_THAT(failure(settings), HasSubstr("key " + files.server.certificate));
    settings = files.settings();
    settings.verify = Verify::peer;
    EXPECT_THAT(failure(settings), HasSubstr("requires a CA file"));
    settings.ca_file = files.server.key;
    EXPECT_THAT(failure(settings), HasSubstr("CA file " + files.server.key));
    EXPECT_THAT(failure({}), HasSubstr("no certificate"));
}

TEST(TlsContext, TheKeyMustBeThatOfTheCertificate) {
    Files files;
    TlsSettings settings = files.settings();
    settings.key_file = files.authority.issue("other", {.subject = {{"CN", "other"}}}).key;
    EXPECT_THAT(failure(settings), HasSubstr(settings.key_file));
}

TEST(TlsContext, AKeyMayHaveAPassword) {
    Files files;
    const auto locked =
        files.authority.issue("locked", {.subject = {{"CN", "locked"}}, .key_password = "open up"});
    TlsSettings settings{.certificate_file = locked.certificate, .key_file = locked.key};
    settings.key_password = "wrong";
    EXPECT_THAT(failure(settings), HasSubstr(locked.key));
    settings.key_password = "open up";
    EXPECT_EQ(failure(settings), "");
}

TEST(TlsContext, OnlyVersionsThatAreSafeAreSupported) {
    const Files files;
    TlsSettings settings = files.settings();
    settings.versions = {"tlsv1.2", "tlsv1"};
    EXPECT_THAT(failure(settings), HasSubstr("'tlsv1'"));
    settings.versions = {};
    EXPECT_THAT(failure(settings), HasSubstr("no TLS version"));
    settings.versions = {"tlsv1.2"};
    settings.ciphers = "NO-SUCH-CIPHER";
    EXPECT_THAT(failure(settings), HasSubstr("NO-SUCH-CIPHER"));
}

TEST(ReloadableTlsContext, KeepsWhatWasInForceIfTheNewFilesCannotBeUsed) {
    Files files;
    const auto keeper = ReloadableTlsContext::open(files.settings());
    ASSERT_TRUE(keeper);
    const auto first = (*keeper)->current();
    std::ofstream(files.server.certificate, std::ios::trunc) << "nonsense";
    EXPECT_FALSE((*keeper)->reload());
    EXPECT_EQ((*keeper)->current(), first);
    files.authority.issue("server", {.subject = {{"CN", "localhost"}}});
    EXPECT_TRUE((*keeper)->reload());
    EXPECT_NE((*keeper)->current(), first);
}

}  // namespace
}  // namespace revenant::tls
