// Paging: how much of a virtual host's queues is in memory, and what may leave it next. Shared by
// all its chains.
#pragma once

#include "base/ids.h"
#include "engine/chain/cold_store.h"
#include "engine/codec/message_codec.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace revenant::engine {

struct Paging {
    ColdStore* store = nullptr;  // nobody to give anything to: everything stays in memory
    MessageFormats formats;
    std::uint64_t budget_bytes = UINT64_MAX;
    std::uint64_t resident_bytes = 0;

    // Blocks that are complete, the newest last: it is needed last. Some may have gone since.
    struct Candidate {
        QueueId queue;
        std::uint32_t level = 0;
        std::uint64_t block = 0;
    };
    std::vector<Candidate> candidates;

    // A block that is not yet complete is not worth a page with less than this in it.
    std::uint64_t page_bytes_min = 4 * 1024;
    // An unacked message is replaced by a stub if its properties and body have so many.
    std::uint64_t shed_bytes_min = 256;
    std::size_t prune_candidates_at = 1024;
    // All queues were looked through when so much was in memory; not again before it is much more.
    std::uint64_t last_search_bytes = 0;

    // Queues in which messages were parked, for a notice.
    std::vector<QueueId> newly_parked;

    bool over_budget() const { return resident_bytes > budget_bytes; }
};

}  // namespace revenant::engine
