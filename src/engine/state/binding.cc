#include "engine/state/binding.h"

#include "engine/state/exchange.h"
#include "engine/state/queue.h"

#include <algorithm>

namespace revenant::engine {

bool Destination::is_deleted() const {
    return queue != nullptr ? queue->deleted : exchange->deleted;
}

bool Binding::is_live() const { return !source->deleted && !destination.is_deleted(); }

std::string arguments_id(const Table& arguments) {
    std::vector<std::string> shown;
    shown.reserve(arguments.size());
    for (const Field& field : arguments) {
        shown.push_back(field.name + '\0' + std::string(type_name(field.value.type)) + '\0' +
                        display(field.value));
    }
    std::sort(shown.begin(), shown.end());
    std::string id;
    for (const std::string& argument : shown) {
        id += std::to_string(argument.size());
        id += ':';
        id += argument;
    }
    return id;
}

std::size_t binding_count(const BindingGroups& groups) {
    std::size_t count = 0;
    for (const BindingGroup* const group : groups) {
        if (!group->source->deleted) count += group->bindings.size();
    }
    return count;
}

}  // namespace revenant::engine
