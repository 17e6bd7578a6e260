#include "amqp10/codec/datum.h"

namespace revenant::amqp10 {

bool operator==(const Datum& a, const Datum& b) {
    return a.type == b.type && a.content == b.content;
}

const Datum* find(const DataMap& map, std::string_view key) {
    for (const MapEntry& entry : map) {
        const std::string* name = entry.key.as_symbol();
        if (name == nullptr) name = entry.key.as_string();
        if (name != nullptr && *name == key) return &entry.value;
    }
    return nullptr;
}

}  // namespace revenant::amqp10
