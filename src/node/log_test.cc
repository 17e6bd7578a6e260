#include "node/log.h"

#include "tests/support/folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace revenant::node {
namespace {

std::string read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(LogLine, HasTimeLevelComponentAndFields) {
    const LogLine line{{1'700'000'000'123'456},
                       LogLevel::warning,
                       "connection",
                       "closed",
                       {{"name", "a -> b"}, {"count", "3"}, {"empty", ""}}};
    EXPECT_EQ(format_line(line, LogFormat::plaintext),
              "2023-11-14 22:13:20.123456+00:00 [warning] connection: closed "
              "name=\"a -> b\" count=3 empty=\"\"\n");
    EXPECT_EQ(format_line(line, LogFormat::json),
              "{\"time\":\"2023-11-14 22:13:20.123456+00:00\",\"level\":\"warning\","
              "\"component\":\"connection\",\"msg\":\"closed\",\"name\":\"a -> b\","
              "\"count\":\"3\",\"empty\":\"\"}\n");
}

TEST(LogLine, NobodyCanWriteALineOfHisOwn) {
    const LogLine line{{}, LogLevel::info, "node", "a\nb\x1b[2J", {{"k", "x\ny"}}};
    EXPECT_EQ(format_line(line, LogFormat::plaintext),
              "1970-01-01 00:00:00.000000+00:00 [info] node: a\\nb\\x1b[2J k=\"x\\ny\"\n");
}

class LogFile : public testing::Test {
  protected:
    LogFile() {
        config_.console = false;
        config_.directory = folder_ / "logs";
        config_.file = "r.log";
    }
    std::string path(const char* name = "r.log") const { return config_.directory + "/" + name; }

    Folder folder_;
    LogConfig config_;
};

TEST_F(LogFile, TakesWhatIsSevereEnough) {
    config_.default_level = LogLevel::debug;
    config_.levels["queue"] = LogLevel::error;
    Log log(config_);
    ASSERT_TRUE(log.open_file());
    log.write(LogLevel::debug, "node", "below the file's level");
    log.write(LogLevel::warning, "queue", "below the component's level");
    log.write(LogLevel::error, "queue", "bad");
    log.info("good");
    EXPECT_EQ(read(path()).find("below"), std::string::npos);
    EXPECT_NE(read(path()).find("[error] queue: bad\n"), std::string::npos);
    config_.file_level = LogLevel::none;
    log.set_levels(config_);
    log.write(LogLevel::critical, "node", "unheard");
    EXPECT_EQ(read(path()).find("unheard"), std::string::npos);
}

TEST_F(LogFile, IsOpenedAgainAfterItWasMovedAway) {
    Log log(config_);
    ASSERT_TRUE(log.open_file());
    log.info("one");
    std::filesystem::rename(path(), path("old"));
    log.info("two");
    ASSERT_TRUE(log.open_file());
    log.info("three");
    EXPECT_NE(read(path("old")).find("two"), std::string::npos);
    EXPECT_EQ(read(path()).find("two"), std::string::npos);
    EXPECT_NE(read(path()).find("three"), std::string::npos);
}

TEST_F(LogFile, IsBegunAnewAtItsSize) {
    config_.rotation_bytes = 100;
    config_.rotation_count = 2;
    Log log(config_);
    ASSERT_TRUE(log.open_file());
    for (const char* text : {"first", "second", "third", "fourth"}) {
        log.info(std::string(50, '.') + text);
    }
    EXPECT_NE(read(path()).find("fourth"), std::string::npos);
    EXPECT_NE(read(path("r.log.0")).find("third"), std::string::npos);
    EXPECT_NE(read(path("r.log.1")).find("second"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(path("r.log.2")));
}

TEST_F(LogFile, ThatCannotBeOpenedIsNamed) {
    config_.directory = folder_ / "no directory";
    write_file(config_.directory, "a file");
    Log log(config_);
    const auto opened = log.open_file();
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error(), "log file " + path() + " cannot be opened: Not a directory");
}

}  // namespace
}  // namespace revenant::node
