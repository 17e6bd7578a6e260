#include "http/api/process.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <sys/resource.h>
#include <system_error>
#include <thread>

namespace revenant::http {
namespace {

double seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

void count_descriptors(ProcessView& process) {
    std::error_code error;
    for (std::filesystem::directory_iterator entry("/proc/self/fd", error), end; entry != end;
         entry.increment(error)) {
        if (error) return;
        process.open_descriptors += 1;
        // The descriptor may have been closed in the meantime.
        std::error_code gone;
        const auto target = std::filesystem::read_symlink(entry->path(), gone);
        if (!gone && target.native().starts_with("socket:")) process.open_sockets += 1;
    }
}

std::uint64_t threads_max() {
    std::uint64_t number = 0;
    std::ifstream("/proc/sys/kernel/threads-max") >> number;
    rlimit limit{};
    if (getrlimit(RLIMIT_NPROC, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return number;
    return std::min<std::uint64_t>(number, limit.rlim_cur);
}

}  // namespace

ProcessView view_process() {
    ProcessView process;
    process.pid = static_cast<std::uint64_t>(getpid());
    process.processors = std::thread::hardware_concurrency();
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        std::uint64_t number = 0;
        if (word == "VmRSS:" && status >> number) process.resident_bytes = number * 1024;
        if (word == "Threads:" && status >> number) process.threads = number;
    }
    count_descriptors(process);
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) process.descriptors_max = limit.rlim_cur;
    process.threads_max = threads_max();
    rusage usage{};
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        process.processor_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    }
    return process;
}

std::uint64_t disk_free_bytes(const std::string& path) {
    std::error_code error;
    std::filesystem::path folder = std::filesystem::absolute(path, error);
    while (!std::filesystem::exists(folder, error) && folder.has_relative_path()) {
        folder = folder.parent_path();
    }
    const auto space = std::filesystem::space(folder, error);
    return error ? 0 : space.available;
}

}  // namespace revenant::http
