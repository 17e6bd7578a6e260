// Model: exchanges, queues and bindings.
#include "tests/model/fields.h"
#include "tests/model/model.h"

#include <algorithm>

namespace revenant::model {

QueueRef Model::find_queue(std::string_view name) const {
    for (const QueueRef& queue : queues_) {
        if (queue->name == name) return queue;
    }
    return nullptr;
}

QueueRef Model::find_queue(std::uint64_t id) const {
    for (const QueueRef& queue : queues_) {
        if (queue->id == id) return queue;
    }
    return nullptr;
}

const Exchange* Model::find_exchange(std::string_view name) const {
    static const Exchange default_exchange{"", "default", {}};
    if (name.empty()) return &default_exchange;
    for (const Exchange& exchange : exchanges_) {
        if (exchange.name == name) return &exchange;
    }
    return nullptr;
}

// amqp091 6.7: type and alternate-exchange must be the same as before.
void Model::declare_exchange(std::size_t channel, const std::string& name, const std::string& type,
                             const Table& arguments) {
    begin();
    if (const Exchange* const found = find_exchange(name)) {
        const bool same =
            found->type == type && string_in(found->arguments, "alternate-exchange") ==
                                       string_in(arguments, "alternate-exchange");
        if (!same) return refuse(channel, RefusalKind::precondition_failed);
    } else {
        exchanges_.push_back({name, type, arguments});
    }
    tell(channel, "done");
    end();
}

// amqp091 6.9
void Model::delete_exchange(std::size_t channel, const std::string& name, bool if_unused) {
    begin();
    const bool used = std::any_of(bindings_.begin(), bindings_.end(),
                                  [&](const Binding& one) { return one.source == name; });
    if (if_unused && used && find_exchange(name) != nullptr) {
        return refuse(channel, RefusalKind::precondition_failed);
    }
    std::erase_if(exchanges_, [&](const Exchange& one) { return one.name == name; });
    std::erase_if(bindings_, [&](const Binding& one) {
        return one.source == name || (one.to_exchange && one.destination == name);
    });
    tell(channel, "done");
    end();
}

namespace {

// DL-42, DL-43, DL-47: errors that do not depend on existing objects.
bool is_valid_declaration(bool durable, const Table& arguments) {
    const bool quorum = text_of(arguments, "x-queue-type") == "quorum";
    const auto has = [&](std::string_view key) {
        return revenant::find(arguments, key) != nullptr;
    };
    if (has("x-dead-letter-routing-key") && !has("x-dead-letter-exchange")) return false;
    if (quorum) return durable && !has("x-max-priority");
    return !has("x-dead-letter-strategy") && !has("x-delivery-limit") &&
           !has("x-delayed-retry-type") && !has("x-delayed-retry-min") &&
           !has("x-delayed-retry-max");
}

// DL-44
bool is_equivalent(const Table& a, const Table& b) {
    const auto holds = [](const Table& inner, const Table& outer) {
        return std::all_of(inner.begin(), inner.end(), [&](const Field& field) {
            const Value* const other = revenant::find(outer, field.name);
            return other != nullptr && display(*other) == display(field.value);
        });
    };
    return holds(a, b) && holds(b, a);
}

}  // namespace

void Model::declare_queue(std::size_t channel, const std::string& name, bool durable,
                          const Table& arguments) {
    begin();
    if (!is_valid_declaration(durable, arguments)) {
        return refuse(channel, RefusalKind::precondition_failed);
    }
    QueueRef queue = find_queue(name);
    if (queue && (queue->durable != durable || !is_equivalent(queue->arguments, arguments))) {
        return refuse(channel, RefusalKind::precondition_failed);
    }
    if (!queue) {
        queue = std::make_shared<Queue>();
        queue->id = ++last_queue_;
        queue->name = name;
        queue->quorum = text_of(arguments, "x-queue-type") == "quorum";
        queue->durable = durable;
        queue->arguments = arguments;
        queue->settings = settings_of(*queue);
        queues_.push_back(queue);
    }
    queue->last_used = now_;
    tell(channel, "declared " + text(static_cast<std::int64_t>(count(*queue, Place::ready))) + ' ' +
                      text(static_cast<std::int64_t>(queue->consumers.size())));
    end();
}

// amqp091 8.12
void Model::delete_queue(std::size_t channel, const std::string& name, bool if_unused,
                         bool if_empty) {
    begin();
    const QueueRef queue = find_queue(name);
    if (!queue) {
        tell(channel, "removed 0");
        return end();
    }
    if (queue->quorum && (if_unused || if_empty)) {
        return refuse(channel, RefusalKind::not_implemented);
    }
    const std::uint64_t ready = count(*queue, Place::ready);
    if ((if_unused && !queue->consumers.empty()) || (if_empty && ready > 0)) {
        return refuse(channel, RefusalKind::precondition_failed);
    }
    drop_queue(queue);
    tell(channel, "removed " + text(static_cast<std::int64_t>(ready)));
    end();
}

// DL-13, DL-14: no message is dead-lettered; consumers are notified (amqp091 11.15).
void Model::drop_queue(const QueueRef& queue) {
    for (const ConsumerRef& consumer : std::vector(queue->consumers)) {
        remove_consumer(consumer);
        tell(consumer->channel, "cancel " + text(consumer->number));
    }
    while (!queue->entries.empty()) {
        remove(*queue, queue->entries.front().id, Ending::queue_deleted);
    }
    std::erase_if(bindings_, [&](const Binding& one) {
        return !one.to_exchange && one.destination == queue->name;
    });
    std::erase(queues_, queue);
}

// DL-15: in a quorum queue also the delayed messages and the outbox.
void Model::purge(std::size_t channel, const std::string& name) {
    begin();
    const QueueRef queue = find_queue(name);
    if (!queue) return refuse(channel, RefusalKind::not_found);
    std::vector<std::uint64_t> purged;
    for (const Entry& entry : queue->entries) {
        if (entry.place != Place::unacked) purged.push_back(entry.id);
    }
    for (const std::uint64_t entry : purged) remove(*queue, entry, Ending::purged);
    touch(queue);
    tell(channel, "removed " + text(static_cast<std::int64_t>(purged.size())));
    end();
}

// amqp091 6.3, 7.12
std::optional<RefusalKind> Model::refusal_of_ends(const Binding& binding, bool must_exist) const {
    if (binding.source.empty() || (binding.to_exchange && binding.destination.empty())) {
        return RefusalKind::access_refused;
    }
    if (!must_exist) return std::nullopt;
    const bool found = binding.to_exchange ? find_exchange(binding.destination) != nullptr
                                           : find_queue(binding.destination) != nullptr;
    if (!found || find_exchange(binding.source) == nullptr) return RefusalKind::not_found;
    return std::nullopt;
}

void Model::bind(std::size_t channel, const Binding& binding) {
    begin();
    if (const auto kind = refusal_of_ends(binding, true)) return refuse(channel, *kind);
    if (!contains(bindings_, binding)) bindings_.push_back(binding);
    tell(channel, "done");
    end();
}

void Model::unbind(std::size_t channel, const Binding& binding) {
    begin();
    if (const auto kind = refusal_of_ends(binding, false)) return refuse(channel, *kind);
    std::erase(bindings_, binding);
    tell(channel, "done");
    end();
}

}  // namespace revenant::model
