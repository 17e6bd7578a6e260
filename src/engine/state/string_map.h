// StringMap: a hash map by string that is searched with a string_view, without making a string.
// Its order is unspecified: look up in it, never let its iteration order decide anything.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace revenant::engine {

struct StringHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
        return boost::hash<std::string_view>{}(text);
    }
};

template <typename Value>
using StringMap = boost::unordered_flat_map<std::string, Value, StringHash, std::equal_to<>>;

}  // namespace revenant::engine
