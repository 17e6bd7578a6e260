#include "runtime/thread_priority.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <sys/resource.h>
#include <thread>

namespace revenant::runtime {
namespace {

int nice_value_of_this_thread() {
    return ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()));
}

TEST(ThreadPriority, IsLowerForTheCallingThreadOnly) {
    const int before = nice_value_of_this_thread();
    int lowered = before;
    std::thread([&] {
        lower_thread_priority();
        lowered = nice_value_of_this_thread();
    }).join();
    EXPECT_GT(lowered, before);
    EXPECT_EQ(nice_value_of_this_thread(), before);
}

}  // namespace
}  // namespace revenant::runtime
