#include "node/log/log.h"

#include "base/check.h"
#include "node/log/last_words.h"
#include "runtime/system_clock.h"
#include "tests/support/folder.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace revenant::node {
namespace {

std::string read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

class LogInFile : public testing::Test {
  protected:
    LogInFile() {
        config_.console = false;
        config_.directory = folder_ / "logs";
        config_.file = "r.log";
    }
    std::string path(const char* name = "r.log") const { return config_.directory + "/" + name; }

    Folder folder_;
    LogConfig config_;
};

TEST_F(LogInFile, TakesWhatIsSevereEnough) {
    config_.default_level = LogLevel::debug;
    config_.levels["queue"] = LogLevel::error;
    Log log(config_);
    ASSERT_TRUE(log.open_file());
    log.write(LogLevel::debug, "node", "below the file's level");
    log.write(LogLevel::warning, "queue", "below the component's level");
    log.write(LogLevel::error, "queue", "bad");
    log.info("good");
    ASSERT_TRUE(log.drain(seconds(60)));
    EXPECT_EQ(read(path()).find("below"), std::string::npos);
    EXPECT_NE(read(path()).find("[error] queue: bad\n"), std::string::npos);
    config_.file_level = LogLevel::none;
    log.set_levels(config_);
    log.write(LogLevel::critical, "node", "unheard");
    ASSERT_TRUE(log.drain(seconds(60)));
    EXPECT_EQ(read(path()).find("unheard"), std::string::npos);
}

TEST_F(LogInFile, IsOpenedAgainAfterItWasMovedAway) {
    Log log(config_);
    ASSERT_TRUE(log.open_file());
    log.info("one");
    ASSERT_TRUE(log.drain(seconds(60)));
    std::filesystem::rename(path(), path("old"));
    log.info("two");
    ASSERT_TRUE(log.open_file());
    log.info("three");
    ASSERT_TRUE(log.drain(seconds(60)));
    EXPECT_NE(read(path("old")).find("two"), std::string::npos);
    EXPECT_EQ(read(path()).find("two"), std::string::npos);
    EXPECT_NE(read(path()).find("three"), std::string::npos);
}

TEST_F(LogInFile, IsBegunAnewAtItsSize) {
    config_.rotation_bytes = 100;
    config_.rotation_count = 2;
    Log log(config_);
    ASSERT_TRUE(log.open_file());
    for (const char* text : {"first", "second", "third", "fourth"}) {
        log.info(std::string(50, '.') + text);
    }
    ASSERT_TRUE(log.drain(seconds(60)));
    EXPECT_NE(read(path()).find("fourth"), std::string::npos);
    EXPECT_NE(read(path("r.log.0")).find("third"), std::string::npos);
    EXPECT_NE(read(path("r.log.1")).find("second"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(path("r.log.2")));
}

TEST_F(LogInFile, HasAllThatWasSaidWhenItEnds) {
    {
        Log log(config_);
        ASSERT_TRUE(log.open_file());
        for (int i = 0; i < 1000; ++i) log.info("line " + std::to_string(i) + ".");
    }
    EXPECT_NE(read(path()).find("line 0."), std::string::npos);
    EXPECT_NE(read(path()).find("line 999."), std::string::npos);
}

TEST_F(LogInFile, IsDatedByTheWallClock) {
    const Timestamp before = runtime::wall_now();
    Log log(config_);
    ASSERT_TRUE(log.open_file());
    log.info("now");
    ASSERT_TRUE(log.drain(seconds(60)));
    const Timestamp after = runtime::wall_now();
    const std::string line = read(path());
    EXPECT_GE(
        line,
        format_line({before, LogLevel::info, "", "", {}}, LogFormat::plaintext).substr(0, 26));
    EXPECT_LE(line.substr(0, 26),
              format_line({after, LogLevel::info, "", "", {}}, LogFormat::plaintext).substr(0, 26));
}

TEST_F(LogInFile, ThatCannotBeOpenedIsNamed) {
    config_.directory = folder_ / "no directory";
    write_file(config_.directory, "a file");
    Log log(config_);
    const auto opened = log.open_file();
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error(), "cannot open log file " + path() + ": Not a directory");
}

TEST_F(LogInFile, HasTheLastWords) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
    GTEST_SKIP() << "ThreadSanitizer starts no threads in a process that was forked";
#endif
#endif
    const auto fail = [this] {
        Log log(config_);
        ASSERT_TRUE(log.open_file());
        const LastWordsInLog last_words(log);
        log.info("all is well");
        CHECK(1 == 2);
    };
    EXPECT_DEATH(fail(), "^revenant: CHECK failed: 1 == 2 at ");
    EXPECT_NE(read(path()).find("[info] node: all is well\n"), std::string::npos);
    EXPECT_NE(read(path()).find("[critical] node: CHECK failed: 1 == 2 at "), std::string::npos);
}

TEST_F(LogInFile, HasWhatWasSaidBeforeAnAbort) {
    const auto fail = [this] {
        Log log(config_);
        ASSERT_TRUE(log.open_file());
        const LastWordsInLog last_words(log);
        for (int i = 0; i < 1000; ++i) log.info("line " + std::to_string(i) + ".");
        std::abort();
    };
    EXPECT_EXIT(fail(), testing::KilledBySignal(SIGABRT), "");
    EXPECT_NE(read(path()).find("line 999."), std::string::npos);
}

}  // namespace
}  // namespace revenant::node
