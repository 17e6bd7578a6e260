#include "tls/context.h"

#include "tests/support/certificates.h"
#include "tests/support/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>
#include <fstream>

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

// Older ones depend on the security level that the system has chosen.
TEST(TlsContext, KnowsTheVersionsOfTheLibrary) {
    const std::vector<std::string> versions = available_versions();
    ASSERT_GE(versions.size(), 2U);
    EXPECT_EQ(versions[0], "tlsv1.3");
    EXPECT_EQ(versions[1], "tlsv1.2");
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
    EXPECT_THAT(failure(settings), HasSubstr("no CA file"));
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

TEST(TlsKeeper, KeepsWhatWasInForceIfTheNewFilesCannotBeUsed) {
    Files files;
    const auto keeper = TlsKeeper::open(files.settings());
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
