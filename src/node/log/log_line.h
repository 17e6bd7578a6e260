// LogLine: what a line of the log tells, and how it is written: time, level, component, what
// happened, and key=value; or the same as JSON.
#pragma once

#include "base/time.h"
#include "node/config/config.h"

#include <span>
#include <string>
#include <string_view>

namespace revenant::node {

struct LogField {
    std::string_view name;
    std::string_view value;
};

struct LogLine {
    Timestamp at;
    LogLevel level = LogLevel::info;
    std::string_view component;
    std::string_view text;
    std::span<const LogField> fields;
};

// One line, however many there are in the text, with its line feed.
std::string format_line(const LogLine& line, LogFormat format);

}  // namespace revenant::node
