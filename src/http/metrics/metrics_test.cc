#include "http/metrics/metrics.h"

#include "http/api_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace revenant::http {
namespace {

using Format = PrometheusText::Format;
using testing::HasSubstr;
using testing::Not;

class MetricsTest : public ApiTest {
  protected:
    std::string page(const std::string& target) {
        Metrics metrics(api_->context());
        Request request;
        request.method = "GET";
        request.target = target;
        const Response response = metrics.respond(request);
        EXPECT_EQ(response.status, 200U) << target;
        return response.body;
    }
};

TEST(AcceptedFormat, OpenMetricsWhenItIsPreferred) {
    EXPECT_EQ(accepted_format(""), Format::text);
    EXPECT_EQ(accepted_format("*/*"), Format::text);
    EXPECT_EQ(accepted_format("text/plain;version=0.0.4"), Format::text);
    EXPECT_EQ(accepted_format("application/openmetrics-text"), Format::open_metrics);
    EXPECT_EQ(accepted_format("application/openmetrics-text; version=1.0.0; q=0.5,"
                              "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"),
              Format::open_metrics);
    EXPECT_EQ(accepted_format("application/openmetrics-text;q=0.2, text/plain"), Format::text);
    EXPECT_EQ(accepted_format("application/openmetrics-text;q=0"), Format::text);
    EXPECT_EQ(accepted_format(";;q=,,application/openmetrics-text;q=x"), Format::text);
}

TEST_F(MetricsTest, EveryPageSaysWhichItIs) {
    const std::pair<const char*, const char*> pages[] = {
        {"/metrics", "aggregated"},
        {"/metrics/per-object", "per-object"},
        {"/metrics/detailed", "detailed"},
        {"/metrics/memory-breakdown", "memory-breakdown"}};
    for (const auto& [target, endpoint] : pages) {
        EXPECT_THAT(page(target),
                    HasSubstr("rabbitmq_endpoint=\"" + std::string(endpoint) + "\"} 1\n"));
    }
    Metrics metrics(api_->context(), MetricsDefault::per_object);
    Request request;
    request.method = "GET";
    request.target = "/metrics";
    EXPECT_THAT(metrics.respond(request).body, HasSubstr("rabbitmq_endpoint=\"per-object\"} 1\n"));
    for (const char* unknown : {"/metrics/nosuch", "/metrics/detailed/x", "/"}) {
        request.target = unknown;
        EXPECT_EQ(metrics.respond(request).status, 404U) << unknown;
    }
}

TEST_F(MetricsTest, AQueueHasItsNameInTheLabels) {
    ASSERT_EQ(put("/queues/%2F/a%22b", "{}"), 201U);
    const std::string line = "{vhost=\"/\",queue=\"a\\\"b\"} 0\n";
    EXPECT_THAT(page("/metrics/per-object"), HasSubstr("\nrabbitmq_queue_messages" + line));
    EXPECT_THAT(page("/metrics"), HasSubstr("\nrabbitmq_queue_messages 0\n"));
    EXPECT_THAT(page("/metrics"), Not(HasSubstr("queue=")));
    EXPECT_THAT(page("/metrics/detailed?family=queue_coarse_metrics"),
                HasSubstr("\nrabbitmq_detailed_queue_messages" + line));
}

TEST_F(MetricsTest, DetailsAreThoseAskedFor) {
    ASSERT_EQ(put("/vhosts/other"), 201U);
    ASSERT_EQ(put("/queues/%2F/here", "{}"), 201U);
    ASSERT_EQ(put("/queues/other/there", "{}"), 201U);
    const std::string both =
        page("/metrics/detailed?family=queue_consumer_count&family=vhost_status&family=nosuch");
    EXPECT_THAT(both, HasSubstr("rabbitmq_detailed_queue_consumers{vhost=\"/\",queue=\"here\"} 0"));
    EXPECT_THAT(both, HasSubstr("rabbitmq_cluster_vhost_status{vhost=\"other\"} 1"));
    EXPECT_THAT(both, Not(HasSubstr("queue_messages")));
    const std::string one =
        page("/metrics/detailed?vhost=other&vhost=nosuch&family=queue_coarse_metrics");
    EXPECT_THAT(one, HasSubstr("queue=\"there\""));
    EXPECT_THAT(one, Not(HasSubstr("queue=\"here\"")));
}

}  // namespace
}  // namespace revenant::http
