#include "http/totals.h"

namespace revenant::http {

Totals& Totals::operator+=(const Totals& other) {
    engine::Totals::operator+=(other);
    delayed += other.delayed;
    delayed_bytes += other.delayed_bytes;
    dead_letters_waiting += other.dead_letters_waiting;
    dead_letter_bytes_waiting += other.dead_letter_bytes_waiting;
    return *this;
}

Totals totals_of(engine::Engine& engine) {
    Totals totals{engine::sum_up(engine)};
    for (const engine::Queue* queue : engine.state().queues_by_name()) {
        totals.delayed += queue->delayed().count;
        totals.delayed_bytes += queue->delayed().bytes;
        totals.dead_letters_waiting += queue->outbox().count;
        totals.dead_letter_bytes_waiting += queue->outbox().bytes;
    }
    return totals;
}

}  // namespace revenant::http
