// LogFile: the log file. It is rotated by size, and reopened after it was moved away.
#pragma once

#include "base/result.h"
#include "node/config/config.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace revenant::node {

class LogFile {
  public:
    explicit LogFile(const LogConfig& config);
    ~LogFile();
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;

    const std::string& path() const { return path_; }
    // Opens the file, also while another thread writes; that thread continues with the new file.
    Result<void, std::string> open();
    // Writes whole lines. Called by one thread at a time. Returns false if any line could not be
    // written.
    bool write(std::string_view lines);

  private:
    Result<int, std::string> open_descriptor() const;
    void take_over();
    bool write_line(std::string_view line);
    void rotate();

    const std::string path_;
    const std::uint64_t rotation_bytes_;
    const unsigned rotation_count_;
    std::atomic<int> opened_{-1};  // not yet used by the writing thread
    int descriptor_ = -1;
    std::uint64_t bytes_ = 0;
};

// Writes everything, without a time limit; returns false on an error.
bool write_all(int descriptor, std::string_view text);

}  // namespace revenant::node
