// How much memory this process may use: what the machine has, or what its control group leaves it.
#pragma once

#include <cstdint>
#include <string>

namespace revenant::node {

std::uint64_t machine_memory_bytes();
// The same with the files of control groups below another directory than /sys/fs/cgroup; own_group
// is the text of /proc/self/cgroup.
std::uint64_t memory_bytes_within(std::uint64_t physical_bytes, const std::string& groups,
                                  const std::string& own_group);

}  // namespace revenant::node
