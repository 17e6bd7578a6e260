// StringMap: a hash map with string keys that is searched by string_view, without creating a
// string. The order is unspecified: use it for lookups only, never iterate where the order matters.
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
