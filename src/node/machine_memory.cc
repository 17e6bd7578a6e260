#include "node/machine_memory.h"

#include "node/config/config_value.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

namespace revenant::node {
namespace {

// "max" or an empty file means no limit.
std::uint64_t limit_in(const std::string& path) {
    std::ifstream file(path);
    std::string word;
    file >> word;
    const auto number = parse_number(word, 1, UINT64_MAX);
    return number ? *number : UINT64_MAX;
}

// For cgroups version 2: the line "0::/system.slice/revenant.service".
std::string path_of_group(std::string_view own_group) {
    constexpr std::string_view begin = "0::";
    const std::size_t at = own_group.find(begin);
    if (at == std::string_view::npos) return {};
    own_group.remove_prefix(at + begin.size());
    return std::string(own_group.substr(0, own_group.find('\n')));
}

}  // namespace

std::uint64_t memory_bytes_within(std::uint64_t physical_bytes, const std::string& groups,
                                  const std::string& own_group) {
    std::uint64_t bytes = physical_bytes;
    // The limits of all parent groups apply as well. In a container, the process's group is the
    // root.
    std::string path = path_of_group(own_group);
    while (true) {
        bytes = std::min(bytes, limit_in(groups + path + "/memory.max"));
        const std::size_t slash = path.rfind('/');
        if (slash == std::string::npos) break;
        path.resize(slash);
    }
    return std::min(bytes, limit_in(groups + "/memory/memory.limit_in_bytes"));  // version 1
}

std::uint64_t machine_memory_bytes() {
    const auto physical = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                          static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    std::ifstream file("/proc/self/cgroup");
    const std::string own_group{std::istreambuf_iterator<char>(file), {}};
    return memory_bytes_within(physical, "/sys/fs/cgroup", own_group);
}

}  // namespace revenant::node
