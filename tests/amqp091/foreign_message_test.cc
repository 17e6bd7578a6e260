// AMQP 1.0 messages over 0-9-1 and in HTTP API responses.
#include "http/api/messages/message_json.h"
#include "tests/support/amqp10_message.h"
#include "tests/support/peer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace revenant::amqp091 {
namespace {

using amqp10::Datum;
using ::testing::Contains;

class ForeignMessages : public testing::Test {
  protected:
    ForeignMessages() {
        peer_.connect();
        channel_.open();
        channel_.declare("q");
        world_.engine().handle(engine::OpenConnection{ConnectionId{900}, "guest"}, world_.now());
        world_.engine().handle(engine::OpenChannel{ConnectionId{900}, ChannelId{900}},
                               world_.now());
    }
    void publish(MessageRef message) {
        world_.engine().publish({.channel = ChannelId{900}, .message = std::move(message)},
                                world_.now());
        world_.carry();
    }
    static MessageRef message(std::string_view body) {
        return amqp10::published(
            amqp10::annotations({{Datum::symbol("x-a"), Datum::string("v")}}) +
                amqp10::encoded(amqp10::Properties{.content_type = "text/plain"}) +
                amqp10::data(body),
            "", "q");
    }
    static void expect_converted(const Received& got, std::string_view body) {
        EXPECT_EQ(got.body, body);
        EXPECT_EQ(got.exchange, "");
        EXPECT_EQ(got.routing_key, "q");
        EXPECT_EQ(got.decoded().content_type, "text/plain");
        EXPECT_EQ(got.decoded().delivery_mode, 1) << "without a header it is transient";
        EXPECT_THAT(got.headers(), Contains(Field{"x-a", Value::string("v")}));
    }

    World world_;
    Peer peer_{world_, {}};
    PeerChannel channel_{peer_, 1};
};

TEST_F(ForeignMessages, AreGot) {
    publish(message("hello"));
    expect_converted(channel_.get("q", /*no_ack=*/true), "hello");
}

TEST_F(ForeignMessages, AreDelivered) {
    const std::string large(300'000, 'b');
    publish(message("hello"));
    publish(message(""));
    publish(message(large));
    const std::string tag = channel_.consume("q", "me");
    for (const std::string_view body : {std::string_view("hello"), std::string_view(), {large}}) {
        const Received got = channel_.expect_delivery();
        expect_converted(got, body);
        EXPECT_EQ(got.consumer_tag, tag);
        channel_.ack(got.delivery_tag);
    }
}

TEST_F(ForeignMessages, AreShownByTheApi) {
    engine::GetAnswer got;
    got.message = message("hello");
    const auto shown = http::message_to_json(got, {});
    EXPECT_EQ(shown.at("payload").as_string(), "hello");
    EXPECT_EQ(shown.at("payload_bytes").to_number<int>(), 5);
    EXPECT_EQ(shown.at("properties").at("content_type").as_string(), "text/plain");
    EXPECT_EQ(shown.at("properties").at("headers").at("x-a").as_string(), "v");
}

}  // namespace
}  // namespace revenant::amqp091
