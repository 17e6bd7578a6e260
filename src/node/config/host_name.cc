#include "node/config/host_name.h"

#include <unistd.h>

#include <algorithm>
#include <array>

namespace revenant::node {

std::string short_host_name() {
    std::array<char, 256> buffer{};
    if (::gethostname(buffer.data(), buffer.size() - 1) != 0) return "localhost";
    std::string name(buffer.data());
    name.resize(std::min(name.find('.'), name.size()));
    return name.empty() ? "localhost" : name;
}

}  // namespace revenant::node
