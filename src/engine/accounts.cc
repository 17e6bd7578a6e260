#include "engine/accounts.h"

#include "base/check.h"

namespace revenant::engine {

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

Consumption& Consumption::operator+=(const Consumption& other) {
    delivered_auto_ack += other.delivered_auto_ack;
    delivered_manual_ack += other.delivered_manual_ack;
    got_auto_ack += other.got_auto_ack;
    got_manual_ack += other.got_manual_ack;
    get_empty += other.get_empty;
    redelivered += other.redelivered;
    acknowledged += other.acknowledged;
    return *this;
}

Consumption Traffic::consumed() const {
    Consumption all;
    for (const Consumption& one : consumption) all += one;
    return all;
}

}  // namespace revenant::engine
