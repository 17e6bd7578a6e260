#include "amqp091/message/death_headers.h"

#include "amqp091/codec/table.h"
#include "amqp091/message/added_headers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace revenant::amqp091 {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> names_in(const Table& table) {
    std::vector<std::string> names;
    for (const Field& field : table) names.push_back(field.name);
    return names;
}

DeathHistory two_deaths() {
    Death first;
    first.queue = "q";
    first.reason = DeathReason::expired;
    first.first_time = {1'500'000};
    first.last_time = {9'000'000};
    first.count = 2;
    first.exchange = "x";
    first.routing_keys = {"k", "cc"};
    first.ttl_ms = 50;
    return {
        {first}, {"q", DeathReason::expired, "x"}, DeathSummary{"q", DeathReason::expired, "x"}};
}

Table headers_of(const DeathHistory& history) {
    Envelope envelope;
    envelope.history = history;
    return decode_table(render_added_headers(envelope)->bytes).value();
}

TEST(DeathHeaders, EachDeathHasTheseFieldsInThisOrder) {  // DL-85, DL-86
    const Table headers = headers_of(two_deaths());
    const Array& deaths = *find(headers, "x-death")->as_array();
    ASSERT_EQ(deaths.size(), 1U);
    const Table& death = *deaths.front().as_table();
    EXPECT_THAT(names_in(death), ElementsAre("original-expiration", "count", "reason", "queue",
                                             "time", "exchange", "routing-keys"));
    EXPECT_EQ(*find(death, "count"), Value::int64(2));
    EXPECT_EQ(*find(death, "original-expiration"), Value::string("50"));
}

TEST(DeathHeaders, TheTimeIsThatOfTheFirstDeathAndThereIsNoLastOne) {  // DL-89
    const Table headers = headers_of(two_deaths());
    const Table& death = *find(headers, "x-death")->as_array()->front().as_table();
    EXPECT_EQ(*find(death, "time"), Value::timestamp(1));
    for (const std::string& name : names_in(death)) EXPECT_EQ(name.find("last"), std::string::npos);
}

Table published_death(const char* queue, const char* reason, std::int64_t count) {
    return {{"queue", Value::string(queue)},
            {"reason", Value::string(reason)},
            {"count", Value::int64(count)},
            {"time", Value::timestamp(1000)},
            {"exchange", Value::string("x")},
            {"routing-keys", Value::array({Value::string("k")})},
            {"original-expiration", Value::string("50")}};
}

TEST(HistoryInHeaders, ReadsWhatAClientPublishedAgain) {  // DL-109
    const auto history = history_in_headers(
        {{"x-death",
          Value::array({Value::table(published_death("q", "expired", 3)), Value::string("no table"),
                        Value::table(published_death("q", "nonsense", 1))})},
         {"x-first-death-queue", Value::string("first")},
         {"x-first-death-reason", Value::string("maxlen")},
         {"x-first-death-exchange", Value::string("")}});
    ASSERT_TRUE(history);
    ASSERT_EQ(history->deaths.size(), 1U);
    const Death& death = history->deaths.front();
    EXPECT_EQ(death.queue, "q");
    EXPECT_EQ(death.reason, DeathReason::expired);
    EXPECT_EQ(death.count, 3U);
    EXPECT_EQ(death.first_time.whole_seconds(), 1000);
    EXPECT_EQ(death.routing_keys, std::vector<std::string>{"k"});
    EXPECT_EQ(death.ttl_ms, 50);
    EXPECT_EQ(history->first, (DeathSummary{"first", DeathReason::maxlen, ""}));
}

TEST(HistoryInHeaders, ARecordWithoutACountIsCountedFromNothing) {  // DL-109
    Table record = published_death("q", "rejected", 1);
    std::erase_if(record, [](const Field& field) { return field.name == "count"; });
    const auto history =
        history_in_headers({{"x-death", Value::array({Value::table(std::move(record))})}});
    ASSERT_TRUE(history);
    Death again = history->deaths.front();
    again.count = 1;
    EXPECT_EQ(with_death(&*history, again).deaths.front().count, 1U);
}

