#include "engine/words/counters.h"

#include "base/check.h"
#include "engine/words/add_fields.h"

namespace revenant::engine {
namespace {

template <typename Item, std::size_t count>
void add_items(std::array<Item, count>& to, const std::array<Item, count>& from) {
    for (std::size_t i = 0; i < count; ++i) to[i] += from[i];
}

}  // namespace

std::string_view to_string(Ending ending) {
    switch (ending) {
        case Ending::acknowledged:
            return "acknowledged";
        case Ending::auto_acknowledged:
            return "auto_acknowledged";
        case Ending::dead_lettered:
            return "dead_lettered";
        case Ending::no_dlx:
            return "no_dlx";
        case Ending::dlx_missing:
            return "dlx_missing";
        case Ending::unroutable:
            return "unroutable";
        case Ending::cycle:
            return "cycle";
        case Ending::target_refused:
            return "target_refused";
        case Ending::purged:
            return "purged";
        case Ending::queue_deleted:
            return "queue_deleted";
    }
    UNREACHABLE();
}

std::string_view to_string(DeathOutcome outcome) {
    switch (outcome) {
        case DeathOutcome::dead_lettered:
            return "dead_lettered";
        case DeathOutcome::waiting:
            return "waiting";
        case DeathOutcome::no_dlx:
            return "no_dlx";
        case DeathOutcome::dlx_missing:
            return "dlx_missing";
        case DeathOutcome::unroutable:
            return "unroutable";
        case DeathOutcome::cycle:
            return "cycle";
        case DeathOutcome::target_refused:
            return "target_refused";
    }
    UNREACHABLE();
}

DeathOutcome outcome_of(Ending ending) {
    switch (ending) {
        case Ending::dead_lettered:
            return DeathOutcome::dead_lettered;
        case Ending::no_dlx:
            return DeathOutcome::no_dlx;
        case Ending::dlx_missing:
            return DeathOutcome::dlx_missing;
        case Ending::unroutable:
            return DeathOutcome::unroutable;
        case Ending::cycle:
            return DeathOutcome::cycle;
        case Ending::target_refused:
            return DeathOutcome::target_refused;
        case Ending::acknowledged:
        case Ending::auto_acknowledged:
        case Ending::purged:
        case Ending::queue_deleted:
            break;
    }
    UNREACHABLE();
}

// A new counter must also be added to the sum of its struct.

Consumption& Consumption::operator+=(const Consumption& other) {
    using C = Consumption;
    add_fields(*this, other, &C::delivered_auto_ack, &C::delivered_manual_ack, &C::got_auto_ack,
               &C::got_manual_ack, &C::get_empty, &C::redelivered, &C::acknowledged);
    static_assert(sizeof(Consumption) == 7 * sizeof(std::uint64_t));
    return *this;
}

Consumption ClientTraffic::consumed() const {
    Consumption all;
    for (const Consumption& one : consumption) all += one;
    return all;
}

MessageStats ClientTraffic::stats() const {
    return {.published = received,
            .confirmed = confirmed,
            .unroutable_returned = unroutable_returned,
            .unroutable_dropped = unroutable_dropped,
            .consumed = consumed()};
}

ClientTraffic& ClientTraffic::operator+=(const ClientTraffic& other) {
    using T = ClientTraffic;
    add_fields(*this, other, &T::received, &T::received_confirm, &T::routed, &T::unroutable_dropped,
               &T::unroutable_returned, &T::confirmed, &T::message_sizes);
    add_items(consumption, other.consumption);
    static_assert(sizeof(ClientTraffic) ==
                  6 * sizeof(std::uint64_t) + sizeof(consumption) + sizeof(MessageSizes));
    return *this;
}

Traffic& Traffic::operator+=(const Traffic& other) {
    using T = Traffic;
    add_fields(*this, other, &T::queue_publishes, &T::refused_by_queue, &T::lateness,
               &T::dead_letters_confirmed, &T::refusal_chains_dropped, &T::queues_declared,
               &T::queues_created, &T::queues_deleted, &T::connections_opened,
               &T::connections_closed, &T::channels_opened, &T::channels_closed);
    add_items(clients, other.clients);
    add_items(deaths.counts, other.deaths.counts);
    add_items(death_outcomes.counts, other.death_outcomes.counts);
    static_assert(sizeof(Traffic) == 11 * sizeof(std::uint64_t) + sizeof(clients) +
                                         sizeof(DeathTable) + sizeof(DeathOutcomes) +
                                         sizeof(Lateness));
    return *this;
}

ClientTraffic Traffic::of_all_clients() const {
    ClientTraffic all;
    for (const ClientTraffic& one : clients) all += one;
    return all;
}

}  // namespace revenant::engine
