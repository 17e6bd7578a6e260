// The memory that this process may use: physical memory, or the limit of its control group.
#pragma once

#include <cstdint>
#include <string>

namespace revenant::node {

std::uint64_t machine_memory_bytes();
// For tests: `groups` replaces /sys/fs/cgroup, and `own_group` is the text of /proc/self/cgroup.
std::uint64_t memory_bytes_within(std::uint64_t physical_bytes, const std::string& groups,
                                  const std::string& own_group);

}  // namespace revenant::node
