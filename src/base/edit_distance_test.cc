#include "base/edit_distance.h"

#include <gtest/gtest.h>

namespace revenant {
namespace {

TEST(EditDistance, CountsWhatHasToBeChanged) {
    EXPECT_EQ(edit_distance("", ""), 0U);
    EXPECT_EQ(edit_distance("queue", "queue"), 0U);
    EXPECT_EQ(edit_distance("", "abc"), 3U);
    EXPECT_EQ(edit_distance("list_queue", "list_queues"), 1U);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
    EXPECT_EQ(edit_distance("sitting", "kitten"), 3U);
}

}  // namespace
}  // namespace revenant
