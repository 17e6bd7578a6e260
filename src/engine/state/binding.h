// Binding and BindingGroup: which exchange routes to which destination, and by which keys.
//
// A queue or an exchange with many bindings is deleted in one step: whole groups are removed from
// their source exchanges, and State frees their bindings and routes in portions. Until then a route
// may still lead to a deleted destination; routing skips it.
#pragma once

#include "base/roster.h"
#include "message/value.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace revenant::engine {

class Queue;
struct Exchange;

struct Destination {
    Queue* queue = nullptr;  // at most one of the two is set
    Exchange* exchange = nullptr;

    bool exists() const { return queue != nullptr || exchange != nullptr; }
    bool is_deleted() const;
    friend bool operator==(const Destination&, const Destination&) = default;
    friend std::size_t hash_value(const Destination& destination) {
        return std::hash<const void*>()(destination.queue != nullptr
                                            ? static_cast<const void*>(destination.queue)
                                            : destination.exchange);
    }
};

// Identifies a binding within its group (amqp091 7.12).
struct BindingId {
    std::string_view routing_key;
    std::string_view arguments;  // from arguments_id()
};

struct Binding {
    Exchange* source = nullptr;
    Destination destination;
    std::string routing_key;
    Table arguments;
    std::string arguments_id;
    Roster<Binding>::Place roster_place;

    BindingId id() const { return {routing_key, arguments_id}; }
    // False after its source or destination was deleted.
    bool is_live() const;
};

// Arguments are a set: their order does not distinguish bindings. Empty if there are none.
std::string arguments_id(const Table& arguments);

// All bindings from one exchange to one destination.
struct BindingGroup {
    struct ById {
        using is_transparent = void;
        static BindingId id(const std::unique_ptr<Binding>& binding) { return binding->id(); }
        static BindingId id(const BindingId& id) { return id; }
        bool operator()(const auto& a, const auto& b) const {
            const BindingId left = id(a);
            const BindingId right = id(b);
            return std::tie(left.routing_key, left.arguments) <
                   std::tie(right.routing_key, right.arguments);
        }
    };

    Exchange* source = nullptr;
    Destination destination;
    std::set<std::unique_ptr<Binding>, ById> bindings;
    bool is_listed = false;  // in the BindingGroups of the destination
};

// The groups that end at a queue or an exchange. Groups of a deleted source stay in the list until
// they are freed; for_each_binding skips them.
using BindingGroups = std::vector<BindingGroup*>;

template <typename Visit>  // visit(binding)
void for_each_binding(const BindingGroups& groups, Visit visit) {
    for (const BindingGroup* const group : groups) {
        for (const auto& binding : group->bindings) {
            if (!binding->is_live()) break;
            visit(*binding);
        }
    }
}

// The number of live bindings.
std::size_t binding_count(const BindingGroups& groups);

}  // namespace revenant::engine
