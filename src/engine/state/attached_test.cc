#include "engine/state/attached.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace revenant::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Unsettled waiting(std::uint64_t position) {
    return {nullptr, nullptr, position, {}, Unsettled::State::waiting};
}

std::vector<std::uint64_t> up_to(UnsettledRing& ring, std::uint64_t last) {
    std::vector<DeliveryId> collected;
    ring.collect_up_to({last}, collected);
    std::vector<std::uint64_t> numbers;
    for (const DeliveryId delivery : collected) numbers.push_back(delivery.value);
    return numbers;
}

TEST(UnsettledRing, NumbersDeliveriesFromOne) {  // amqp091 11.8
    UnsettledRing ring;
    EXPECT_EQ(ring.newest(), DeliveryId{0});
    EXPECT_EQ(ring.add(waiting(10)), DeliveryId{1});
    EXPECT_EQ(ring.skip(), DeliveryId{2});
    EXPECT_EQ(ring.add(waiting(30)), DeliveryId{3});
    EXPECT_EQ(ring.newest(), DeliveryId{3});
    EXPECT_EQ(ring.count(), 2U);
}

TEST(UnsettledRing, FindsOnlyWhatWaits) {  // amqp091 11.11
    UnsettledRing ring;
    ring.add(waiting(10));
    ring.skip();
    EXPECT_EQ(ring.find({1})->position, 10U);
    EXPECT_EQ(ring.find({0}), nullptr);
    EXPECT_EQ(ring.find({2}), nullptr);  // needs no settlement
    EXPECT_EQ(ring.find({3}), nullptr);  // not delivered yet
    ring.remove({1});
    EXPECT_EQ(ring.find({1}), nullptr);
    EXPECT_EQ(ring.count(), 0U);
}

TEST(UnsettledRing, CollectsOldestFirstUpToANumber) {  // amqp091 11.11
    UnsettledRing ring;
    for (std::uint64_t i = 1; i <= 5; ++i) ring.add(waiting(i));
    ring.remove({2});
    EXPECT_THAT(up_to(ring, 4), ElementsAre(1, 3, 4));
    EXPECT_THAT(up_to(ring, 99), ElementsAre(1, 3, 4, 5));
    EXPECT_THAT(up_to(ring, 0), IsEmpty());
}

TEST(UnsettledRing, DeliveriesWithoutSettlementCostNothing) {
    UnsettledRing ring;
    for (int i = 0; i < 100'000; ++i) ring.skip();
    EXPECT_EQ(ring.add(waiting(1)), DeliveryId{100'001});
    EXPECT_THAT(up_to(ring, 200'000), ElementsAre(100'001));
}

TEST(UnsettledRing, AnOldDeliveryIsKeptWhileThousandsComeAndGo) {
    UnsettledRing ring;
    ring.add(waiting(7));
    for (std::uint64_t i = 2; i < 100'000; ++i) {
        ASSERT_EQ(ring.add(waiting(i)).value, i);
        ring.remove({i});
    }
    EXPECT_EQ(ring.count(), 1U);
    ASSERT_NE(ring.find({1}), nullptr);
    EXPECT_EQ(ring.find({1})->position, 7U);
    ring.add(waiting(8));
    EXPECT_THAT(up_to(ring, 100'000), ElementsAre(1, 100'000));
    EXPECT_THAT(up_to(ring, 99'999), ElementsAre(1));
    ring.remove({1});
    EXPECT_EQ(ring.count(), 1U);
    EXPECT_EQ(ring.find({1}), nullptr);
}

TEST(UnsettledRing, AgreesWithAnOrderedMapOnRandomOperations) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        UnsettledRing ring;
        std::map<std::uint64_t, std::uint64_t> model;
        std::uint64_t next = 1;
        // Some clients leave nearly all unsettled, some nearly none, some an old one now and then.
        const std::uint64_t keep_one_in = 1 + random() % 40;
        for (int step = 0; step < 6000; ++step) {
            if (random() % 4 == 0) {
                ASSERT_EQ(ring.skip().value, next);
            } else {
                ASSERT_EQ(ring.add(waiting(next * 3)).value, next);
                model[next] = next * 3;
            }
            ++next;
            if (!model.empty() && random() % keep_one_in != 0) {
                auto victim = random() % 3 == 0 ? model.begin() : std::prev(model.end());
                if (random() % 5 == 0) victim = model.lower_bound(random() % next);
                if (victim != model.end()) {
                    ring.remove({victim->first});
                    model.erase(victim);
                }
            }
            ASSERT_EQ(ring.count(), model.size());
            const std::uint64_t asked = random() % (next + 2);
            const auto expected = model.find(asked);
            const Unsettled* const found = ring.find({asked});
            ASSERT_EQ(found != nullptr, expected != model.end()) << asked;
            if (found != nullptr) {
                ASSERT_EQ(found->position, expected->second);
            }
            if (step % 500 == 0) {
                std::vector<std::uint64_t> numbers;
                for (const auto& [number, position] : model) {
                    if (number <= asked) numbers.push_back(number);
                }
                ASSERT_EQ(up_to(ring, asked), numbers);
            }
        }
    }
}

TEST(QueueConsumers, LinesStandByPriorityHighestFirst) {  // amqp091 11.6
    QueueConsumers consumers;
    std::vector<Consumer> some(4);
    const std::vector<std::int64_t> wished{0, 10, -5, 5};
    for (std::size_t i = 0; i < some.size(); ++i) {
        some[i].priority = wished[i];
        consumers.add(some[i]);
        consumers.line_of(some[i]).push_back(some[i]);
    }
    const auto priorities = [&] {
        std::vector<std::int64_t> found;
        for (const auto& [priority, line] : consumers.lines) found.push_back(priority);
        return found;
    };
    EXPECT_THAT(priorities(), ElementsAre(10, 5, 0, -5));
    consumers.remove(some[1]);
    EXPECT_THAT(priorities(), ElementsAre(5, 0, -5));
    EXPECT_EQ(consumers.all.size(), 3U);
}

TEST(Attached, FindsChannelsUntilTheyClose) {
    Attached attached;
    attached.open_connection({1}, "guest");
    attached.open_channel({1}, {7});
    attached.open_channel({1}, {8});
    EXPECT_EQ(attached.find_channel({7})->id, ChannelId{7});
    EXPECT_EQ(attached.channel_count(), 2U);
    attached.close_channel({7});
    EXPECT_EQ(attached.find_channel({7}), nullptr);
    EXPECT_EQ(attached.find_channel({8})->id, ChannelId{8});
    EXPECT_THAT(attached.find_connection({1})->channels, ElementsAre(ChannelId{8}));
}

TEST(Attached, AReplyNameLivesAsLongAsItsChannel) {  // amqp091 14.4
    Attached attached;
    attached.open_connection({1}, "guest");
    Channel& channel = attached.open_channel({1}, {7});
    attached.set_reply_name(channel, "name", 3);
    EXPECT_EQ(attached.find_reply_channel("name"), &channel);
    attached.clear_reply_name(channel);
    EXPECT_EQ(attached.find_reply_channel("name"), nullptr);
    attached.set_reply_name(channel, "again", 4);
    attached.close_channel({7});
    EXPECT_EQ(attached.find_reply_channel("again"), nullptr);
}

}  // namespace
}  // namespace revenant::engine
