#include "node/log/log.h"

#include "runtime/system_clock.h"

#include <unistd.h>

#include <utility>

namespace revenant::node {
namespace {

LogOutlet::Loss loss_in(LogFormat format) {
    return [format](std::uint64_t lines) {
        const std::string count = std::to_string(lines);
        const LogField fields[] = {{"lines", count}};
        return format_line({runtime::wall_now(), LogLevel::warning, "node",
                            "log lines were dropped: the output was too slow or failed", fields},
                           format);
    };
}

}  // namespace

Log::Log(LogConfig config) : config_(std::move(config)) {
    if (!config_.file.empty()) file_ = std::make_shared<LogFile>(config_);
    if (config_.console) {
        console_ = std::make_unique<LogOutlet>(
            [](std::string_view lines) { return write_all(STDERR_FILENO, lines); },
            loss_in(config_.console_format));
    }
}

std::vector<std::string> Log::destinations() const {
    std::vector<std::string> all;
    if (file_) all.push_back(file_->path());
    if (console_) all.emplace_back("<stderr>");
    return all;
}

Result<void, std::string> Log::open_file() {
    if (!file_) return {};
    // Earlier lines belong in the file that was moved away.
    if (file_outlet_) file_outlet_->drain(log_patience);
    REVENANT_TRY_VOID(file_->open());
    if (file_outlet_) return {};
    const std::lock_guard lock(mutex_);
    file_outlet_ = std::make_unique<LogOutlet>(
        [file = file_](std::string_view lines) { return file->write(lines); },
        loss_in(config_.file_format));
    return {};
}

void Log::set_levels(const LogConfig& config) {
    const std::lock_guard lock(mutex_);
    config_.console_level = config.console_level;
    config_.file_level = config.file_level;
    config_.default_level = config.default_level;
    config_.levels = config.levels;
}

LogLevel Log::level_threshold(std::string_view component) const {
    const auto own = config_.levels.find(component);
    return own == config_.levels.end() ? config_.default_level : own->second;
}

void Log::tell(LogLevel level, std::string_view component, std::string_view text,
               std::span<const LogField> fields) {
    const LogLine line{runtime::wall_now(), level, component, text, fields};
    const std::lock_guard lock(mutex_);  // held until the push, so that lines are in order of time
    if (level < level_threshold(component)) return;
    if (console_ && level >= config_.console_level) {
        console_->push(format_line(line, config_.console_format));
    }
    if (file_outlet_ && level >= config_.file_level) {
        file_outlet_->push(format_line(line, config_.file_format));
    }
}

bool Log::drain(Duration patience) {
    const bool told = !console_ || console_->drain(patience);
    return (!file_outlet_ || file_outlet_->drain(patience)) && told;
}

bool Log::is_drained() const {
    return (!console_ || console_->is_drained()) && (!file_outlet_ || file_outlet_->is_drained());
}

std::uint64_t Log::lines_dropped() const {
    return (console_ ? console_->lines_dropped() : 0) +
           (file_outlet_ ? file_outlet_->lines_dropped() : 0);
}

}  // namespace revenant::node
