#include "amqp10/message/delivery.h"

#include "tests/support/amqp10_message.h"
#include "tests/support/hex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace revenant::amqp10 {
namespace {

using namespace std::string_literals;

Death death_of(std::string queue, DeathReason reason) {
    Death death;
    death.queue = std::move(queue);
    death.reason = reason;
    death.first_time = {1'700'000'000'123'456};
    death.last_time = {1'700'000'005'000'999};
    death.count = 2;
    death.exchange = "x";
    death.routing_keys = {"k", "cc"};
    return death;
}

EnvelopeRef envelope_with(void (*change)(Envelope&)) {
    auto* const envelope = new Envelope;
    envelope->exchange = "dlx";
    envelope->routing_keys = {"dead", "other"};
    change(*envelope);
    return EnvelopeRef::adopt(envelope);
}

EnvelopeRef one_death() {
    return envelope_with([](Envelope& envelope) {
        envelope.history = {{death_of("q", DeathReason::rejected)},
                            {"q", DeathReason::rejected, "x"},
                            DeathSummary{"q2", DeathReason::expired, "y"}};
        envelope.history.deaths.front().ttl_ms = 50;
    });
}

TEST(Delivery, OfAPlainMessage) {  // amqp10 6.1, 6.2: to the byte
    const MessageRef message = published(hello_body, "ex", "key");
    EXPECT_EQ(to_hex(delivered_bytes(*message)),
              to_hex(from_hex("005370 c006 05 42 40 40 41 43"
                              "005372 d1 00000028 00000004"
                              "a30a782d65786368616e6765 a1026578"
                              "a30d782d726f7574696e672d6b6579 a1036b6579") +
                     hello_body));
}

TEST(Delivery, TheLongestNamesAndTheLargestHeaderFit) {
    const std::string exchange(255, 'e');
    const std::string key(255, 'k');
    const std::string header = encoded(
        Header{.durable = true, .priority = 255, .ttl = std::numeric_limits<std::uint32_t>::max()});
    const auto got = delivered(*published(header + hello_body, exchange, key), nullptr,
                               {.failed_deliveries = std::numeric_limits<std::uint32_t>::max()});
    EXPECT_EQ(got->header[1], Datum::ubyte(255));
    EXPECT_EQ(got->header[2], Datum::uint(std::numeric_limits<std::uint32_t>::max()));
    EXPECT_EQ(got->header[4], Datum::uint(std::numeric_limits<std::uint32_t>::max()));
    EXPECT_EQ(*got->annotation("x-exchange"), Datum::string(exchange));
    EXPECT_EQ(*got->annotation("x-routing-key"), Datum::string(key));
}

TEST(Delivery, TheHeaderIsThatOfThePublisher) {  // amqp10 6.2
    const std::string message =
        encoded(Header{.durable = false, .priority = 9, .ttl = 70000}) + hello_body;
    const auto got = delivered(*published(from_hex("005370c0020142") + hello_body));
    EXPECT_EQ(got->header, (Data{Datum::boolean(false), Datum::null(), Datum::null(),
                                 Datum::boolean(true), Datum::uint(0)}));
    const auto all = delivered(*published(message));
    EXPECT_EQ(all->header[1], Datum::ubyte(9));
    EXPECT_EQ(all->header[2], Datum::uint(70000));
}

TEST(Delivery, OnlyAFirstDeliveryHasAFirstAcquirer) {  // DL-96, DL-153
    const MessageRef message = published(hello_body);
    const auto first_acquirer = [&](const Envelope* envelope, DeliveryInfo info) {
        return *delivered(*message, envelope, info)->header[3].as_boolean();
    };
    EXPECT_TRUE(first_acquirer(nullptr, {}));
    EXPECT_FALSE(first_acquirer(nullptr, {.redelivered = true}));
    EXPECT_FALSE(first_acquirer(nullptr, {.failed_deliveries = 1}));
    EXPECT_FALSE(first_acquirer(one_death().get(), {}));
    EXPECT_TRUE(first_acquirer(envelope_with([](Envelope&) {}).get(), {}));
    EXPECT_EQ(delivered(*message, nullptr, {.failed_deliveries = 300})->header[4],
              Datum::uint(300));
}

TEST(Delivery, ADeadLetterLivesForEver) {  // DL-70, DL-104
    const MessageRef message = published(encoded(Header{.durable = true, .ttl = 50}) + hello_body);
    EXPECT_EQ(delivered(*message)->header[2], Datum::uint(50));
    EXPECT_EQ(delivered(*message, one_death().get())->header[2], Datum::null());
    EXPECT_EQ(delivered(*message, envelope_with([](Envelope&) {}).get())->header[2],
              Datum::uint(50))
        << "annotations alone are not a death";
}

TEST(Delivery, DeathsAreAnArrayOfMaps) {  // DL-91 to DL-94
    const auto got = delivered(*published(hello_body), one_death().get());
    EXPECT_EQ(got->names(),
              "x-exchange x-routing-key x-opt-deaths x-first-death-queue x-first-death-reason "
              "x-first-death-exchange x-last-death-queue x-last-death-reason "
              "x-last-death-exchange ");
    const Datum expected = Datum::array({Datum::map({
        {Datum::symbol("ttl"), Datum::uint(50)},
        {Datum::symbol("queue"), Datum::string("q")},
        {Datum::symbol("reason"), Datum::symbol("rejected")},
        {Datum::symbol("count"), Datum::ulong(2)},
        {Datum::symbol("first-time"), Datum::timestamp(1'700'000'000'123)},
        {Datum::symbol("last-time"), Datum::timestamp(1'700'000'005'000)},
        {Datum::symbol("exchange"), Datum::string("x")},
        {Datum::symbol("routing-keys"), Datum::array({Datum::string("k"), Datum::string("cc")})},
    })});
    EXPECT_EQ(*got->annotation("x-opt-deaths"), expected);
    EXPECT_EQ(*got->annotation("x-first-death-queue"), Datum::string("q"));
    EXPECT_EQ(*got->annotation("x-first-death-reason"), Datum::string("rejected"));
    EXPECT_EQ(*got->annotation("x-first-death-exchange"), Datum::string("x"));
    EXPECT_EQ(*got->annotation("x-last-death-queue"), Datum::string("q2"));
    EXPECT_EQ(*got->annotation("x-last-death-reason"), Datum::string("expired"));
    EXPECT_EQ(*got->annotation("x-last-death-exchange"), Datum::string("y"));
    EXPECT_EQ(*got->annotation("x-exchange"), Datum::string("dlx"));  // DL-95
    EXPECT_EQ(*got->annotation("x-routing-key"), Datum::string("dead"));
}

TEST(Delivery, TheMostRecentDeathComesFirst) {  // DL-91
    const EnvelopeRef envelope = envelope_with([](Envelope& e) {
        e.history = {
            {death_of("late", DeathReason::delivery_limit), death_of("early", DeathReason::maxlen)},
            {"early", DeathReason::maxlen, "x"},
            std::nullopt};
    });
    const auto got = delivered(*published(hello_body), envelope.get());
    const Data& deaths = *got->annotation("x-opt-deaths")->as_elements();
    ASSERT_EQ(deaths.size(), 2U);
    EXPECT_EQ(*find(*deaths[0].as_map(), "queue"), Datum::string("late"));
    EXPECT_EQ(*find(*deaths[0].as_map(), "reason"), Datum::symbol("delivery_limit"));
    EXPECT_EQ(find(*deaths[0].as_map(), "ttl"), nullptr);
    EXPECT_EQ(deaths[0].as_map()->front().key, Datum::symbol("queue"));
    EXPECT_EQ(*find(*deaths[1].as_map(), "queue"), Datum::string("early"));
    EXPECT_EQ(got->annotation("x-last-death-queue"), nullptr) << "where RabbitMQ 3.12 is followed";
}

TEST(Delivery, TheBareMessageStaysTheSame) {  // amqp10 5.20, DL-97
    const std::string bare =
        encoded(Properties{.user_id = "u", .subject = "s"}) +
        application_properties({{Datum::string("p"), Datum::uint(7)}}) + hello_body + data("more") +
        section(descriptor::footer, Datum::map({{Datum::symbol("x-f"), Datum::null()}}));
    const MessageRef message =
        published(encoded(Header{}) + annotations({{Datum::symbol("x-a"), Datum::uint(1)}}) + bare);
    for (const EnvelopeRef& envelope : {EnvelopeRef(), one_death()}) {
        const std::string bytes = delivered_bytes(*message, envelope.get());
        ASSERT_GE(bytes.size(), bare.size());
        EXPECT_EQ(to_hex(bytes.substr(bytes.size() - bare.size())), to_hex(bare));
    }
}

TEST(Delivery, AnnotationsOfThePublisherGiveWayToTheBrokers) {  // amqp10 6.1, DL-106, DL-107
    const MessageRef message =
        published(annotations({{Datum::symbol("x-exchange"), Datum::string("claimed")},
                               {Datum::symbol("x-opt-deaths"), Datum::string("claimed")},
                               {Datum::symbol("x-first-death-queue"), Datum::string("claimed")},
                               {Datum::symbol("x-last-death-reason"), Datum::string("claimed")},
                               {Datum::symbol("x-mine"), Datum::list({Datum::uint(1)})},
                               {Datum::symbol("x-routing-key"), Datum::string("claimed")}}) +
                  hello_body);
    const auto alive = delivered(*message);
    EXPECT_EQ(alive->names(),
              "x-opt-deaths x-first-death-queue x-last-death-reason x-mine x-exchange "
              "x-routing-key ");
    EXPECT_EQ(*alive->annotation("x-exchange"), Datum::string("x"));
    EXPECT_EQ(*alive->annotation("x-opt-deaths"), Datum::string("claimed"));
    EXPECT_EQ(*alive->annotation("x-mine"), Datum::list({Datum::uint(1)}));
    const auto dead = delivered(*message, one_death().get());
    EXPECT_EQ(dead->annotation("x-opt-deaths")->type, Type::array);
    EXPECT_EQ(*dead->annotation("x-first-death-queue"), Datum::string("q"));
    EXPECT_EQ(*dead->annotation("x-last-death-reason"), Datum::string("expired"));
    EXPECT_EQ(dead->annotations.size(), 10U) << "each once";
}

TEST(Delivery, CountsAreLong) {  // amqp10 6.3, DL-152
    const MessageRef message = published(
        annotations({{Datum::symbol("x-delivery-count"), Datum::string("mine")}}) + hello_body);
    EXPECT_EQ(*delivered(*message)->annotation("x-delivery-count"), Datum::string("mine"));
    EXPECT_EQ(delivered(*message)->annotation("x-acquired-count"), nullptr);
    const auto got = delivered(*message, nullptr, {.counts = {.delivery = 2, .acquired = 300}});
    EXPECT_EQ(*got->annotation("x-delivery-count"), Datum::long_int(2));
    EXPECT_EQ(*got->annotation("x-acquired-count"), Datum::long_int(300));
    EXPECT_THAT(to_hex(got->bytes), ::testing::HasSubstr(to_hex("x-delivery-count"s) + "5502"));
}

TEST(Delivery, ConsumersAnnotationsCoverThePublishers) {  // DL-203
    const MessageRef message = published(annotations({{Datum::symbol("x-a"), Datum::uint(1)},
                                                      {Datum::symbol("x-b"), Datum::uint(2)}}) +
                                         hello_body);
    const EnvelopeRef envelope = envelope_with([](Envelope& e) {
        e.annotations = {{"x-b", from_hex("5209"), Value::int64(9)},
                         {"x-c", from_hex("c0020141"), Value::nothing()},
                         {"x-exchange", from_hex("a10161"), Value::string("a")}};
    });
    const auto got = delivered(*message, envelope.get());
    EXPECT_EQ(got->names(), "x-a x-exchange x-routing-key x-b x-c ");
    EXPECT_EQ(*got->annotation("x-b"), Datum::uint(9));
    EXPECT_EQ(*got->annotation("x-c"), Datum::list({Datum::boolean(true)}));
    EXPECT_EQ(*got->annotation("x-exchange"), Datum::string("dlx"));
}

TEST(Delivery, TheErrorOfARejectionIsShown) {  // DL-205, decided otherwise
    const EnvelopeRef envelope = envelope_with([](Envelope& e) {
        e.error = DeathError{"my:condition", "that was wrong"};
    });
    const auto got = delivered(*published(hello_body), envelope.get());
    EXPECT_EQ(*got->annotation("x-opt-death-error-condition"), Datum::symbol("my:condition"));
    EXPECT_EQ(*got->annotation("x-opt-death-error-description"), Datum::string("that was wrong"));
    EXPECT_EQ(delivered(*published(hello_body), one_death().get())
                  ->annotation("x-opt-death-error-condition"),
              nullptr);
}

TEST(Delivery, WithTheKeysTheListOfThemIsGone) {  // DL-66
    const MessageRef message = published(
        annotations({{Datum::symbol("x-cc"), Datum::list({Datum::string("k2")})}}) + hello_body);
    EXPECT_EQ(*delivered(*message, one_death().get())->annotation("x-cc"),
              Datum::list({Datum::string("k2")}));
    const EnvelopeRef replaced = envelope_with([](Envelope& e) { e.keys_replaced = true; });
    EXPECT_EQ(delivered(*message, replaced.get())->annotation("x-cc"), nullptr);
}

}  // namespace
}  // namespace revenant::amqp10
