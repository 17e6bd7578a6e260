// LogFile: the file that lines are written to. It is begun anew at its size, and opened again after
// somebody moved it away.
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
    // Opens it, also while another thread writes: that one goes on with the file opened last.
    Result<void, std::string> open();
    // Whole lines, by one thread at a time. False if not all of them could be written.
    bool write(std::string_view lines);

  private:
    Result<int, std::string> open_descriptor() const;
    void take_over();
    bool write_line(std::string_view line);
    void rotate();

    const std::string path_;
    const std::uint64_t rotation_bytes_;
    const unsigned rotation_count_;
    std::atomic<int> opened_{-1};  // not yet taken over by whoever writes
    int descriptor_ = -1;
    std::uint64_t bytes_ = 0;
};

// All of it, however long that takes; false if it cannot be written.
bool write_all(int descriptor, std::string_view text);

}  // namespace revenant::node
