// Log: what operators read. One line per event, in a file, on stderr or both. No secrets, no
// bodies. May be used by every thread, and keeps none waiting (log_outlet.h).
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "node/config/config.h"
#include "node/log/log_file.h"
#include "node/log/log_line.h"
#include "node/log/log_outlet.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::node {

class Log {
  public:
    explicit Log(LogConfig config);
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    // Opens the file, if there is to be one; again, after somebody moved it away.
    Result<void, std::string> open_file();
    // Where lines go: the file, and the console by its name in RabbitMQ.
    std::vector<std::string> destinations() const;
    // Levels only.
    void set_levels(const LogConfig& config);

    void write(LogLevel level, std::string_view component, std::string_view text,
               std::initializer_list<LogField> fields = {}) {
        tell(level, component, text, {fields.begin(), fields.size()});
    }
    void tell(LogLevel level, std::string_view component, std::string_view text,
              std::span<const LogField> fields);
    void info(std::string_view text, std::initializer_list<LogField> fields = {}) {
        write(LogLevel::info, "node", text, fields);
    }
    void warn(std::string_view text, std::initializer_list<LogField> fields = {}) {
        write(LogLevel::warning, "node", text, fields);
    }

    // Waits until what was said is written; false if a place takes longer.
    bool drain(Duration patience);
    // The same question without waiting; also in a signal handler.
    bool is_drained() const;
    // For want of room, or because they could not be written.
    std::uint64_t lines_dropped() const;

  private:
    LogLevel level_threshold(std::string_view component) const;

    std::mutex mutex_;  // guards the levels, and the order of lines
    LogConfig config_;
    std::shared_ptr<LogFile> file_;  // absent: there is to be none
    // A place that takes nothing does not hold up the other. That of the file is there from the
    // first successful open_file() on.
    std::unique_ptr<LogOutlet> console_;
    std::unique_ptr<LogOutlet> file_outlet_;
};

}  // namespace revenant::node
