#include "auth/sasl.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace revenant {
namespace {

using namespace std::string_view_literals;

Value binary(std::string text) { return {ValueType::binary, std::move(text)}; }

Credentials plain(std::string_view response) {
    const auto credentials = parse_plain(response);
    return credentials ? *credentials : Credentials{"refused", "refused"};
}

// amqp091 2.10
TEST(Plain, GivesUserAndPassword) {
    EXPECT_EQ(plain("\0guest\0s3cret"sv), (Credentials{"guest", "s3cret"}));
    EXPECT_EQ(plain("\0guest\0"sv), (Credentials{"guest", ""}));
    EXPECT_EQ(plain("\0\0"sv), (Credentials{"", ""}));
    EXPECT_EQ(plain("\0\xff\0\xfe\x01"sv), (Credentials{"\xff", "\xfe\x01"}));
}

// amqp091 2.10, 3.4
TEST(Plain, RefusesEveryOtherForm) {
    for (const auto response :
         {""sv, "\0"sv, "guest"sv, "\0guest"sv, "guest\0guest"sv, "admin\0guest\0guest"sv,
          "\0guest\0guest\0"sv, "\0guest\0gu\0est"sv}) {
        const auto credentials = parse_plain(response);
        ASSERT_FALSE(credentials) << response;
        EXPECT_EQ(credentials.error(), LoginRefusal::malformed_response);
    }
}

// amqp091 2.10
TEST(Plain, RefusesEveryPrefixWithoutItsPassword) {
    const auto whole = "\0guest\0guest"sv;
    for (std::size_t size = 0; size <= whole.size(); ++size)
        EXPECT_EQ(parse_plain(whole.substr(0, size)).has_value(), size >= "\0guest\0"sv.size())
            << size;
}

// amqp091 2.11
TEST(Amqplain, GivesUserAndPassword) {
    const auto strings =
        parse_amqplain({{"LOGIN", Value::string("guest")}, {"PASSWORD", Value::string("s3cret")}});
    ASSERT_TRUE(strings);
    EXPECT_EQ(*strings, (Credentials{"guest", "s3cret"}));
    const auto bytes =
        parse_amqplain({{"PASSWORD", binary("s3cret")}, {"more", {}}, {"LOGIN", binary("a")}});
    ASSERT_TRUE(bytes);
    EXPECT_EQ(*bytes, (Credentials{"a", "s3cret"}));
}

// amqp091 2.11, 3.4
TEST(Amqplain, RefusesMissingFieldsAndOtherTypes) {
    const auto text = Value::string("x");
    for (const Table& table : {Table{}, Table{{"LOGIN", text}}, Table{{"PASSWORD", text}},
                               Table{{"login", text}, {"password", text}},
                               Table{{"LOGIN", Value::int32(1)}, {"PASSWORD", text}},
                               Table{{"LOGIN", text}, {"PASSWORD", Value::nothing()}},
                               Table{{"LOGIN", text}, {"PASSWORD", Value::array({text})}}}) {
        const auto credentials = parse_amqplain(table);
        ASSERT_FALSE(credentials);
        EXPECT_EQ(credentials.error(), LoginRefusal::malformed_response);
    }
}

// amqp091 2.5, 2.8
TEST(Mechanism, ListsThoseOffered) {
    const std::vector offered{Mechanism::plain, Mechanism::amqplain, Mechanism::anonymous};
    EXPECT_EQ(mechanism_list(offered), "PLAIN AMQPLAIN ANONYMOUS");
    EXPECT_EQ(mechanism_list({}), "");
}

// amqp091 2.8, 3.4
TEST(Mechanism, IsChosenAmongThoseOffered) {
    const std::vector offered{Mechanism::plain, Mechanism::amqplain};
    ASSERT_TRUE(choose_mechanism("PLAIN", offered));
    EXPECT_EQ(*choose_mechanism("PLAIN", offered), Mechanism::plain);
    EXPECT_EQ(*choose_mechanism("AMQPLAIN", offered), Mechanism::amqplain);
    for (const char* name : {"EXTERNAL", "ANONYMOUS", "RABBIT-CR-DEMO", "plain", "", "PLAIN "}) {
        ASSERT_FALSE(choose_mechanism(name, offered)) << name;
        EXPECT_EQ(choose_mechanism(name, offered).error(), LoginRefusal::unknown_mechanism);
    }
    for (const auto mechanism :
         {Mechanism::plain, Mechanism::amqplain, Mechanism::anonymous, Mechanism::external})
        EXPECT_EQ(mechanism_named(mechanism_name(mechanism)), mechanism);
}

class LogIn : public testing::Test {
  protected:
    static AccessTable make_table() {
        AccessRules rules;
        rules.users["guest"] = {
            "guest", make_hash("guest", Salt{1, 2, 3, 4}), {"administrator"}, {}};
        rules.users["closed"] = {"closed", {}, {}, {}};
        return AccessTable{rules};
    }
    LoginRefusal refusal(std::string user, std::string password) const {
        const auto logged_in = log_in(table, {std::move(user), std::move(password)});
        EXPECT_FALSE(logged_in);
        return logged_in ? LoginRefusal::unknown_mechanism : logged_in.error();
    }
    AccessTable table = make_table();
};

// amqp091 3.1
TEST_F(LogIn, GivesTheUserOfTheRightPassword) {
    const auto user = log_in(table, {"guest", "guest"});
    ASSERT_TRUE(user);
    EXPECT_EQ((*user)->name, "guest");
    EXPECT_TRUE((*user)->has_tag("administrator"));
}

// amqp091 3.1
TEST_F(LogIn, RefusesWrongPasswordsAndUnknownUsersAlike) {
    EXPECT_EQ(refusal("guest", "wrong"), LoginRefusal::bad_credentials);
    EXPECT_EQ(refusal("guest", ""), LoginRefusal::bad_credentials);
    EXPECT_EQ(refusal("nobody", "guest"), LoginRefusal::bad_credentials);
    EXPECT_EQ(refusal("nobody", "nobody"), LoginRefusal::bad_credentials);
    EXPECT_EQ(refusal("", ""), LoginRefusal::bad_credentials);
    EXPECT_EQ(refusal("closed", ""), LoginRefusal::bad_credentials);
    EXPECT_EQ(refusal("closed", "closed"), LoginRefusal::bad_credentials);
}

// amqp091 3.3
TEST_F(LogIn, KeepsLoopbackUsersAtHome) {
    const std::vector<std::string> loopback_users{"guest"};
    EXPECT_TRUE(check_location("guest", PeerLocation::loopback, loopback_users));
    EXPECT_TRUE(check_location("ann", PeerLocation::remote, loopback_users));
    EXPECT_TRUE(check_location("guest", PeerLocation::remote, {}));
    const auto remote = check_location("guest", PeerLocation::remote, loopback_users);
    ASSERT_FALSE(remote);
    EXPECT_EQ(remote.error(), LoginRefusal::loopback_only);
}

// amqp091 3.1
TEST_F(LogIn, TellsTheMechanismInTheRefusalText) {
    EXPECT_EQ(login_refused_text("PLAIN"),
              "Login was refused using authentication mechanism PLAIN. For details see the broker "
              "logfile.");
}

}  // namespace
}  // namespace revenant
