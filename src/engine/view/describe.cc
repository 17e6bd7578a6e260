#include "engine/view/describe.h"

#include <algorithm>
#include <vector>

namespace revenant::engine {
namespace {

class Description {
  public:
    Description(State& state, DescribeScope described)
        : state_(state), durable_only_(described == DescribeScope::durable) {}

    std::string write() {
        for (const Exchange* exchange : state_.exchanges_by_name()) write_exchange(*exchange);
        for (Queue* queue : state_.queues_by_name()) write_queue(*queue);
        if (!durable_only_) write_accounts();
        text_ += "compatible with " + std::string(to_string(state_.compatibility())) + '\n';
        for (const PolicyScope scope : {PolicyScope::user, PolicyScope::operator_only}) {
            for (const Policy* policy : state_.policies().list(scope)) {
                text_ += "policy " + policy->name + ' ' + policy->pattern + ' ' +
                         display(Value::table(policy->definition)) + '\n';
            }
        }
        return std::move(text_);
    }

  private:
    void write_exchange(const Exchange& exchange) {
        if (durable_only_ && !exchange.declaration.durable) return;
        text_ +=
            "exchange " + exchange.name() + ' ' + std::string(to_string(exchange.declaration.type));
        text_ += exchange.declaration.durable ? " durable" : "";
        text_ += exchange.declaration.auto_delete ? " auto-delete" : "";
        text_ += exchange.declaration.internal ? " internal" : "";
        text_ += ' ' + display(Value::table(exchange.declaration.arguments)) + '\n';
        std::vector<std::string> bindings;
        exchange.for_each_outgoing([&](const Binding& binding) {
            const Destination& to = binding.destination;
            const bool survives = to.queue != nullptr ? to.queue->survives_restart()
                                                      : to.exchange->declaration.durable;
            if (durable_only_ && !survives) return;
            bindings.push_back("  -> " +
                               (to.queue != nullptr ? "queue " + to.queue->name()
                                                    : "exchange " + to.exchange->name()) +
                               " key " + binding.routing_key + ' ' +
                               display(Value::table(binding.arguments)) + '\n');
        });
        std::sort(bindings.begin(), bindings.end());
        for (const std::string& binding : bindings) text_ += binding;
    }

    void write_queue(Queue& queue) {
        if (durable_only_ && !queue.survives_restart()) return;
        text_ += "queue " + queue.name() + " id " + std::to_string(queue.id().value);
        text_ += queue.declaration.durable ? " durable" : "";
        text_ += queue.declaration.exclusive ? " exclusive" : "";
        text_ += queue.declaration.auto_delete ? " auto-delete" : "";
        text_ += ' ' + display(Value::table(queue.declaration.arguments)) + '\n';
        queue.for_each_level([&](std::size_t level, const Chain& chain) {
            chain.for_each([&](std::uint64_t sequence, const Entry& entry) {
                if (durable_only_ && !entry.durable) return;
                write_entry(queue, Position::of(level, sequence), entry);
            });
        });
    }

    void write_entry(const Queue& queue, Position position, const Entry& entry) {
        const auto whole = state_.loaded(entry.message);
        text_ += "  " + std::to_string(position.level()) + '/' +
                 std::to_string(position.sequence()) + ' ' +
                 (whole ? std::string((*whole)->body().substr(0, 64)) : whole.error()) +
                 " deadline " + std::to_string(queue.deadline(position).us) + " timer " +
                 std::to_string(queue.level(position.level()).deadline(position.sequence()).us) +
                 " count " + std::to_string(entry.delivery_count) + " acquired " +
                 std::to_string(entry.acquired_count);
        if (position.level() == outbox_level && queue.is_quorum()) {
            text_ += reached(queue, position.sequence());
        }
        if (entry.envelope) write_envelope(*entry.envelope);
        text_ += '\n';
    }

    // Targets that are not durable are left out.
    std::string reached(const Queue& queue, std::uint64_t sequence) {
        std::size_t count = 0;
        for (const QueueId id : queue.outbox_entries.at(sequence).reached) {
            const Queue* const target = state_.find_queue(id);
            if (!durable_only_ || (target != nullptr && target->survives_restart())) ++count;
        }
        return " reached " + std::to_string(count);
    }

    void write_envelope(const Envelope& envelope) {
        text_ += " via " + envelope.exchange;
        for (const std::string& key : envelope.routing_keys) text_ += " key " + key;
        for (const Death& death : envelope.history.deaths) {
            text_ += " died " + death.queue + ' ' + std::string(to_string(death.reason)) + ' ' +
                     std::to_string(death.count) + " at " + std::to_string(death.first_time.us);
        }
        for (const Annotation& annotation : envelope.annotations) {
            text_ += " annotated " + annotation.key + '=' + display(annotation.simple);
        }
        if (envelope.error) text_ += " error " + envelope.error->condition;
    }

    void write_accounts() {
        const EntryCounters& accounts = state_.accounts();
        text_ += "entered " + std::to_string(accounts.entered);
        for (std::size_t i = 0; i < ending_count; ++i) {
            text_ += ' ' + std::string(to_string(static_cast<Ending>(i))) + ' ' +
                     std::to_string(accounts.ended[i]);
        }
        text_ += '\n';
    }

    State& state_;
    const bool durable_only_;
    std::string text_;
};

}  // namespace

std::string describe(State& state, DescribeScope described) {
    return Description(state, described).write();
}

}  // namespace revenant::engine