TEST(HistoryInHeaders, ACountKeepsItsTypeUntilTheNextDeathThere) {  // DL-109
    const std::vector<Value> counts{{ValueType::int8, std::int64_t{5}},
                                    {ValueType::uint8, std::int64_t{200}},
                                    {ValueType::int16, std::int64_t{300}},
                                    {ValueType::uint16, std::int64_t{60000}},
                                    {ValueType::int32, std::int64_t{70000}},
                                    {ValueType::uint32, std::int64_t{4000000000}},
                                    Value::int64(5)};
    for (const Value& count : counts) {
        Table record = published_death("q", "rejected", 1);
        for (Field& field : record) {
            if (field.name == "count") field.value = count;
        }
        const auto history =
            history_in_headers({{"x-death", Value::array({Value::table(std::move(record))})}});
        ASSERT_TRUE(history);
        Death elsewhere = history->deaths.front();
        elsewhere.queue = "other";
        elsewhere.count = 1;
        elsewhere.count_type = ValueType::int64;
        const Table kept = headers_of(with_death(&*history, elsewhere));
        EXPECT_EQ(*find(*find(kept, "x-death")->as_array()->back().as_table(), "count"), count);
        Death again = elsewhere;
        again.queue = "q";
        const Table counted = headers_of(with_death(&*history, again));
        EXPECT_EQ(*find(*find(counted, "x-death")->as_array()->front().as_table(), "count"),
                  Value::int64(*count.as_integer() + 1));
    }
}

TEST(HistoryInHeaders, ARecordOfAnotherQueueStaysWithoutACount) {  // DL-109
    Table record = published_death("q", "rejected", 1);
    std::erase_if(record, [](const Field& field) { return field.name == "count"; });
    const auto history =
        history_in_headers({{"x-death", Value::array({Value::table(std::move(record))})}});
    ASSERT_TRUE(history);
    Death elsewhere;
    elsewhere.queue = "other";
    const Table kept = headers_of(with_death(&*history, elsewhere));
    EXPECT_EQ(find(*find(kept, "x-death")->as_array()->back().as_table(), "count"), nullptr);
}

TEST(HistoryInHeaders, TimesAndCountsBeyondAllOthersAreTheLast) {
    for (const std::uint64_t time :
         {std::uint64_t{INT64_MAX} / 1'000'000 + 1, std::uint64_t{INT64_MAX}, UINT64_MAX}) {
        Table death = published_death("q", "expired", INT64_MAX);
        for (Field& field : death) {
            if (field.name == "time") field.value = Value::timestamp(time);
        }
        const auto history =
            history_in_headers({{"x-death", Value::array({Value::table(std::move(death))})}});
        ASSERT_TRUE(history);
        EXPECT_EQ(history->deaths.front().first_time, never);
        Death again = history->deaths.front();
        again.count = 1;
        const Table headers = headers_of(with_death(&*history, again));
        const Table& shown = *find(headers, "x-death")->as_array()->front().as_table();
        EXPECT_EQ(*find(shown, "count"), Value::int64(INT64_MAX));
    }
}

TEST(HistoryInHeaders, WhatIsNoneIsLeftAlone) {  // DL-109
    EXPECT_FALSE(history_in_headers({}));
    EXPECT_FALSE(history_in_headers({{"x-death", Value::string("text")}}));
    EXPECT_FALSE(history_in_headers({{"x-death", Value::array({Value::int32(1)})}}));
}

TEST(HistoryInHeaders, ReadsWhatWasWritten) {
    DeathHistory history = two_deaths();
    history.deaths.front().first_time = {1'000'000};  // headers contain whole seconds
    history.deaths.front().last_time = {1'000'000};
    const Table headers = headers_of(history);
    history.last.reset();
    EXPECT_EQ(history_in_headers(headers), history);
}

}  // namespace
}  // namespace revenant::amqp091
