// What a run costs on disk, seen from outside like the rest. A broker's data directory is looked at
// and never written to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>

namespace bench {

// The blocks that a directory and all below it occupy, as du counts them; 0 when it is not there.
double allocated_mb(const std::string& directory);

// How much of so many bytes the directory cannot hold, as it is smaller: persistent messages that
// were confirmed must be somewhere in it.
double unsaved_mb(const std::string& directory, uint64_t bytes);

struct DiskCost {
    // Of the device that holds the directory, whoever wrote it; nothing for a file system that has
    // no device of its own.
    std::optional<double> device_mb;
    // What the kernel puts down to the broker's process. It rounds a sync up, by as much as 1 MiB.
    double process_mb = 0;
    // What the device had to write per second while the broker had nothing to do.
    std::optional<double> background_mb_per_second;
};

// Counts from a file system without unwritten pages to one without unwritten pages, so that neither
// what was done before is counted nor what was done in between missed.
class DiskMeter {
  public:
    DiskMeter(std::string directory, pid_t broker);
    DiskCost stop() const;

  private:
    std::string directory_;
    pid_t broker_;
    std::optional<double> background_mb_per_second_;
    std::optional<double> device_start_mb_;
    double process_start_mb_ = 0;
};

}  // namespace bench
