// Paging: how much of a virtual host's queues is in memory, and what can be paged out next. Shared
// by all its chains.
#pragma once

#include "base/ids.h"
#include "engine/chain/cold_store.h"
#include "engine/codec/message_codec.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace revenant::engine {

struct Paging {
    ColdStore* store = nullptr;  // nullptr: everything stays in memory
    MessageFormats formats;
    std::uint64_t budget_bytes = UINT64_MAX;
    std::uint64_t resident_bytes = 0;

    // Complete blocks, the newest, which is needed last, at the end. Some may no longer exist.
    struct Candidate {
        QueueId queue;
        std::uint32_t level = 0;
        std::uint64_t block = 0;
    };
    std::vector<Candidate> candidates;

    // An incomplete block with fewer bytes is not paged out.
    std::uint64_t page_bytes_min = 4 * 1024;
    // An unacked message is replaced by a stub if its properties and body have at least this size.
    std::uint64_t shed_bytes_min = 256;
    std::size_t prune_candidates_at = 1024;
    // resident_bytes at the last search of all queues; repeated only after much growth.
    std::uint64_t last_search_bytes = 0;

    // Queues with newly parked messages, for a notice.
    std::vector<QueueId> newly_parked;

    bool over_budget() const { return resident_bytes > budget_bytes; }
};

}  // namespace revenant::engine
