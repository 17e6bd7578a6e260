// Log: messages for operators. One line per event, to a file, to stderr or to both. Contains no
// secrets and no message bodies. All threads may use it; none waits for it (log_outlet.h).
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

    // Opens the log file, if configured. Called again after the file was moved away.
    Result<void, std::string> open_file();
    // The outputs: the file, and the console under its RabbitMQ name.
    std::vector<std::string> destinations() const;
    // Changes levels only.
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

    // Waits until all lines are written; returns false on a timeout.
    bool drain(Duration patience);
    // Whether all lines are written. Async-signal-safe.
    bool is_drained() const;
    // Lines dropped because an output was too slow or failed.
    std::uint64_t lines_dropped() const;

  private:
    LogLevel level_threshold(std::string_view component) const;

    std::mutex mutex_;  // guards the levels and the order of lines
    LogConfig config_;
    std::shared_ptr<LogFile> file_;  // absent: not configured
    // The outputs are independent, so that a blocked one does not delay the other. file_outlet_
    // exists after the first successful open_file().
    std::unique_ptr<LogOutlet> console_;
    std::unique_ptr<LogOutlet> file_outlet_;
};

}  // namespace revenant::node
