#include "engine/state/memory_budget.h"

#include "base/probe.h"

#include <algorithm>
#include <cstdint>

namespace revenant::engine {
namespace {

enum class Tails : std::uint8_t { leave, stay };  // stay: a replay may append to them

// The last block to become complete is needed last.
void page_out_candidates(State& state, Tails tails) {
    Paging& paging = state.paging();
    while (paging.over_budget() && !paging.candidates.empty()) {
        const Paging::Candidate candidate = paging.candidates.back();
        paging.candidates.pop_back();
        Queue* const queue = state.find_queue(candidate.queue);
        if (queue == nullptr || candidate.level >= queue->served_levels()) continue;
        Chain& chain = queue->level(candidate.level);
        if (tails == Tails::stay && chain.is_tail(candidate.block)) continue;
        chain.page_out(candidate.block, /*keep_head=*/true);
    }
}

// Handles many queues with few messages each, blocks whose deliveries were requeued, and many
// unsettled deliveries: pages out everything possible.
void page_out_all_queues(State& state) {
    Paging& paging = state.paging();
    const std::uint64_t step = paging.budget_bytes / 4;
    if (paging.resident_bytes < paging.last_search_bytes + step) return;
    PROBE("memory_budget.searched");
    state.queues().walk(0, SIZE_MAX, [&](Queue& queue) {
        queue.for_each_level([&](std::size_t level, Chain& chain) {
            if (level < queue.served_levels() && paging.over_budget()) chain.page_out_all();
        });
        return paging.over_budget();
    });
    // Then unacked messages: a consumer without a prefetch limit may hold a whole queue.
    state.queues().walk(0, SIZE_MAX, [&](Queue& queue) {
        if (queue.unacked_count() == 0) return true;
        queue.for_each_level([&](std::size_t level, Chain& chain) {
            if (level < queue.served_levels() && paging.over_budget()) chain.shed_unacked();
        });
        return paging.over_budget();
    });
    paging.last_search_bytes = paging.resident_bytes;
}

void forget_stale_candidates(State& state) {
    Paging& paging = state.paging();
    std::erase_if(paging.candidates, [&](const Paging::Candidate& candidate) {
        Queue* const queue = state.find_queue(candidate.queue);
        return queue == nullptr ||
               queue->level(candidate.level).view(candidate.block).hot == nullptr;
    });
    paging.prune_candidates_at = std::max<std::size_t>(1024, paging.candidates.size() * 2);
}

}  // namespace

void enforce_memory_budget_in_replay(State& state) {
    if (state.paging().store != nullptr) page_out_candidates(state, Tails::stay);
}

void enforce_memory_budget(State& state) {
    Paging& paging = state.paging();
    if (paging.store == nullptr) return;
    if (paging.candidates.size() >= paging.prune_candidates_at) forget_stale_candidates(state);
    if (!paging.over_budget()) {
        paging.last_search_bytes = 0;
        return;
    }
    page_out_candidates(state, Tails::leave);
    if (paging.over_budget()) page_out_all_queues(state);
}

}  // namespace revenant::engine
