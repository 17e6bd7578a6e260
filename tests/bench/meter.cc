#include "meter.h"

#include "clock.h"
#include "failure.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

namespace bench {

namespace {

double cpu_seconds(clockid_t clock) {
    timespec time{};
    if (::clock_gettime(clock, &time) != 0) throw Failure("the broker's process is gone");
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// The sum of utime and stime in /proc, but in nanoseconds instead of clock ticks.
double process_cpu_seconds(pid_t process) {
    if (process == 0) return 0;
    clockid_t clock{};
    if (::clock_getcpuclockid(process, &clock) != 0) throw Failure("the broker's process is gone");
    return cpu_seconds(clock);
}

double machine_cpu_seconds() {
    std::ifstream file("/proc/stat");
    std::string name;
    std::array<double, 8> ticks{};  // user nice system idle iowait irq softirq steal
    file >> name;
    for (double& value : ticks) file >> value;
    const double busy = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7];
    return busy / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double status_kib(pid_t process, const std::string& key) {
    if (process == 0) return 0;
    std::ifstream file("/proc/" + std::to_string(process) + "/status");
    for (std::string line; std::getline(file, line);) {
        if (line.rfind(key + ":", 0) != 0) continue;
        return std::stod(line.substr(key.size() + 1));
    }
    throw Failure("the broker's process is gone");
}

double status_mb(pid_t process, const std::string& key) {
    return status_kib(process, key) * 1024 / 1e6;
}

void reset_peak(pid_t process) {
    if (process == 0) return;
    std::ofstream("/proc/" + std::to_string(process) + "/clear_refs") << "5";
}

}  // namespace

Meter::Meter(pid_t broker) : broker_(broker) {
    reset_peak(broker);
    machine_cpu_start_ = machine_cpu_seconds();
    generator_cpu_start_ = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
    broker_cpu_start_ = process_cpu_seconds(broker);
    start_ns_ = machine_start_ns_ = now_ns();
}

Cost Meter::stop() const {
    Cost cost;
    cost.seconds = seconds_since(start_ns_);
    cost.broker_cpu_seconds = process_cpu_seconds(broker_) - broker_cpu_start_;
    cost.generator_cpu_seconds = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - generator_cpu_start_;
    const double others = machine_cpu_seconds() - machine_cpu_start_ - cost.broker_cpu_seconds -
                          cost.generator_cpu_seconds;
    cost.other_cores = std::max(0.0, others / std::max(seconds_since(machine_start_ns_), 1e-3));
    cost.rss_mb = status_mb(broker_, "VmRSS");
    cost.peak_rss_mb = status_mb(broker_, "VmHWM");
    return cost;
}

double resident_mib(pid_t process) { return status_kib(process, "VmRSS") / 1024; }

double settled_resident_mib(pid_t process) {
    constexpr auto probe_interval = std::chrono::milliseconds(200);
    constexpr int probes_max = 50;
    constexpr int steady_probes = 5;
    constexpr double steady_share = 0.01;
    double last = resident_mib(process);
    for (int probe = 0, steady = 0; probe < probes_max && steady < steady_probes; ++probe) {
        std::this_thread::sleep_for(probe_interval);
        const double now = resident_mib(process);
        steady = std::abs(now - last) <= steady_share * last ? steady + 1 : 0;
        last = now;
    }
    return last;
}

Memory settled_memory(pid_t process) {
    constexpr auto probe_interval = std::chrono::milliseconds(100);
    constexpr int probes_max = 20;
    constexpr int steady_probes = 5;
    constexpr double fall_mb = 0.2;  // the precision of the kernel's count
    double lowest = status_mb(process, "VmRSS");
    for (int probe = 0, steady = 0; probe < probes_max && steady < steady_probes; ++probe) {
        std::this_thread::sleep_for(probe_interval);
        const double now = status_mb(process, "VmRSS");
        steady = now < lowest - fall_mb ? 0 : steady + 1;
        lowest = std::min(lowest, now);
    }
    return {.resident_mb = status_mb(process, "VmRSS"),
            .anonymous_mb = status_mb(process, "RssAnon"),
            .peak_mb = status_mb(process, "VmHWM")};
}

}  // namespace bench
