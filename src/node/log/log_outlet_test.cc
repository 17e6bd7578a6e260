#include "node/log/log_outlet.h"

#include "node/log/log_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>
#include <utility>

namespace revenant::node {
namespace {

std::string loss(std::uint64_t lines) { return "lost " + std::to_string(lines) + "\n"; }

// An output that blocks until it is released.
struct Place {
    std::counting_semaphore<> asked{0};
    std::counting_semaphore<> may_take{0};
    std::atomic<bool> active{true};
    std::mutex mutex;
    std::string taken;

    bool write(std::string_view lines) {
        asked.release();
        may_take.acquire();
        const std::lock_guard lock(mutex);
        if (!active) return false;
        taken += lines;
        return true;
    }
    std::string text() {
        const std::lock_guard lock(mutex);
        return taken;
    }
};

class LogOutletTest : public testing::Test {
  protected:
    std::shared_ptr<Place> place_ = std::make_shared<Place>();
    LogOutlet outlet_{[place = place_](std::string_view lines) { return place->write(lines); },
                      loss};

    // Waits until the thread is writing a line.
    void make_busy(const char* line) {
        outlet_.push(line);
        place_->asked.acquire();
    }
    void go_on() { place_->may_take.release(1'000'000); }
};

TEST_F(LogOutletTest, BringsLinesInOrder) {
    make_busy("a\n");
    outlet_.push("b\n");
    outlet_.push("c\n");
    EXPECT_FALSE(outlet_.is_drained());
    go_on();
    ASSERT_TRUE(outlet_.drain(seconds(60)));
    EXPECT_TRUE(outlet_.is_drained());
    EXPECT_EQ(place_->text(), "a\nb\nc\n");
    EXPECT_EQ(outlet_.lines_dropped(), 0U);
}

TEST_F(LogOutletTest, DropsWhatHasNoRoomAndSaysHowMuchThatWas) {
    make_busy("first\n");
    const std::string half = std::string(LogOutlet::waiting_bytes_max / 2, 'x') + "\n";
    outlet_.push(half);
    for (int i = 0; i < 3; ++i) outlet_.push(half);
    outlet_.push("short\n");  // it would fit, but there must be only one gap
    EXPECT_EQ(outlet_.lines_dropped(), 4U);
    go_on();
    ASSERT_TRUE(outlet_.drain(seconds(60)));
    outlet_.push("after\n");
    ASSERT_TRUE(outlet_.drain(seconds(60)));
    EXPECT_EQ(place_->text(), "first\n" + half + "lost 4\nafter\n");
    EXPECT_EQ(outlet_.lines_dropped(), 4U);
}

TEST_F(LogOutletTest, ALineThatNeverHasRoomIsNotTheEnd) {
    outlet_.push(std::string(LogOutlet::waiting_bytes_max, 'x') + "\n");
    place_->asked.acquire();  // for the line that reports the gap
    outlet_.push("after\n");
    go_on();
    ASSERT_TRUE(outlet_.drain(seconds(60)));
    EXPECT_EQ(place_->text(), "lost 1\nafter\n");
}

TEST_F(LogOutletTest, CountsWhatThePlaceRefuses) {
    place_->active = false;
    go_on();
    outlet_.push("a\n");
    ASSERT_TRUE(outlet_.drain(seconds(60)));
    outlet_.push("b\n");
    ASSERT_TRUE(outlet_.drain(seconds(60)));
    EXPECT_EQ(outlet_.lines_dropped(), 2U);
    place_->active = true;
    outlet_.push("c\n");
    ASSERT_TRUE(outlet_.drain(seconds(60)));
    EXPECT_EQ(place_->text(), "lost 2\nc\n");
    EXPECT_EQ(outlet_.lines_dropped(), 2U);
}

TEST_F(LogOutletTest, WaitsForAStuckPlaceOnlyAsLongAsItIsTold) {
    make_busy("a\n");
    EXPECT_FALSE(outlet_.drain(milliseconds(1)));
    go_on();
}

TEST(LogOutletEnd, IsNotKeptByAPipeThatNobodyReads) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    std::string read;
    {
        LogOutlet outlet(
            [end = ends[1]](std::string_view lines) {
                const bool all = write_all(end, lines);
                ::close(end);
                return all;
            },
            loss);
        outlet.push(std::string(512UL * 1024, 'x') + "\n");
    }
    // The detached thread continues when the pipe is read.
    char buffer[64 * 1024];
    for (ssize_t count = 0; (count = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
        read.append(buffer, static_cast<std::size_t>(count));
    }
    EXPECT_EQ(read.size(), 512UL * 1024 + 1);
    ::close(ends[0]);
}

}  // namespace
}  // namespace revenant::node
