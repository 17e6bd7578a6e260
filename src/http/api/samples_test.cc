#include "http/api/samples.h"

#include "http/api_test.h"

#include <gtest/gtest.h>

namespace revenant::http {
namespace {

Sample sample(std::int64_t second, std::uint64_t published, std::uint64_t messages = 0) {
    Sample one{Timestamp{} + seconds(second), {}};
    one.stats[Stat::publish] = published;
    one.stats[Stat::messages] = messages;
    return one;
}

TEST(Trend, ARateIsThatOfTheLastInterval) {
    const Trend trend({sample(0, 0, 9), sample(5, 100, 30), sample(10, 150, 10)},
                      Timestamp{} + seconds(10));
    EXPECT_DOUBLE_EQ(trend.rate(Stat::publish), 10);
    EXPECT_DOUBLE_EQ(trend.rate(Stat::messages), -4);
    EXPECT_DOUBLE_EQ(Trend().rate(Stat::publish), 0);
    EXPECT_DOUBLE_EQ(Trend({sample(0, 7)}, Timestamp{}).rate(Stat::publish), 0);
}

TEST(Trend, WhatBeganAnewHasNoRate) {
    const Trend trend({sample(0, 100), sample(5, 3)}, Timestamp{} + seconds(5));
    EXPECT_DOUBLE_EQ(trend.rate(Stat::publish), 0);
}

TEST(Trend, ARangeIsFilledWithWhatWasKnownThen) {  // management 2.5
    const Trend trend({sample(100, 10), sample(105, 20), sample(110, 40)},
                      Timestamp{} + seconds(112));
    const json::object details = trend.details(Stat::publish, Range{20, 5});
    const json::array& samples = details.at("samples").get_array();
    ASSERT_EQ(samples.size(), 5U);
    EXPECT_EQ(samples[0].at("sample").to_number<int>(), 40);
    EXPECT_EQ(samples[0].at("timestamp").to_number<std::int64_t>(), 110'000);
    EXPECT_EQ(samples[1].at("sample").to_number<int>(), 20);
    EXPECT_EQ(samples[2].at("sample").to_number<int>(), 10);
    EXPECT_EQ(samples[4].at("sample").to_number<int>(), 10);  // there is no older sample
    EXPECT_DOUBLE_EQ(details.at("avg_rate").to_number<double>(), 1.5);
    EXPECT_DOUBLE_EQ(details.at("avg").to_number<double>(), 18);
    EXPECT_FALSE(trend.details(Stat::publish, std::nullopt).contains("samples"));
}

class SamplesTest : public ApiTest {
  protected:
    void take(std::int64_t second) {
        api_->context().samples().take(api_->context(), Timestamp{} + seconds(second));
    }
    Samples& samples() { return api_->context().samples(); }
};

TEST_F(SamplesTest, ObjectsAreSampledOnlyWhileSomebodyAsks) {
    put("/queues/%2F/q", "{}");
    take(0);
    EXPECT_EQ(samples().object_count(), 0U);
    samples().extend_interest(Timestamp{} + seconds(1));
    take(5);
    EXPECT_EQ(samples().object_count(), 2U);  // the vhost and the queue
    take(299);
    EXPECT_EQ(samples().object_count(), 2U);
    take(302);
    EXPECT_EQ(samples().object_count(), 0U);
}

TEST_F(SamplesTest, AQueueHasItsRates) {
    put("/queues/%2F/q", "{}");
    samples().extend_interest(Timestamp{});
    take(0);
    for (int i = 0; i < 10; ++i) {
        send("POST", "/exchanges/%2F/amq.default/publish",
             R"({"properties":{},"routing_key":"q","payload":"x","payload_encoding":"string"})");
    }
    take(5);
    const json::value queue = get("/queues/%2F/q");
    EXPECT_EQ(queue.at("message_stats").at("publish").to_number<int>(), 10);
    EXPECT_DOUBLE_EQ(queue.at("message_stats").at("publish_details").at("rate").to_number<double>(),
                     2);
    EXPECT_DOUBLE_EQ(queue.at("messages_details").at("rate").to_number<double>(), 2);
    const json::value exchange = get("/exchanges/%2F/amq.default");
    EXPECT_DOUBLE_EQ(
        exchange.at("message_stats").at("publish_in_details").at("rate").to_number<double>(), 2);
    const json::value overview = get("/overview");
    EXPECT_DOUBLE_EQ(
        overview.at("message_stats").at("publish_details").at("rate").to_number<double>(), 2);
    EXPECT_DOUBLE_EQ(
        get("/vhosts/%2F").at("message_stats").at("confirm_details").at("rate").to_number<double>(),
        2);
    EXPECT_GE(overview.at("churn_rates").at("connection_created").to_number<int>(), 10);
    EXPECT_EQ(get("/queues/%2F").at(0).at("message_stats").at("publish").to_number<int>(), 10);
}

TEST_F(SamplesTest, WhoLooksAtOneWithARangeGetsItsHistory) {
    put("/queues/%2F/q", "{}");
    samples().extend_interest(Timestamp{});
    const std::string path = "/queues/%2F/q?lengths_age=20&lengths_incr=5";
    // Before the first sample, the current value fills the range.
    EXPECT_EQ(get(path).at("messages_details").at("samples").at(0).at("sample"), 0);
    for (int second = 0; second <= 30; second += 5) take(second);
    EXPECT_EQ(get(path).at("messages_details").at("samples").get_array().size(), 5U);
    for (const char* wrong :
         {"lengths_age=20", "lengths_age=x&lengths_incr=5", "lengths_age=0&lengths_incr=5",
          "msg_rates_age=1000000&msg_rates_incr=1"}) {
        EXPECT_EQ(send("GET", std::string("/queues/%2F/q?") + wrong).status, 400U) << wrong;
    }
}

TEST_F(SamplesTest, TheNodeRemembersADay) {
    for (int hour = 0; hour < 30; ++hour) take(hour * 3600);
    const json::value overview = get("/overview?lengths_age=86400&lengths_incr=1800");
    EXPECT_EQ(overview.at("queue_totals").at("messages_details").at("samples").get_array().size(),
              49U);
}

TEST_F(SamplesTest, StatisticsCanBeLeftOut) {  // management 2.4
    put("/queues/%2F/q", "{}");
    const json::value plain = get("/queues?disable_stats=true").at(0);
    EXPECT_FALSE(plain.get_object().contains("messages_details"));
    const json::value totals = get("/queues?disable_stats=true&enable_queue_totals=true").at(0);
    EXPECT_EQ(totals.get_object().size(), 12U);
    EXPECT_TRUE(totals.get_object().contains("messages_unacknowledged"));
}

}  // namespace
}  // namespace revenant::http
