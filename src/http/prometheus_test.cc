#include "http/prometheus.h"

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

}  // namespace
}  // namespace revenant::http
