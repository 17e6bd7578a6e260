// What a run costs: time, the broker's CPU and memory, and how much other programs disturbed it.
// The broker is watched from outside by its process id, so that every broker is measured in the
// same way.
#pragma once

#include <cstdint>
#include <sys/types.h>

namespace bench {

struct Cost {
    double seconds = 0;
    double broker_cpu_seconds = 0;     // User and system time of all its threads.
    double generator_cpu_seconds = 0;  // Ours.
    double other_cores = 0;  // Cores kept busy by everything else on the machine, steal included.
    double rss_mb = 0;
    double peak_rss_mb = 0;
};

class Meter {
  public:
    // Starts at once. Without a process id only time and the generator's own CPU are measured.
    explicit Meter(pid_t broker);

    // Moves the start of the time, not of the CPU, to an event observed later.
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

// Memory that a broker gives back, or keeps taking, shortly after a load is not missed: this waits,
// ten seconds at most, until the value has been steady for one.
double settled_resident_mib(pid_t process);

struct Memory {
    double resident_mb = 0;
    double anonymous_mb = 0;  // The part of it that is no file's.
    double peak_mb = 0;       // Since the last Meter started.
};

// After a load a broker has two seconds to give memory back: looks when it no longer falls.
Memory settled_memory(pid_t process);

}  // namespace bench
