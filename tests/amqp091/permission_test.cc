// Permissions (amqp091, section 15).
#include "tests/support/peer.h"

namespace revenant::amqp091 {
namespace {

class ProtocolPermissions : public WireTest {
  protected:
    // A channel of Bob, who may configure names starting with c, write to w and read from r.
    PeerChannel bob(const Permissions& permissions = {"^c", "^w", "^r"}) {
        add_user("bob", permissions);
        return open_channel({.user = "bob", .password = "secret"});
    }
    static std::string refused(std::string_view permission, std::string_view resource,
                               std::string_view user = "bob") {
        return "ACCESS_REFUSED - " + std::string(permission) + " access to " +
               std::string(resource) + " in vhost '/' refused for user '" + std::string(user) + "'";
    }
};
INSTANTIATE_TEST_SUITE_P(Wire, ProtocolPermissions, testing::Values(Distance::near, Distance::far),
                         distance_name);

// amqp091 15.1: patterns need not match the complete name.
TEST_P(ProtocolPermissions, PatternsAreSearchedFor) {
    auto user = bob({"shop", "", ""});
    user.declare("the-shop-queue");
    user.send(QueueDeclare{.queue = "the-office"});
    user.expect_close<QueueDeclare>(403, refused("configure", "queue 'the-office'"));
}

// amqp091 15.1: an empty pattern matches only the empty name.
TEST_P(ProtocolPermissions, AnEmptyPatternAllowsNothing) {
    auto user = bob({"", "", ""});
    user.publish("", "q", "body");
    user.expect_close<BasicPublish>(403, refused("write", "exchange 'amq.default'"));
    user.reopen();
    user.send(QueueDeclare{.queue = ""});
    const auto close = user.expect<ChannelClose>();
    EXPECT_EQ(close.reply_code, 403);
    EXPECT_TRUE(
        close.reply_text.starts_with("ACCESS_REFUSED - configure access to queue 'amq.gen-"));
}

// amqp091 15.1: the default exchange has the name amq.default.
TEST_P(ProtocolPermissions, TheDefaultExchangeHasAName) {
    auto user = bob({"", "^amq\\.default$", ""});
    channel().declare("q");
    user.publish("", "q", "body");
    user.expect_nothing();
    EXPECT_EQ(channel().count("q"), 1U);
}

// amqp091 15.2, 15.3
TEST_P(ProtocolPermissions, DeclaringAndDeletingNeedConfigure) {
    auto user = bob();
    user.declare("cq");
    user.declare_exchange("ce", "fanout");
    user.send(QueueDelete{.queue = "cq"});
    user.expect<QueueDeleteOk>();
    user.send(ExchangeDelete{.exchange = "ce"});
    user.expect<ExchangeDeleteOk>();
    user.send(QueueDeclare{.queue = "wq"});
    user.expect_close<QueueDeclare>(403, refused("configure", "queue 'wq'"));
    user.reopen();
    user.send(ExchangeDeclare{.exchange = "we", .type = "fanout"});
    user.expect_close<ExchangeDeclare>(403, refused("configure", "exchange 'we'"));
    user.reopen();
    user.send(QueueDelete{.queue = "rq"});
    user.expect_close<QueueDelete>(403, refused("configure", "queue 'rq'"));
    user.reopen();
    user.send(ExchangeDelete{.exchange = "re"});
    user.expect_close<ExchangeDelete>(403, refused("configure", "exchange 're'"));
}

// amqp091 15.3: the destination is checked first.
TEST_P(ProtocolPermissions, BindingNeedsWriteAndRead) {
    for (const char* name : {"wq", "rq"}) channel().declare(name);
    for (const char* name : {"re", "we", "rf"}) channel().declare_exchange(name, "fanout");
    auto user = bob();
    user.bind("wq", "re");
    user.send(QueueBind{.queue = "rq", .exchange = "we"});
    user.expect_close<QueueBind>(403, refused("write", "queue 'rq'"));
    user.reopen();
    user.send(QueueBind{.queue = "wq", .exchange = "we"});
    user.expect_close<QueueBind>(403, refused("read", "exchange 'we'"));
    user.reopen();
    user.send(QueueUnbind{.queue = "rq", .exchange = "re"});
    user.expect_close<QueueUnbind>(403, refused("write", "queue 'rq'"));
    user.reopen();
    user.send(QueueUnbind{.queue = "wq", .exchange = "we"});
    user.expect_close<QueueUnbind>(403, refused("read", "exchange 'we'"));
    user.reopen();
    user.send(ExchangeBind{.destination = "we", .source = "re"});
    user.expect<ExchangeBindOk>();
    user.send(ExchangeUnbind{.destination = "we", .source = "re"});
    user.expect<ExchangeUnbindOk>();
    user.send(ExchangeBind{.destination = "re", .source = "we"});
    user.expect_close<ExchangeBind>(403, refused("write", "exchange 're'"));
    user.reopen();
    user.send(ExchangeBind{.destination = "we", .source = "we"});
    user.expect_close<ExchangeBind>(403, refused("read", "exchange 'we'"));
    user.reopen();
    user.send(ExchangeUnbind{.destination = "re", .source = "rf"});
    user.expect_close<ExchangeUnbind>(403, refused("write", "exchange 're'"));
}

// amqp091 15.3
TEST_P(ProtocolPermissions, PublishingNeedsWrite) {
    channel().declare_exchange("we", "fanout");
    channel().declare_exchange("re", "fanout");
    auto user = bob();
    user.publish("we", "k", "body");
    user.expect_nothing();
    user.publish("re", "k", "body");
    user.expect_close<BasicPublish>(403, refused("write", "exchange 're'"));
    user.reopen();
    user.publish("missing", "k", "body");
    user.expect_close<BasicPublish>(403, refused("write", "exchange 'missing'"));
}

// amqp091 15.3
TEST_P(ProtocolPermissions, TakingMessagesNeedsRead) {
    channel().declare("rq");
    channel().declare("wq");
    auto user = bob();
    user.consume("rq");
    EXPECT_FALSE(user.try_get("rq"));
    user.send(QueuePurge{.queue = "rq"});
    user.expect<QueuePurgeOk>();
    user.send(BasicConsume{.queue = "wq"});
    user.expect_close<BasicConsume>(403, refused("read", "queue 'wq'"));
    user.reopen();
    user.send(BasicGet{.queue = "wq"});
    user.expect_close<BasicGet>(403, refused("read", "queue 'wq'"));
    user.reopen();
    user.send(QueuePurge{.queue = "wq"});
    user.expect_close<QueuePurge>(403, refused("read", "queue 'wq'"));
}

// amqp091 15.3, 6.8, 8.10: any of the three permissions is sufficient for a passive declare.
TEST_P(ProtocolPermissions, AskingNeedsAnyPermission) {
    auto user = bob();
    for (const char* name : {"cq", "wq", "rq", "xq"}) channel().declare(name);
    for (const char* name : {"ce", "we", "re", "xe"}) channel().declare_exchange(name, "fanout");
    for (const char* name : {"cq", "wq", "rq"}) {
        user.send(QueueDeclare{.queue = name, .passive = true});
        user.expect<QueueDeclareOk>();
    }
    for (const char* name : {"ce", "we", "re"}) {
        user.send(ExchangeDeclare{.exchange = name, .type = "fanout", .passive = true});
        user.expect<ExchangeDeclareOk>();
    }
    user.send(QueueDeclare{.queue = "xq", .passive = true});
    user.expect_close<QueueDeclare>(403, refused("configure", "queue 'xq'"));
    user.reopen();
    user.send(ExchangeDeclare{.exchange = "xe", .type = "fanout", .passive = true});
    user.expect_close<ExchangeDeclare>(403, refused("configure", "exchange 'xe'"));
}

// amqp091 15.4
TEST_P(ProtocolPermissions, TopicsHavePermissionsOfTheirOwn) {
    auto user = bob({".*", ".*", ".*"});
    world().change(SetTopicPermissions{"bob", "/", "amq.topic", {"^news\\.", "^weather\\."}});
    user.declare("q");
    user.publish("amq.topic", "news.sport", "body");
    user.bind("q", "amq.topic", "weather.#");
    user.expect_nothing();
    user.publish("amq.topic", "weather.today", "body");
    user.expect_close<BasicPublish>(
        403,
        "ACCESS_REFUSED - write access to topic 'weather.today' in exchange 'amq.topic' in vhost "
        "'/' refused for user 'bob'");
    user.reopen();
    user.send(QueueBind{.queue = "q", .exchange = "amq.topic", .routing_key = "news.#"});
    user.expect_close<QueueBind>(
        403,
        "ACCESS_REFUSED - read access to topic 'news.#' in exchange 'amq.topic' in vhost '/' "
        "refused for user 'bob'");
    user.reopen();
    user.declare_exchange("e", "fanout");
    user.send(ExchangeBind{.destination = "e", .source = "amq.topic", .routing_key = "news.#"});
    user.expect_close<ExchangeBind>(
        403,
        "ACCESS_REFUSED - read access to topic 'news.#' in exchange 'amq.topic' in vhost '/' "
        "refused for user 'bob'");
}

// amqp091 15.4: all keys are checked, including those in CC and BCC.
TEST_P(ProtocolPermissions, TopicsOfCopiesNeedPermissionToo) {
    auto user = bob({".*", ".*", ".*"});
    world().change(SetTopicPermissions{"bob", "/", "amq.topic", {"^news\\.", ".*"}});
    for (const char* header : {"CC", "BCC"}) {
        user.publish(
            "amq.topic", "news.sport", "body",
            Properties().headers(
                {{header, Value::array({Value::string("news.more"), Value::string("gossip")})}}));
        user.expect_close<BasicPublish>(
            403,
            "ACCESS_REFUSED - write access to topic 'gossip' in exchange 'amq.topic' in vhost '/' "
            "refused for user 'bob'");
        user.reopen();
    }
}

// amqp091 15.4: only topic exchanges are checked, and only if there is a row.
TEST_P(ProtocolPermissions, TopicPermissionsConcernTopicExchangesOnly) {
    auto user = bob({".*", ".*", ".*"});
    world().change(SetTopicPermissions{"bob", "/", "amq.direct", {"^never$", "^never$"}});
    user.declare("q");
    user.bind("q", "amq.direct", "k");
    user.publish("amq.direct", "k", "body");
    user.bind("q", "amq.topic", "anything");
    user.publish("amq.topic", "anything", "body");
    EXPECT_EQ(user.count("q"), 2U);
}

// amqp091 15.4: a pattern may contain the names of user and vhost.
TEST_P(ProtocolPermissions, APatternCanNameTheUser) {
    add_user("b.b", {".*", ".*", ".*"});
    auto user = open_channel({.user = "b.b", .password = "secret"});
    world().change(SetTopicPermissions{"b.b", "/", "amq.topic", {"^{vhost}\\.{username}$", ".*"}});
    user.publish("amq.topic", "/.b.b", "body");
    user.expect_nothing();
    user.publish("amq.topic", "/.bxb", "body");
    user.expect_close<BasicPublish>(
        403,
        "ACCESS_REFUSED - write access to topic '/.bxb' in exchange 'amq.topic' in vhost '/' "
        "refused for user 'b.b'");
}

// amqp091 15.5: a change takes effect immediately, even for a channel that has just published.
TEST_P(ProtocolPermissions, AChangeCountsAtOnce) {
    channel().declare_exchange("we", "fanout");
    auto user = bob();
    user.publish("we", "k", "body");
    user.publish("we", "k", "body");
    user.expect_nothing();
    world().change(SetPermissions{"bob", "/", {"^c", "^other", "^r"}});
    user.publish("we", "k", "body");
    user.expect_close<BasicPublish>(403, refused("write", "exchange 'we'"));
    user.reopen();
    world().change(SetPermissions{"bob", "/", {"^c", "^w", "^r"}});
    user.publish("we", "k", "body");
    user.expect_nothing();
}

}  // namespace
}  // namespace revenant::amqp091
