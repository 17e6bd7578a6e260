#include "engine/state/publish_sources.h"

#include <gtest/gtest.h>

#include <map>

namespace revenant::engine {
namespace {

class PublishSourcesTest : public testing::Test {
  protected:
    void publish(std::uint64_t number, const std::string& exchange) {
        sources.come_through(number, exchange, published);
        published += 1;
    }
    std::map<std::string, std::uint64_t> all() const {
        std::map<std::string, std::uint64_t> counts;
        for (const auto& source : sources.all(published)) {
            EXPECT_TRUE(counts.emplace(source.exchange, source.published).second);
        }
        return counts;
    }

    PublishSources sources;
    std::uint64_t published = 0;
};

using SourceCounts = std::map<std::string, std::uint64_t>;

TEST_F(PublishSourcesTest, CountsEachExchange) {
    EXPECT_EQ(all(), SourceCounts());
    publish(1, "");
    publish(1, "");
    EXPECT_EQ(all(), (SourceCounts{{"", 2}}));
    publish(2, "logs");
    publish(1, "");
    publish(2, "logs");
    publish(2, "logs");
    EXPECT_EQ(all(), (SourceCounts{{"", 3}, {"logs", 3}}));
}

TEST_F(PublishSourcesTest, AnExchangeDeclaredAgainGoesOn) {
    publish(1, "logs");
    publish(2, "logs");
    publish(2, "logs");
    EXPECT_EQ(all(), (SourceCounts{{"logs", 3}}));
}

TEST_F(PublishSourcesTest, CountsOnlySoManyExchanges) {
    constexpr auto most = PublishSources::exchanges_max;
    for (std::uint64_t round = 0; round < 3; ++round) {
        for (std::uint64_t i = 1; i <= most + 1000; ++i) publish(i, std::to_string(i));
    }
    const auto counts = all();
    EXPECT_EQ(counts.size(), most);
    for (const auto& [name, count] : counts) EXPECT_EQ(count, 3U) << name;
}

}  // namespace
}  // namespace revenant::engine
