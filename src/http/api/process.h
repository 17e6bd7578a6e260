// Information from the operating system about this process and its machine.
#pragma once

#include <cstdint>
#include <string>

namespace revenant::http {

struct ProcessView {
    std::uint64_t resident_bytes = 0;
    std::uint64_t open_descriptors = 0;
    std::uint64_t descriptors_max = 0;
    std::uint64_t open_sockets = 0;
    std::uint64_t threads = 0;
    std::uint64_t threads_max = 0;
    double processor_seconds = 0;
    std::uint64_t pid = 0;
    std::uint64_t processors = 0;
};
ProcessView view_process();

// Free bytes on the disk that contains the path or its nearest existing parent.
std::uint64_t disk_free_bytes(const std::string& path);

}  // namespace revenant::http
