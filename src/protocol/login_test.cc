#include "protocol/login.h"

#include "auth/password.h"
#include "tests/support/idle_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace revenant::protocol {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A host with users that counts failed logins.
class Door final : public StubHost {
  public:
    Door() {
        AccessRules rules;
        rules.users["ann"].name = "ann";
        rules.users["ann"].password = make_hash("secret", Salt{});
        rules.users["CN=bob"].name = "CN=bob";
        set(std::move(rules));
    }
    bool is_login_throttled() override { return barred; }
    void login_failed() override { failures += 1; }
    std::optional<std::string> certificate_user() const override { return certificate; }

    bool barred = false;
    int failures = 0;
    std::optional<std::string> certificate;
};

ConnectionSettings all_mechanisms() {
    ConnectionSettings settings;
    settings.mechanisms = {Mechanism::external, Mechanism::plain, Mechanism::anonymous,
                           Mechanism::amqplain};
    return settings;
}

// The user or the refusal, as text.
std::string outcome(const Result<std::string, LoginRefusal>& login) {
    if (login) return "user " + *login;
    switch (login.error()) {
        case LoginRefusal::bad_credentials:
            return "bad credentials";
        case LoginRefusal::malformed_response:
            return "malformed";
        case LoginRefusal::too_many_failures:
            return "too many failures";
        default:
            return "another refusal";
    }
}

TEST(OfferedMechanisms, AreThoseOfTheSettingsInTheirOrder) {
    Door door;
    door.certificate = "CN=bob";
    EXPECT_THAT(offered_mechanisms(all_mechanisms(), door),
                ElementsAre(Mechanism::external, Mechanism::plain, Mechanism::anonymous,
                            Mechanism::amqplain));
    ConnectionSettings none;
    none.mechanisms = {};
    EXPECT_THAT(offered_mechanisms(none, door), IsEmpty());
}

TEST(OfferedMechanisms, LackThoseThatNobodyCouldUse) {
    const Door without_certificate;
    ConnectionSettings settings = all_mechanisms();
    EXPECT_THAT(offered_mechanisms(settings, without_certificate),
                ElementsAre(Mechanism::plain, Mechanism::anonymous, Mechanism::amqplain));
    settings.anonymous_login_user = "";
    EXPECT_THAT(offered_mechanisms(settings, without_certificate),
                ElementsAre(Mechanism::plain, Mechanism::amqplain));
}

TEST(LoginWithPassword, IsTheUserWhosePasswordItIs) {
    Door door;
    EXPECT_EQ(outcome(log_in_with_password(door, Credentials{"ann", "secret"})), "user ann");
    EXPECT_EQ(door.failures, 0);
}

TEST(LoginWithPassword, CountsWhatIsWrong) {
    Door door;
    for (const Credentials& wrong : {Credentials{"ann", "Secret"}, Credentials{"ann", ""},
                                     Credentials{"eve", "secret"}, Credentials{"CN=bob", ""}}) {
        const int before = door.failures;
        EXPECT_EQ(outcome(log_in_with_password(door, wrong)), "bad credentials") << wrong.user;
        EXPECT_EQ(door.failures, before + 1) << wrong.user;
    }
}

TEST(LoginWithPassword, WhatIsNoLoginIsNoWrongPassword) {
    Door door;
    EXPECT_EQ(outcome(log_in_with_password(door, Unexpected{LoginRefusal::malformed_response})),
              "malformed");
    EXPECT_EQ(door.failures, 0);
}

// Even the correct password is refused and not counted, so that the client does not learn that it
// is correct.
TEST(LoginWithPassword, IsNotLookedAtAfterTooManyFailures) {
    Door door;
    door.barred = true;
    EXPECT_EQ(outcome(log_in_with_password(door, Credentials{"ann", "secret"})),
              "too many failures");
    EXPECT_EQ(outcome(log_in_with_password(door, Credentials{"ann", "wrong"})),
              "too many failures");
    EXPECT_EQ(door.failures, 0);
}

TEST(LoginAnonymously, IsTheUserOfTheSettings) {
    Door door;
    ConnectionSettings settings;
    settings.anonymous_login_user = "ann";
    settings.anonymous_login_password = "secret";
    EXPECT_EQ(outcome(log_in_anonymously(door, settings)), "user ann");
    // Throttling of the address does not affect anonymous logins.
    door.barred = true;
    EXPECT_EQ(outcome(log_in_anonymously(door, settings)), "user ann");
}

TEST(LoginAnonymously, WithAnOutdatedPasswordIsRefusedAndNobodysFault) {
    Door door;
    ConnectionSettings settings;
    settings.anonymous_login_user = "ann";
    settings.anonymous_login_password = "outdated";
    EXPECT_EQ(outcome(log_in_anonymously(door, settings)), "bad credentials");
    EXPECT_EQ(door.failures, 0);
}

TEST(LoginByCertificate, IsTheUserItNames) {
    Door door;
    door.certificate = "CN=bob";
    EXPECT_EQ(outcome(log_in_by_certificate(door)), "user CN=bob");
    door.barred = true;
    EXPECT_EQ(outcome(log_in_by_certificate(door)), "user CN=bob");
}

TEST(LoginByCertificate, WithoutOneOrWithOneOfNobodyIsRefused) {
    Door door;
    EXPECT_EQ(outcome(log_in_by_certificate(door)), "bad credentials");
    for (const char* name : {"CN=eve", "cn=bob", "CN=bob ", ""}) {
        door.certificate = name;
        EXPECT_EQ(outcome(log_in_by_certificate(door)), "bad credentials") << name;
    }
    EXPECT_EQ(door.failures, 0);
}

}  // namespace
}  // namespace revenant::protocol
