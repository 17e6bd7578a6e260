// A text with the letters of ASCII in lower case, for names that are written in any case.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace revenant::http {

inline std::string in_small_letters(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

}  // namespace revenant::http
