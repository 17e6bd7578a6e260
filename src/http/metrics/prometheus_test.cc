#include "http/metrics/prometheus.h"

#include <gtest/gtest.h>

namespace revenant::http {
namespace {

using Kind = PrometheusText::Kind;

TEST(PrometheusText, AMetricHasItsTypeHelpAndSamples) {
    PrometheusText text;
    text.single("up", Kind::gauge, "Whether it is up", 1);
    text.family("ended_total", Kind::counter, "By ending");
    text.sample({{"ending", "purged"}}, std::uint64_t{18446744073709551615U});
    text.sample({{"ending", "cycle"}, {"queue", "q"}}, 0.25);
    EXPECT_EQ(text.text(),
              "# TYPE up gauge\n"
              "# HELP up Whether it is up\n"
              "up 1\n"
              "# TYPE ended_total counter\n"
              "# HELP ended_total By ending\n"
              "ended_total{ending=\"purged\"} 18446744073709551615\n"
              "ended_total{ending=\"cycle\",queue=\"q\"} 0.25\n");
}

TEST(PrometheusText, WhatWouldBreakALineIsEscaped) {
    PrometheusText text;
    text.family("m", Kind::gauge, "a \"help\"\nwith \\ things");
    text.sample({{"queue", "a\"b\\c\nd"}}, std::uint64_t{1});
    EXPECT_EQ(text.text(),
              "# TYPE m gauge\n"
              "# HELP m a \"help\"\\nwith \\\\ things\n"
              "m{queue=\"a\\\"b\\\\c\\nd\"} 1\n");
}

TEST(PrometheusText, AHistogramCumulates) {
    PrometheusText text;
    const std::uint64_t limits[] = {1000, 2'000'000};
    const std::uint64_t counts[] = {3, 0, 1};
    text.family("took_seconds", Kind::histogram, "Time");
    text.histogram(PrometheusText::render({{"vhost", "/"}}), {limits, counts, 4'500'000, 1e6});
    EXPECT_EQ(text.finish(),
              "# TYPE took_seconds histogram\n"
              "# HELP took_seconds Time\n"
              "took_seconds_bucket{vhost=\"/\",le=\"0.001\"} 3\n"
              "took_seconds_bucket{vhost=\"/\",le=\"2\"} 3\n"
              "took_seconds_bucket{vhost=\"/\",le=\"+Inf\"} 4\n"
              "took_seconds_count{vhost=\"/\"} 4\n"
              "took_seconds_sum{vhost=\"/\"} 4.5\n");
}

TEST(PrometheusText, OpenMetricsHasOtherNamesAndNumbersAndAnEnd) {
    PrometheusText text(PrometheusText::Format::open_metrics);
    const std::uint64_t limits[] = {100, 1'000'000};
    const std::uint64_t counts[] = {1, 1, 1};
    text.single("opened_total", Kind::counter, "Opened", 7);
    text.single("alarm", Kind::untyped, "Alarm", 0);
    text.family("size_bytes", Kind::histogram, "Sizes");
    text.histogram("", {limits, counts, 5});
    EXPECT_EQ(text.finish(),
              "# TYPE opened counter\n"
              "# HELP opened Opened\n"
              "opened_total 7\n"
              "# TYPE alarm unknown\n"
              "# HELP alarm Alarm\n"
              "alarm 0\n"
              "# TYPE size_bytes histogram\n"
              "# HELP size_bytes Sizes\n"
              "size_bytes_bucket{le=\"100.0\"} 1\n"
              "size_bytes_bucket{le=\"1e+06\"} 2\n"
              "size_bytes_bucket{le=\"+Inf\"} 3\n"
              "size_bytes_count 3\n"
              "size_bytes_sum 5\n"
              "# EOF\n");
}

}  // namespace
}  // namespace revenant::http
