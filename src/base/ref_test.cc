#include "base/ref.h"

#include <gtest/gtest.h>

#include <utility>

namespace revenant {
namespace {

// Exposes its reference count to the test.
struct Counted {
    void retain() const { ++references; }
    void release() const { --references; }
    mutable int references = 1;
    int content = 5;
};

TEST(Ref, CopiesAreCountedUntilTheyEnd) {
    Counted object;
    {
        Ref<Counted> first = Ref<Counted>::adopt(&object);
        EXPECT_EQ(object.references, 1);
        {
            Ref<Counted> second = first;
            EXPECT_EQ(object.references, 2);
            EXPECT_EQ(second, first);
            second = Ref<Counted>();
            EXPECT_EQ(object.references, 1);
        }
        EXPECT_EQ(object.references, 1);
    }
    EXPECT_EQ(object.references, 0);
}

TEST(Ref, AMovedOneIsEmptyAndCountsNothing) {
    Counted object;
    Ref<Counted> first = Ref<Counted>::adopt(&object);
    const Ref<Counted> second = std::move(first);
    EXPECT_FALSE(static_cast<bool>(first));  // NOLINT(bugprone-use-after-move): tested here
    EXPECT_TRUE(static_cast<bool>(second));
    EXPECT_EQ(object.references, 1);
    EXPECT_EQ(second->content, 5);
    EXPECT_EQ(second.get(), &object);
}

TEST(Ref, AssignmentLetsGoOfTheOldObject) {
    Counted old_object;
    Counted new_object;
    Ref<Counted> first = Ref<Counted>::adopt(&old_object);
    const Ref<Counted> second = Ref<Counted>::adopt(&new_object);
    first = second;
    EXPECT_EQ(old_object.references, 0);
    EXPECT_EQ(new_object.references, 2);
    Ref<Counted>& same = first;
    first = same;
    EXPECT_EQ(new_object.references, 2);
}

TEST(Ref, TheLastReferenceFreesAnObjectThatCountsItself) {
    struct Watched : RefCounted<Watched> {
        explicit Watched(int& counter) : alive(counter) { ++alive; }
        ~Watched() { --alive; }
        int& alive;
    };
    int alive = 0;
    {
        const auto only = Ref<Watched>::adopt(new Watched(alive));
        EXPECT_EQ(alive, 1);
    }
    EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace revenant
