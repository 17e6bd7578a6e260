#include "node/log/log_line.h"

#include <gtest/gtest.h>

namespace revenant::node {
namespace {

TEST(LogLine, HasTimeLevelComponentAndFields) {
    const LogField fields[] = {{"name", "a -> b"}, {"count", "3"}, {"empty", ""}};
    const LogLine line{{1'700'000'000'123'456}, LogLevel::warning, "connection", "closed", fields};
    EXPECT_EQ(format_line(line, LogFormat::plaintext),
              "2023-11-14 22:13:20.123456+00:00 [warning] connection: closed "
              "name=\"a -> b\" count=3 empty=\"\"\n");
    EXPECT_EQ(format_line(line, LogFormat::json),
              "{\"time\":\"2023-11-14 22:13:20.123456+00:00\",\"level\":\"warning\","
              "\"component\":\"connection\",\"msg\":\"closed\",\"name\":\"a -> b\","
              "\"count\":\"3\",\"empty\":\"\"}\n");
}

TEST(LogLine, NobodyCanWriteALineOfHisOwn) {
    const LogField fields[] = {{"k", "x\ny"}};
    const LogLine line{{}, LogLevel::info, "node", "a\nb\x1b[2J", fields};
    EXPECT_EQ(format_line(line, LogFormat::plaintext),
              "1970-01-01 00:00:00.000000+00:00 [info] node: a\\nb\\x1b[2J k=\"x\\ny\"\n");
}

std::string written(std::string_view text, std::string_view value, LogFormat format) {
    const LogField fields[] = {{"k", value}};
    const std::string line = format_line({{}, LogLevel::info, "n", text, fields}, format);
    return format == LogFormat::json ? line.substr(line.find("\"msg\""))
                                     : line.substr(line.find("n: "));
}

TEST(LogLine, ControlsBeyondAsciiAreEscaped) {
    // U+0085 and U+009B: terminals treat them as a new line and the start of a control sequence.
    EXPECT_EQ(written("a\u0085b", "\u009b2J", LogFormat::plaintext), "n: a\\u0085b k=\\u009b2J\n");
    EXPECT_EQ(written("a\u2028b", "c \u2029d", LogFormat::plaintext),
              "n: a\\u2028b k=\"c \\u2029d\"\n");
    EXPECT_EQ(written("a\u0085\u2028\x7f", "\u009b\u2029", LogFormat::json),
              "\"msg\":\"a\\u0085\\u2028\\u007f\",\"k\":\"\\u009b\\u2029\"}\n");
}

TEST(LogLine, OtherLettersStayAsTheyAre) {
    const char* const text = "\u00a0\u00e4\u2027\u202f\u20ac\U0001f42d";
    EXPECT_EQ(written(text, text, LogFormat::plaintext),
              "n: " + std::string(text) + " k=" + text + "\n");
    EXPECT_EQ(written(text, text, LogFormat::json),
              "\"msg\":\"" + std::string(text) + "\",\"k\":\"" + text + "\"}\n");
}

TEST(LogLine, WhatIsNotUtf8IsMadeReadable) {
    EXPECT_EQ(written("a\x9b z", "\xe2\x80", LogFormat::plaintext), "n: a\\x9b z k=\\xe2\\x80\n");
    EXPECT_EQ(written("a\x9b z", "\xe2\x80", LogFormat::json),
              "\"msg\":\"a\\ufffd z\",\"k\":\"\\ufffd\\ufffd\"}\n");
}

}  // namespace
}  // namespace revenant::node
