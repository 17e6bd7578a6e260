#include "base/histogram.h"

#include <gmock/gmock.h>

namespace revenant {
namespace {

using ::testing::ElementsAre;

constexpr std::array<std::uint64_t, 2> limits{10, 100};

TEST(Histogram, ALimitBelongsToItsBucket) {
    Histogram<limits> sizes;
    for (const std::uint64_t value : {0, 10, 11, 100, 101, 5000}) sizes.observe(value);
    EXPECT_THAT(sizes.counts, ElementsAre(2, 2, 2));
    EXPECT_EQ(sizes.count(), 6U);
    EXPECT_EQ(sizes.sum, 5222U);
}

TEST(Histogram, SumsBucketByBucket) {
    Histogram<limits> one;
    Histogram<limits> other;
    one.observe(1);
    other.observe(1);
    other.observe(1000);
    one += other;
    EXPECT_THAT(one.counts, ElementsAre(2, 0, 1));
    EXPECT_EQ(one.sum, 1002U);
}

}  // namespace
}  // namespace revenant
