#include "runtime/mailbox.h"

#include <gtest/gtest.h>

#include <string>

namespace revenant::runtime {
namespace {

using Box = Mailbox<std::string>;

TEST(Mailbox, RefusesWhatDoesNotFitUnlessItIsEmpty) {
    Box box(3);
    Box::Batch large{{"a", "b", "c", "d"}, 0};
    EXPECT_EQ(box.post(large), Box::Posted::first);
    Box::Batch small{{"e"}, 0};
    EXPECT_EQ(box.post(small), Box::Posted::refused);
    EXPECT_EQ(small.items.size(), 1U) << "a batch that was refused is kept by its sender";
    EXPECT_EQ(box.take().size(), 1U);
    EXPECT_EQ(box.post(small), Box::Posted::first);
    EXPECT_TRUE(small.empty());
}

TEST(Mailbox, CountsBytesUntilTheyWereRead) {
    Box box(100);
    Box::Batch large{{"a"}, 1000};
    Box::Batch small{{"b"}, 20};
    box.post(large);
    box.post(small);
    EXPECT_EQ(box.bytes(), 1020U);
    const auto taken = box.take();
    EXPECT_EQ(box.bytes(), 1020U) << "what is taken is still in memory";
    box.was_read(taken[0]);
    EXPECT_EQ(box.bytes(), 20U);
    box.was_read(taken[1]);
    EXPECT_EQ(box.bytes(), 0U);
}

}  // namespace
}  // namespace revenant::runtime
