// A part of a header without the blanks around it.
#pragma once

#include <string_view>

namespace revenant::http {

inline std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
    while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
    return text;
}

}  // namespace revenant::http
