#include "engine/words/queue_settings.h"

#include "base/check.h"

namespace revenant::engine {

std::string_view to_string(QueueKind kind) {
    return kind == QueueKind::classic ? "classic" : "quorum";
}

std::string_view to_string(DeathStrategy strategy) {
    switch (strategy) {
        case DeathStrategy::disabled:
            return "disabled";
        case DeathStrategy::at_most_once:
            return "at_most_once";
        case DeathStrategy::at_least_once:
            return "at_least_once";
    }
    UNREACHABLE();
}

std::string_view to_string(Compatibility compatibility) {
    return compatibility == Compatibility::v4_3 ? "4.3" : "3.12";
}

std::optional<Compatibility> parse_compatibility(std::string_view text) {
    if (text == "4.3") return Compatibility::v4_3;
    if (text == "3.12") return Compatibility::v3_12;
    return std::nullopt;
}

}  // namespace revenant::engine
