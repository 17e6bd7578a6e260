// The cost of a run: time, the broker's CPU and memory, and the load caused by other programs. The
// broker is observed from outside by its process id, so that all brokers are measured in the same
// way.
#pragma once

#include <cstdint>
#include <sys/types.h>

namespace bench {

struct Cost {
    double seconds = 0;
    double broker_cpu_seconds = 0;     // user and system time of all threads
    double generator_cpu_seconds = 0;  // of this program
    double other_cores = 0;            // cores used by all other processes, steal included
    double rss_mb = 0;
    double peak_rss_mb = 0;
};

class Meter {
  public:
    // Starts immediately. Without a process id, measures only time and the generator's CPU.
    explicit Meter(pid_t broker);

    // Sets the start of the time, but not of the CPU time, to a later event.
    void started_at(uint64_t start_ns) { start_ns_ = start_ns; }
    Cost stop() const;

  private:
    pid_t broker_;
    uint64_t start_ns_;
    uint64_t machine_start_ns_;
    double broker_cpu_start_;
    double generator_cpu_start_;
    double machine_cpu_start_;
};

double resident_mib(pid_t process);

// Waits until the value has been stable for one second, at most ten seconds, because brokers free
// or allocate memory shortly after a load.
double settled_resident_mib(pid_t process);

struct Memory {
    double resident_mb = 0;
    double anonymous_mb = 0;  // the part not backed by files
    double peak_mb = 0;       // since the last Meter started
};

// Waits until memory no longer falls: a broker has two seconds to free memory after a load.
Memory settled_memory(pid_t process);

}  // namespace bench
