#include "node/log.h"

#include "node/config_value.h"
#include "runtime/system_clock.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <sys/stat.h>
#include <utility>

namespace revenant::node {
namespace {

std::string show_time(Timestamp at) {
    const std::time_t seconds = at.whole_seconds();
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char text[64];
    std::snprintf(text, sizeof text, "%04d-%02d-%02d %02d:%02d:%02d.%06d+00:00",
                  parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
                  parts.tm_min, parts.tm_sec, static_cast<int>(at.us % 1'000'000));
    return text;
}

// What would break a line or a terminal is written as \xNN.
void append_printable(std::string& line, std::string_view text) {
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte != 0x7f) {
            line += c;
            continue;
        }
        char escaped[5];
        std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
        line += c == '\n' ? "\\n" : escaped;
    }
}

void append_field(std::string& line, const LogField& field) {
    line.append(" ").append(field.name).append("=");
    const bool plain =
        !field.value.empty() && field.value.find_first_of(" \"=\t\r\n") == std::string_view::npos;
    if (plain) {
        append_printable(line, field.value);
    } else {
        line += boost::json::serialize(boost::json::value(field.value));
    }
}

std::string format_json(const LogLine& line) {
    boost::json::object object{{"time", show_time(line.at)},
                               {"level", name_of(line.level)},
                               {"component", line.component},
                               {"msg", line.text}};
    for (const LogField& field : line.fields) object[field.name] = field.value;
    return boost::json::serialize(object) + "\n";
}

// A log that cannot be written is no reason to stop serving.
void write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::write(descriptor, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(count));
    }
}

}  // namespace

std::string format_line(const LogLine& line, LogFormat format) {
    if (format == LogFormat::json) return format_json(line);
    std::string text = show_time(line.at);
    text.append(" [").append(name_of(line.level)).append("] ");
    text.append(line.component).append(": ");
    append_printable(text, line.text);
    for (const LogField& field : line.fields) append_field(text, field);
    return text + '\n';
}

Log::~Log() {
    if (file_ >= 0) ::close(file_);
}

std::vector<std::string> Log::places() const {
    std::vector<std::string> all;
    if (!config_.file.empty()) all.push_back(path());
    if (config_.console) all.emplace_back("<stderr>");
    return all;
}

std::string Log::path() const {
    return config_.file.starts_with('/') ? config_.file : config_.directory + "/" + config_.file;
}

Result<int, std::string> Log::open_descriptor() const {
    std::error_code ignored;  // what it hinders shows when the file is opened
    std::filesystem::create_directories(std::filesystem::path(path()).parent_path(), ignored);
    const int file = ::open(path().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    if (file >= 0) return file;
    return Unexpected{"log file " + path() + " cannot be opened: " + std::strerror(errno)};
}

Result<void, std::string> Log::open_file() {
    const std::lock_guard lock(mutex_);
    if (config_.file.empty()) return {};
    REVENANT_TRY(const int file, open_descriptor());
    if (file_ >= 0) ::close(file_);
    file_ = file;
    struct stat status {};
    file_bytes_ = ::fstat(file_, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
    return {};
}

void Log::set_levels(const LogConfig& config) {
    const std::lock_guard lock(mutex_);
    config_.console_level = config.console_level;
    config_.file_level = config.file_level;
    config_.default_level = config.default_level;
    config_.levels = config.levels;
}

LogLevel Log::least_level(std::string_view component) const {
    const auto own = config_.levels.find(component);
    return own == config_.levels.end() ? config_.default_level : own->second;
}

void Log::write(LogLevel level, std::string_view component, std::string_view text,
                std::initializer_list<LogField> fields) {
    const LogLine line{runtime::system_now(), level, component, text, fields};
    const std::lock_guard lock(mutex_);
    if (level < least_level(component)) return;
    if (config_.console && level >= config_.console_level) {
        write_all(STDERR_FILENO, format_line(line, config_.console_format));
    }
    if (file_ >= 0 && level >= config_.file_level) {
        write_file(format_line(line, config_.file_format));
    }
}

void Log::write_file(const std::string& line) {
    if (config_.rotation_bytes != 0 && file_bytes_ > 0 &&
        file_bytes_ + line.size() > config_.rotation_bytes) {
        rotate();
    }
    write_all(file_, line);
    file_bytes_ += line.size();
}

// revenant.log, then revenant.log.0, revenant.log.1 … , the oldest last.
void Log::rotate() {
    const std::string name = path();
    const auto old_name = [&](unsigned index) { return name + "." + std::to_string(index); };
    for (unsigned i = config_.rotation_count; i > 1; --i) {
        std::rename(old_name(i - 2).c_str(), old_name(i - 1).c_str());
    }
    if (config_.rotation_count == 0) {
        ::unlink(name.c_str());
    } else {
        std::rename(name.c_str(), old_name(0).c_str());
    }
    const auto file = open_descriptor();
    if (!file) return;
    ::close(std::exchange(file_, *file));
    file_bytes_ = 0;
}

}  // namespace revenant::node
