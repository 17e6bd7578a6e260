#include "engine/rules/parking.h"

#include "engine/rules/topology.h"

#include <string>
#include <utility>
#include <vector>

namespace revenant::engine {
namespace {

const std::string& first_reason(const ParkedMessages& parked) {
    return parked.entries.empty() ? parked.pages.begin()->second.why
                                  : parked.entries.begin()->second.why;
}

}  // namespace

Result<CountAnswer, Refusal> discard_parked(Turn& turn, const DiscardParked& command) {
    const ConnectionId connection = turn.attached().find_channel(command.channel)->connection->id;
    REVENANT_TRY(Queue* const queue, usable_queue(turn, connection, command.name));
    const CountAnswer answer{queue->parked().count};
    const ParkedMessages* const parked = queue->parked_messages();
    if (parked == nullptr) return answer;
    std::vector<Position> entries;
    std::vector<Position> pages;
    for (const auto& [position, item] : parked->entries) entries.push_back(position);
    for (const auto& [position, item] : parked->pages) pages.push_back(position);
    for (const Position position : entries) turn.remove(*queue, position, Ending::purged);
    for (const Position first : pages) turn.emit(BlockDiscarded{queue->id(), first});
    turn.portion().spend(entries.size() + pages.size());
    return answer;
}

void tell_parked(Turn& turn) {
    for (const QueueId id : std::exchange(turn.state().paging().newly_parked, {})) {
        Queue* const queue = turn.state().find_queue(id);
        if (queue == nullptr) continue;
        ParkedMessages* const parked = queue->parked_messages();
        if (parked == nullptr || std::exchange(parked->told, true)) continue;
        turn.notice(Notice::Level::warning,
                    turn.queue_phrase(queue->name()) +
                        " has parked messages: they cannot be read from the disk and are skipped; "
                        "see docs/operation.md: " +
                        first_reason(*parked));
    }
}

}  // namespace revenant::engine
