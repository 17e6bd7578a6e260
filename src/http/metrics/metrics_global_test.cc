#include "http/metrics/metrics_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace revenant::http {
namespace {

using engine::ClientProtocol;
using engine::ClientTraffic;
using engine::Totals;
using testing::HasSubstr;

std::string page_of(const Totals& totals) {
    PrometheusText text;
    write_global(text, totals);
    return text.text();
}

// The samples of a family without its name, one per line.
std::string samples_of(const std::string& page, std::string_view name) {
    std::string samples;
    const std::string start = "\n" + std::string(name) + "{";
    for (std::size_t at = page.find(start); at != std::string::npos; at = page.find(start, at)) {
        at += start.size();
        samples += page.substr(at, page.find('\n', at) - at) + "\n";
    }
    return samples;
}

TEST(GlobalMetrics, BothProtocolsAreThereFromTheStart) {
    const std::string page = page_of({});
    for (const char* family :
         {"messages_received_total", "messages_received_confirm_total", "messages_routed_total",
          "messages_unroutable_dropped_total", "messages_unroutable_returned_total",
          "messages_confirmed_total", "publishers", "consumers"}) {
        EXPECT_EQ(samples_of(page, "rabbitmq_global_" + std::string(family)),
                  "protocol=\"amqp091\"} 0\n"
                  "protocol=\"amqp10\"} 0\n")
            << family;
    }
    EXPECT_EQ(samples_of(page, "rabbitmq_global_messages_acknowledged_total"),
              "protocol=\"amqp091\",queue_type=\"rabbit_classic_queue\"} 0\n"
              "protocol=\"amqp091\",queue_type=\"rabbit_quorum_queue\"} 0\n"
              "protocol=\"amqp10\",queue_type=\"rabbit_classic_queue\"} 0\n"
              "protocol=\"amqp10\",queue_type=\"rabbit_quorum_queue\"} 0\n");
    EXPECT_THAT(page, HasSubstr("\nrabbitmq_message_size_bytes_count{protocol=\"amqp10\"} 0\n"));
}

TEST(GlobalMetrics, EachProtocolHasItsOwnFigures) {
    Totals totals;
    ClientTraffic& old_one = totals.traffic.of(ClientProtocol::amqp091);
    ClientTraffic& new_one = totals.traffic.of(ClientProtocol::amqp10);
    old_one.received = 3;
    new_one.received = 5;
    new_one.confirmed = 4;
    new_one.consumed_from(engine::QueueKind::quorum).delivered_manual_ack = 7;
    old_one.message_sizes.observe(10);
    new_one.message_sizes.observe(2000);
    totals.clients_of(ClientProtocol::amqp091).consumers = 1;
    totals.clients_of(ClientProtocol::amqp10).publishers = 2;
    const std::string page = page_of(totals);
    EXPECT_EQ(samples_of(page, "rabbitmq_global_messages_received_total"),
              "protocol=\"amqp091\"} 3\nprotocol=\"amqp10\"} 5\n");
    EXPECT_EQ(samples_of(page, "rabbitmq_global_messages_confirmed_total"),
              "protocol=\"amqp091\"} 0\nprotocol=\"amqp10\"} 4\n");
    EXPECT_EQ(samples_of(page, "rabbitmq_global_consumers"),
              "protocol=\"amqp091\"} 1\nprotocol=\"amqp10\"} 0\n");
    EXPECT_EQ(samples_of(page, "rabbitmq_global_publishers"),
              "protocol=\"amqp091\"} 0\nprotocol=\"amqp10\"} 2\n");
    EXPECT_EQ(samples_of(page, "rabbitmq_message_size_bytes_sum"),
              "protocol=\"amqp091\"} 10\nprotocol=\"amqp10\"} 2000\n");
    EXPECT_THAT(page, HasSubstr("\nrabbitmq_global_messages_delivered_total{protocol=\"amqp10\","
                                "queue_type=\"rabbit_quorum_queue\"} 7\n"));
    EXPECT_THAT(page, HasSubstr("\nrabbitmq_global_messages_delivered_total{protocol=\"amqp091\","
                                "queue_type=\"rabbit_quorum_queue\"} 0\n"));
}

}  // namespace
}  // namespace revenant::http
