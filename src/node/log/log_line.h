// LogLine: a log line and its format: time, level, component, text and key=value fields; or the
// same as JSON.
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

// Always one line, with its line feed.
std::string format_line(const LogLine& line, LogFormat format);

}  // namespace revenant::node
