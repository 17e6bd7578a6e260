// The disk usage of a run, measured from outside. The broker's data directory is only read, never
// written to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>

namespace bench {

// The blocks that a directory tree occupies, as counted by du; 0 if it does not exist.
double allocated_mb(const std::string& directory);

// By how much the directory is smaller than `bytes`: confirmed persistent messages must be in it.
double unsaved_mb(const std::string& directory, uint64_t bytes);

struct DiskCost {
    // Bytes written to the directory's device by any process; absent if the file system has no
    // device.
    std::optional<double> device_mb;
    // Bytes that the kernel attributes to the broker's process. It rounds each sync up by as much
    // as 1 MiB.
    double process_mb = 0;
    // Bytes per second written to the device while the broker was idle.
    std::optional<double> background_mb_per_second;
};

// Starts and ends with no dirty pages in the file system, so that it counts all writes of the run
// and none from before.
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
