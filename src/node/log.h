// Log: what operators read. One line per event: time, level, component, what happened, and
// key=value; or the same as JSON. No secrets, no bodies. May be used by every thread.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "node/config.h"

#include <initializer_list>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

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
    std::initializer_list<LogField> fields;
};

// One line, however many there are in the text, with its line feed.
std::string format_line(const LogLine& line, LogFormat format);

class Log {
  public:
    explicit Log(LogConfig config) : config_(std::move(config)) {}
    ~Log();
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    // Opens the file, if there is to be one; again, after somebody moved it away.
    Result<void, std::string> open_file();
    // Where lines go: the file, and the console by its name in RabbitMQ.
    std::vector<std::string> places() const;
    // Levels only.
    void set_levels(const LogConfig& config);

    void write(LogLevel level, std::string_view component, std::string_view text,
               std::initializer_list<LogField> fields = {});
    void info(std::string_view text, std::initializer_list<LogField> fields = {}) {
        write(LogLevel::info, "node", text, fields);
    }
    void warn(std::string_view text, std::initializer_list<LogField> fields = {}) {
        write(LogLevel::warning, "node", text, fields);
    }

  private:
    std::string path() const;
    Result<int, std::string> open_descriptor() const;
    LogLevel least_level(std::string_view component) const;
    void write_file(const std::string& line);
    void rotate();

    std::mutex mutex_;  // guards everything below
    LogConfig config_;
    int file_ = -1;
    std::uint64_t file_bytes_ = 0;
};

}  // namespace revenant::node
