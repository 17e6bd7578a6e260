// The version of Revenant. CMakeLists.txt contains it too; tools/tidy.py compares them.
#pragma once

#include <string_view>

namespace revenant {

inline constexpr std::string_view revenant_version = "0.2.0";

}  // namespace revenant
