#include "disk.h"

#include "failure.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <thread>
#include <utility>

namespace bench {

namespace {

namespace fs = std::filesystem;

constexpr double bytes_per_mb = 1e6;
constexpr double block_bytes = 512;  // unit of st_blocks and diskstats, for every device

double blocks_mb(const fs::path& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return 0;  // files may be deleted concurrently
    return static_cast<double>(status.st_blocks) * block_bytes / bytes_per_mb;
}

void write_back(const std::string& directory) {
    const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) throw Failure(directory + ": " + std::strerror(errno));
    const int result = ::syncfs(descriptor);
    ::close(descriptor);
    if (result != 0) throw Failure(directory + ": syncfs: " + std::strerror(errno));
}

// Fields: major minor name, then reads, merged, sectors, ms, then writes, merged and sectors
// written.
std::optional<double> device_written_mb(const std::string& directory) {
    struct stat status {};
    if (::stat(directory.c_str(), &status) != 0)
        throw Failure(directory + ": " + std::strerror(errno));
    std::ifstream file("/proc/diskstats");
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields(line);
        unsigned device_major = 0;
        unsigned device_minor = 0;
        std::string name;
        double passed_over = 0;
        double sectors = 0;
        fields >> device_major >> device_minor >> name;
        for (int column = 0; column < 6; ++column) fields >> passed_over;
        fields >> sectors;
        if (fields && makedev(device_major, device_minor) == status.st_dev)
            return sectors * block_bytes / bytes_per_mb;
    }
    return std::nullopt;
}

double process_written_mb(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/io");
    const std::string key = "write_bytes:";
    for (std::string line; std::getline(file, line);) {
        if (line.rfind(key, 0) == 0) return std::stod(line.substr(key.size())) / bytes_per_mb;
    }
    throw Failure("what the broker's process writes cannot be read");
}

std::optional<double> background_mb_per_second(const std::string& directory) {
    constexpr auto watch_time = std::chrono::seconds(1);
    const auto before = device_written_mb(directory);
    std::this_thread::sleep_for(watch_time);
    const auto after = device_written_mb(directory);
    if (!before || !after) return std::nullopt;
    return *after - *before;
}

}  // namespace

double allocated_mb(const std::string& directory) {
    double sum = blocks_mb(directory);
    std::error_code error;
    fs::recursive_directory_iterator each(directory, error);
    for (; !error && each != fs::recursive_directory_iterator(); each.increment(error))
        sum += blocks_mb(each->path());
    return sum;
}

double unsaved_mb(const std::string& directory, uint64_t bytes) {
    return std::max(0.0, static_cast<double>(bytes) / bytes_per_mb - allocated_mb(directory));
}

DiskMeter::DiskMeter(std::string directory, pid_t broker)
    : directory_(std::move(directory)), broker_(broker) {
    write_back(directory_);
    background_mb_per_second_ = bench::background_mb_per_second(directory_);
    device_start_mb_ = device_written_mb(directory_);
    process_start_mb_ = process_written_mb(broker_);
}

DiskCost DiskMeter::stop() const {
    write_back(directory_);
    DiskCost cost;
    cost.background_mb_per_second = background_mb_per_second_;
    cost.process_mb = process_written_mb(broker_) - process_start_mb_;
    const auto device_end_mb = device_written_mb(directory_);
    if (device_start_mb_ && device_end_mb) cost.device_mb = *device_end_mb - *device_start_mb_;
    return cost;
}

}  // namespace bench
