#include "amqp091/codec/quoted_octets.h"

#include <algorithm>
#include <cstddef>

namespace revenant::amqp091 {

std::string quoted_octets(std::string_view bytes) {
    constexpr std::size_t shown_max = 16;
    std::string shown = "<<";
    for (std::size_t i = 0; i < std::min(bytes.size(), shown_max); ++i) {
        if (i > 0) shown += ',';
        shown += std::to_string(static_cast<unsigned char>(bytes[i]));
    }
    if (bytes.size() > shown_max) shown += ",...";
    return shown + ">>";
}

}  // namespace revenant::amqp091
