#include "node/log/log_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <utility>

namespace revenant::node {

bool write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::write(descriptor, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

LogFile::LogFile(const LogConfig& config)
    : path_(config.file.starts_with('/') ? config.file : config.directory + "/" + config.file),
      rotation_bytes_(config.rotation_bytes),
      rotation_count_(config.rotation_count) {}

LogFile::~LogFile() {
    take_over();
    if (descriptor_ >= 0) ::close(descriptor_);
}

Result<int, std::string> LogFile::open_descriptor() const {
    std::error_code ignored;  // an error shows when the file is opened
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
    const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    if (file >= 0) return file;
    return Unexpected{"cannot open log file " + path_ + ": " + std::strerror(errno)};
}

Result<void, std::string> LogFile::open() {
    REVENANT_TRY(const int file, open_descriptor());
    const int unused = opened_.exchange(file);
    if (unused >= 0) ::close(unused);
    return {};
}

void LogFile::take_over() {
    const int file = opened_.exchange(-1);
    if (file < 0) return;
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = file;
    struct stat status {};
    bytes_ = ::fstat(file, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

bool LogFile::write(std::string_view lines) {
    take_over();
    if (rotation_bytes_ == 0) return write_all(descriptor_, lines);
    bool all = true;
    while (!lines.empty()) {
        const std::string_view line = lines.substr(0, lines.find('\n') + 1);
        if (!write_line(line)) all = false;
        lines.remove_prefix(line.size());
    }
    return all;
}

bool LogFile::write_line(std::string_view line) {
    if (bytes_ > 0 && bytes_ + line.size() > rotation_bytes_) rotate();
    bytes_ += line.size();
    return write_all(descriptor_, line);
}

// Files are named revenant.log, revenant.log.0, revenant.log.1 …; the oldest is last.
void LogFile::rotate() {
    const auto old_name = [&](unsigned index) { return path_ + "." + std::to_string(index); };
    for (unsigned i = rotation_count_; i > 1; --i) {
        std::rename(old_name(i - 2).c_str(), old_name(i - 1).c_str());
    }
    if (rotation_count_ == 0) {
        ::unlink(path_.c_str());
    } else {
        std::rename(path_.c_str(), old_name(0).c_str());
    }
    const auto file = open_descriptor();
    if (!file) return;
    ::close(std::exchange(descriptor_, *file));
    bytes_ = 0;
}

}  // namespace revenant::node
