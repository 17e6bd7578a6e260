#include "base/ref.h"

#include <gtest/gtest.h>

#include <utility>

namespace revenant {
namespace {

struct Counted : RefCounted<Counted> {
    explicit Counted(int& counter) : alive(counter) { ++alive; }
    ~Counted() { --alive; }
    int& alive;
};

TEST(Ref, TheLastReferenceFreesTheObject) {
    int alive = 0;
    {
        const auto first = Ref<Counted>::adopt(new Counted(alive));
        EXPECT_EQ(alive, 1);
        {
            const Ref<Counted> second = first;
            EXPECT_EQ(second, first);
        }
        EXPECT_EQ(alive, 1);
    }
    EXPECT_EQ(alive, 0);
}

TEST(Ref, AMovedOneIsEmpty) {
    int alive = 0;
    auto first = Ref<Counted>::adopt(new Counted(alive));
    Ref<Counted> second = std::move(first);
    EXPECT_FALSE(static_cast<bool>(first));  // NOLINT(bugprone-use-after-move): what is tested
    EXPECT_TRUE(static_cast<bool>(second));
    second = Ref<Counted>();
    EXPECT_EQ(alive, 0);
}

TEST(Ref, AssignmentLetsGoOfTheOldObject) {
    int alive = 0;
    auto first = Ref<Counted>::adopt(new Counted(alive));
    auto second = Ref<Counted>::adopt(new Counted(alive));
    EXPECT_EQ(alive, 2);
    first = second;
    EXPECT_EQ(alive, 1);
    EXPECT_EQ(first.get(), second.get());
    Ref<Counted>& same = first;
    first = same;
    EXPECT_EQ(alive, 1);
    EXPECT_EQ(&first->alive, &alive);
}

}  // namespace
}  // namespace revenant
