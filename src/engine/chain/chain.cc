#include "engine/chain/chain.h"

#include "base/check.h"
#include "base/probe.h"
#include "engine/chain/page_codec.h"

#include <algorithm>
#include <bit>
#include <span>
#include <string>
#include <utility>

namespace revenant::engine {
namespace {

// Limits for one read of the journal. Messages that are adjacent in a queue are usually adjacent in
// the journal.
constexpr std::uint64_t read_bytes_max = 1024 * 1024;
constexpr std::uint64_t read_gap_max = 4 * 1024;
constexpr std::uint64_t wary_read_bytes_max = 64 * 1024;
// Messages of one cold block within this distance in the journal share a JournalRange.
constexpr std::uint64_t use_bytes = 16 * 1024 * 1024;
// The maximum number of unreadable blocks that one search skips.
constexpr std::size_t unreadable_at_once = 64;

std::int64_t memory_of(const Entry& entry) {
    return static_cast<std::int64_t>(sizeof(Entry) + entry.memory_bytes());
}

std::int64_t memory_of(const Block& block) {
    std::int64_t bytes = 0;
    for (const Entry& entry : block.entries) {
        if (entry.state != EntryState::gone) bytes += memory_of(entry);
    }
    return bytes;
}

std::vector<JournalRange> journal_uses(const Block& block) {
    std::vector<Lsn> places;
    std::vector<std::pair<Lsn, std::uint64_t>> messages;
    for (const Entry& entry : block.entries) {
        if (entry.state == EntryState::gone || !entry.message->stored_at()) continue;
        messages.emplace_back(*entry.message->stored_at(), stored_size(*entry.message));
    }
    std::sort(messages.begin(), messages.end());
    std::vector<JournalRange> journal_ranges;
    for (const auto& [at, size] : messages) {
        if (journal_ranges.empty() ||
            at.value / use_bytes != journal_ranges.back().first.value / use_bytes) {
            journal_ranges.push_back({at, at, 0});
        }
        journal_ranges.back().last = at;
        journal_ranges.back().bytes += size;
    }
    return journal_ranges;
}

}  // namespace

// ------------------------------------------------------------------------- blocks

Chain::Slot* Chain::slot(std::uint64_t number) const {
    if (number < first_block_ || number - first_block_ >= blocks_.size() - front_) return nullptr;
    return &blocks_[front_ + (number - first_block_)];
}

Block* Chain::block(std::uint64_t number) const {
    Slot* const found = slot(number);
    if (found == nullptr) return nullptr;
    return found->cold ? page_in(*found, number) : found->hot.get();
}

Block& Chain::block_holding(std::uint64_t sequence) const {
    Block* const found = block(block_of(sequence));
    CHECK(found != nullptr && sequence % block_entries < found->entries.size());
    return *found;
}

Chain::View Chain::view(std::uint64_t number) const {
    const Slot* const found = slot(number);
    if (found == nullptr) return {};
    return {found->hot.get(), found->cold.get(), found->parked.get()};
}

Chain::Slot& Chain::make_slot(std::uint64_t number) {
    if (front_ == blocks_.size()) {
        blocks_.clear();
        front_ = 0;
        first_block_ = number;
    }
    while (number - first_block_ >= blocks_.size() - front_) blocks_.emplace_back();
    return *slot(number);
}

void Chain::free_slot(std::uint64_t number) {
    Slot* const freed = slot(number);
    if (freed == nullptr) return;
    freed->hot.reset();
    freed->cold.reset();
    drop_empty_front();
}

void Chain::drop_empty_front() {
    while (front_ < blocks_.size() && blocks_[front_].is_empty()) {
        ++front_;
        ++first_block_;
    }
    // Unused slots are freed when they are more than half, so the cost per block is constant.
    if (front_ > 32 && front_ > blocks_.size() / 2) {
        blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(front_));
        front_ = 0;
    }
}

void Chain::clear() {
    for (Slot& one : blocks_) {
        if (one.hot) count_resident(-memory_of(*one.hot));
        for (const ColdBlock* const paged : {one.cold.get(), one.parked.get()}) {
            if (paged != nullptr && paged->transient_page) {
                paging_->store->drop_transient(paged->transient_page);
            }
        }
    }
    blocks_.clear();
    front_ = 0;
    cold_ = 0;
    paged_out_ = {};
    ready_ = 0;
    live_ = 0;
}

void Chain::count_resident(std::int64_t bytes) const {
    resident_bytes_ += static_cast<std::uint64_t>(bytes);
    if (paging_ != nullptr) paging_->resident_bytes += static_cast<std::uint64_t>(bytes);
}

void Chain::add_cold(const ColdBlock& block) const {
    cold_ += 1;
    paged_out_.add(block.all);
}

void Chain::subtract_cold(const ColdBlock& block) const {
    cold_ -= 1;
    paged_out_.subtract(block.all);
}

// ------------------------------------------------------------------------- entries

void Chain::set_ready(Block& block, std::uint64_t number, std::size_t index) {
    block.set_ready(index);
    ready_ += 1;
    if (number < first_ready_block_) first_ready_block_ = number;
}

void Chain::clear_ready(Block& block, std::size_t index) {
    block.clear_ready(index);
    ready_ -= 1;
}

std::uint64_t Chain::push(Entry entry, Timestamp deadline) {
    const std::uint64_t sequence = next_sequence();
    push_at(sequence, std::move(entry), deadline);
    return sequence;
}

void Chain::push_at(std::uint64_t sequence, Entry entry, Timestamp deadline) {
    CHECK(sequence >= next_);
    const std::uint64_t number = block_of(sequence);
    // Sequence numbers may be skipped; the block that is left may be empty already.
    const bool was_full = tail_is_full_ && is_tail(number);
    if (!is_tail(number)) {
        const View before = view(block_of(next_));
        if (before.hot != nullptr && before.hot->live == 0) {
            free_slot(block_of(next_));
        } else if (before.hot != nullptr && tail_is_full_) {
            add_candidate(block_of(next_));  // a replay does not page it out while it is the tail
        }
    }
    Slot& at = make_slot(number);
    if (!at.hot) at.hot = std::make_unique<Block>();
    count_resident(memory_of(entry));
    Block& tail = *at.hot;
    tail.push(sequence % block_entries, std::move(entry), deadline);
    ready_ += 1;
    live_ += 1;
    if (number < first_ready_block_) first_ready_block_ = number;
    next_ = sequence + 1;
    tail_is_full_ = is_tail(number) && tail.pushed_bytes >= block_bytes_max;
    if (is_complete(number) && !was_full) add_candidate(number);
}

// `bring_back` decides about a cold block. It returns the block in memory; nullptr to continue with
// the next block; or nothing to end the search with the first entry of the cold block.
template <typename BringBack>
std::optional<std::uint64_t> Chain::find_ready(BringBack bring_back) {
    if (first_ready_block_ < first_block_) first_ready_block_ = first_block_;
    for (; ready_ > 0; ++first_ready_block_) {
        const View candidate = view(first_ready_block_);
        const Block* hot = candidate.hot;
        if (candidate.cold != nullptr) {
            const std::optional<const Block*> back = bring_back(first_ready_block_);
            if (!back) return first_ready_block_ * block_entries + candidate.cold->first;
            hot = *back;
        }
        if (hot == nullptr || hot->ready == 0) continue;
        const auto& bits = hot->ready_bits;
        for (std::size_t word = 0; word < bits.size(); ++word) {
            if (bits[word] == 0) continue;
            const auto bit = static_cast<std::size_t>(std::countr_zero(bits[word]));
            return first_ready_block_ * block_entries + word * 64 + bit;
        }
        UNREACHABLE();
    }
    return std::nullopt;
}

std::optional<std::uint64_t> Chain::first_ready() {
    return find_ready([](std::uint64_t) { return std::optional<const Block*>(); });
}

std::optional<std::uint64_t> Chain::first_readable() {
    std::size_t unreadable = 0;
    const auto found = find_ready([&](std::uint64_t number) -> std::optional<const Block*> {
        if (unreadable == unreadable_at_once) return std::nullopt;
        const Block* const back = block(number);
        if (back == nullptr) ++unreadable;
        return back;
    });
    if (unreadable == unreadable_at_once && view(first_ready_block_).cold != nullptr) {
        return std::nullopt;
    }
    return found;
}

Entry& Chain::at(std::uint64_t sequence) {
    Entry& entry = block_holding(sequence).entries[sequence % block_entries];
    CHECK(entry.state != EntryState::gone);
    return entry;
}

const Entry& Chain::at(std::uint64_t sequence) const {
    const Entry& entry = block_holding(sequence).entries[sequence % block_entries];
    CHECK(entry.state != EntryState::gone);
    return entry;
}

bool Chain::contains(std::uint64_t sequence) const {
    const Block* const holder = block(block_of(sequence));
    const std::size_t index = sequence % block_entries;
    return holder != nullptr && index < holder->entries.size() &&
           holder->entries[index].state != EntryState::gone;
}

Timestamp Chain::deadline(std::uint64_t sequence) const {
    return block_holding(sequence).deadline(sequence % block_entries);
}

void Chain::mark_unacked(std::uint64_t sequence) {
    Block& holder = block_holding(sequence);
    Entry& entry = holder.entries[sequence % block_entries];
    CHECK(entry.state == EntryState::ready);
    entry.state = EntryState::unacked;
    clear_ready(holder, sequence % block_entries);
}

void Chain::mark_ready(std::uint64_t sequence) {
    Block& holder = block_holding(sequence);
    Entry& entry = holder.entries[sequence % block_entries];
    CHECK(entry.state == EntryState::unacked);
    entry.state = EntryState::ready;
    set_ready(holder, block_of(sequence), sequence % block_entries);
    if (holder.ready == holder.live && is_complete(block_of(sequence))) {
        add_candidate(block_of(sequence));
    }
}

void Chain::set_envelope(std::uint64_t sequence, EnvelopeRef envelope) {
    Entry& entry = at(sequence);
    count_resident(-memory_of(entry));
    entry.envelope = std::move(envelope);
    count_resident(memory_of(entry));
}

Entry Chain::take(std::uint64_t sequence) {
    Block& holder = block_holding(sequence);
    const std::size_t index = sequence % block_entries;
    Entry& at = holder.entries[index];
    CHECK(at.state != EntryState::gone);
    if (at.state == EntryState::ready) clear_ready(holder, index);
    Entry taken = std::move(at);
    at.state = EntryState::gone;
    holder.live -= 1;
    live_ -= 1;
    count_resident(-memory_of(taken));
    if (holder.live == 0 && !is_tail(block_of(sequence))) free_slot(block_of(sequence));
    return taken;
}

// ------------------------------------------------------------------------- deadlines

Timestamp Chain::earliest_deadline(std::uint64_t number) const {
    const View found = view(number);
    if (found.cold != nullptr) return found.cold->earliest;
    return found.hot == nullptr ? never : found.hot->earliest;
}

Timestamp Chain::scheduled(std::uint64_t number) const {
    const View found = view(number);
    if (found.cold != nullptr) return found.cold->scheduled;
    return found.hot == nullptr ? never : found.hot->scheduled;
}

void Chain::set_scheduled(std::uint64_t number, Timestamp at) {
    Slot* const found = slot(number);
    if (found == nullptr) return;
    if (found->cold) found->cold->scheduled = at;
    if (found->hot) found->hot->scheduled = at;
}

void Chain::due_entries(std::uint64_t number, Timestamp now, std::size_t count_max,
                        std::vector<std::uint64_t>& sequences) {
    Block* const found = block(number);
    if (found == nullptr || found->deadlines.empty()) return;
    Timestamp earliest = never;
    for (std::size_t word = 0; word < found->ready_bits.size(); ++word) {
        for (std::uint64_t bits = found->ready_bits[word]; bits != 0; bits &= bits - 1) {
            const std::size_t index = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
            const Timestamp deadline = found->deadline(index);
            if (deadline <= now && sequences.size() < count_max) {
                sequences.push_back(number * block_entries + index);
            } else {
                earliest = std::min(earliest, deadline);
            }
        }
    }
    found->earliest = earliest;
}

void Chain::look_again(std::uint64_t number, Timestamp at) {
    Slot* const found = slot(number);
    if (found == nullptr) return;
    if (found->cold && found->cold->earliest != never) {
        found->cold->earliest = std::min(found->cold->earliest, at);
    }
    if (found->hot && !found->hot->deadlines.empty()) {
        found->hot->earliest = std::min(found->hot->earliest, at);
    }
}

std::uint64_t Chain::count_due(Timestamp now) const {
    std::uint64_t count = 0;
    for (std::uint64_t number = first_block_; number < end_block(); ++number) {
        const View seen = view(number);
        if (seen.cold != nullptr && seen.cold->earliest <= now) count += seen.cold->all.live;
        if (seen.hot == nullptr || seen.hot->earliest > now) continue;
        for (std::size_t i = 0; i < seen.hot->entries.size(); ++i) {
            if (seen.hot->entries[i].state == EntryState::ready && seen.hot->deadline(i) <= now) {
                count += 1;
            }
        }
    }
    return count;
}

void Chain::due_at_head(Timestamp now, std::size_t count_max,
                        std::vector<std::uint64_t>& sequences) {
    if (ready_ == 0) return;
    const std::uint64_t first = *first_ready();
    for (std::uint64_t number = block_of(first); number <= block_of(next_); ++number) {
        // A cold block without due entries ends the search without being paged in.
        const View seen = view(number);
        if (seen.cold != nullptr && seen.cold->earliest > now) return;
        const Block* const candidate = block(number);
        if (candidate == nullptr || candidate->ready == 0) continue;
        for (std::size_t word = 0; word < candidate->ready_bits.size(); ++word) {
            for (std::uint64_t bits = candidate->ready_bits[word]; bits != 0; bits &= bits - 1) {
                const std::size_t index =
                    word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
                if (candidate->deadline(index) > now || sequences.size() >= count_max) return;
                sequences.push_back(number * block_entries + index);
            }
        }
    }
}

// ------------------------------------------------------------------------- paging

void Chain::add_candidate(std::uint64_t number) const {
    if (paging_ != nullptr && paging_->store != nullptr) {
        paging_->candidates.push_back({queue_, level_, number});
    }
}

// The next entries go into a new block.
void Chain::end_tail() {
    next_ = (block_of(next_) + 1) * block_entries;
    tail_is_full_ = false;
}

bool Chain::page_out(std::uint64_t number, bool keep_head) {
    Slot* const found = slot(number);
    if (found == nullptr || !found->hot || !is_complete(number)) return false;
    const Block& leaving = *found->hot;
    if (leaving.live == 0 || leaving.ready != leaving.live) return false;
    if (keep_head && number <= std::max(first_ready_block_, first_block_) + 1) return false;
    auto cold = std::make_unique<ColdBlock>();
    const EncodedPage durable = encode_page(leaving, Durability::durable);
    const EncodedPage transient = encode_page(leaving, Durability::transient);
    if (transient.sum.live > 0) {
        cold->transient_page = paging_->store->write_page(transient.bytes, Durability::transient);
        if (!cold->transient_page) return false;
    }
    if (durable.sum.live > 0) {
        cold->durable_page = paging_->store->write_page(durable.bytes, Durability::durable);
    }
    cold->durable = durable.sum;
    cold->all = {durable.sum.live + transient.sum.live,
                 durable.sum.body_bytes + transient.sum.body_bytes,
                 durable.sum.properties_bytes + transient.sum.properties_bytes};
    cold->durable_earliest = durable.earliest;
    cold->earliest = std::min(durable.earliest, transient.earliest);
    cold->scheduled = leaving.scheduled;
    cold->journal_ranges = journal_uses(leaving);
    cold->durable_first = durable.first;
    cold->first = transient.sum.live == 0 ? durable.first
                  : durable.sum.live == 0 ? transient.first
                                          : std::min(durable.first, transient.first);
    if (is_tail(number)) end_tail();
    count_resident(-memory_of(leaving));
    found->hot.reset();
    found->cold = std::move(cold);
    add_cold(*found->cold);
    return true;
}

void Chain::page_out_all() {
    const View tail = view(block_of(next_));
    if (tail.hot != nullptr && tail.hot->live > 0 &&
        tail.hot->pushed_bytes >= paging_->page_bytes_min) {
        end_tail();
    }
    for (std::uint64_t number = first_block_; number < end_block(); ++number) {
        page_out(number, /*keep_head=*/false);
    }
}

void Chain::shed_unacked() {
    for (Slot& one : blocks_) {
        if (!one.hot || !one.hot->may_shed) continue;
        for (Entry& entry : one.hot->entries) {
            if (entry.state != EntryState::unacked) continue;
            const Message& message = *entry.message;
            if (!message.is_loaded() || !message.stored_at()) continue;
            if (message.properties_size() + std::uint64_t{message.body_size()} <
                paging_->shed_bytes_min)
                continue;
            PROBE("chain.shed");
            count_resident(-memory_of(entry));
            entry.message = make_stub(message);
            count_resident(memory_of(entry));
        }
        // Ready entries may become unacked, and the last block gets more entries.
        one.hot->may_shed = one.hot->ready > 0 || &one == &blocks_.back();
    }
}

// Returns the entries of all readable pages; the other pages are returned in `unreadable`.
std::unique_ptr<Block> Chain::read_pages(const ColdBlock& cold, ColdBlock& unreadable,
                                         std::string& why) const {
    auto block = std::make_unique<Block>();
    const auto bring = [&](ColdPage page, Durability durability, std::uint32_t entries) {
        if (!page) return true;
        auto bytes = paging_->store->read_page(page, durability);
        const std::uint32_t before = block->live;
        if (bytes && decode_page(*bytes, durability, paging_->formats, *block) &&
            block->live == before + entries) {
            return true;
        }
        why = bytes ? paging_->store->fail_damaged(page.at) : std::move(bytes).error();
        return false;
    };
    const bool durable = bring(cold.durable_page, Durability::durable, cold.durable.live);
    if (!durable) {
        block = std::make_unique<Block>();
        unreadable.durable_page = cold.durable_page;
        unreadable.durable = cold.durable;
        unreadable.all = cold.durable;
    }
    if (!bring(cold.transient_page, Durability::transient, cold.transient().live)) {
        // The page may have added some entries before it failed.
        block = std::make_unique<Block>();
        if (durable && !bring(cold.durable_page, Durability::durable, cold.durable.live)) {
            unreadable.durable_page = cold.durable_page;
            unreadable.durable = cold.durable;
            block = std::make_unique<Block>();
        }
        unreadable.transient_page = cold.transient_page;
        unreadable.all = unreadable.durable_page ? cold.all : cold.transient();
    }
    return block;
}

void Chain::park_pages(Slot& slot, std::uint64_t number, ColdBlock unreadable,
                       std::string why) const {
    PROBE("chain.page_parked");
    // The data that is needed to find the block again after a restart.
    unreadable.first = slot.cold->first;
    unreadable.durable_first = slot.cold->durable_first;
    unreadable.durable_earliest = slot.cold->durable_earliest;
    unreadable.journal_ranges = slot.cold->journal_ranges;
    ready_ -= unreadable.all.live;
    slot.parked = std::make_unique<ColdBlock>(std::move(unreadable));
    if (lot_ != nullptr) lot_->page_parked(level_, number, *slot.parked, std::move(why));
}

Block* Chain::page_in(Slot& slot, std::uint64_t number) const {
    PROBE("chain.paged_in");
    const ColdBlock& cold = *slot.cold;
    ColdBlock unreadable;
    std::string why;
    std::unique_ptr<Block> block = read_pages(cold, unreadable, why);
    for (std::size_t i = 0; i < block->entries.size(); ++i) {
        if (number * block_entries + i < redelivered_below_) block->entries[i].returned = true;
    }
    if (cold.transient_page && !unreadable.transient_page) {
        paging_->store->drop_transient(cold.transient_page);
    }
    block->scheduled = cold.scheduled;
    if (unreadable.all.live > 0) park_pages(slot, number, std::move(unreadable), std::move(why));
    subtract_cold(cold);
    slot.cold.reset();
    if (block->live == 0) return nullptr;
    count_resident(memory_of(*block));
    slot.hot = std::move(block);
    add_candidate(number);
    read_ahead(number + 1);
    return slot.hot.get();
}

// Chains are read from the head: the disk can prefetch the next block while this one is used.
void Chain::read_ahead(std::uint64_t number) const {
    const Slot* const next = slot(number);
    if (next != nullptr && next->cold) paging_->store->will_need(*next->cold);
}

std::optional<BlockTotals> Chain::drop_cold(std::uint64_t number) {
    Slot* const found = slot(number);
    if (found == nullptr || !found->cold) return std::nullopt;
    const BlockTotals sum = found->cold->all;
    if (found->cold->transient_page) paging_->store->drop_transient(found->cold->transient_page);
    subtract_cold(*found->cold);
    ready_ -= sum.live;
    live_ -= sum.live;
    free_slot(number);
    return sum;
}

std::optional<ColdBlock> Chain::drop_parked(std::uint64_t number) {
    Slot* const found = slot(number);
    if (found == nullptr || !found->parked) return std::nullopt;
    ColdBlock dropped = std::move(*found->parked);
    found->parked.reset();
    if (dropped.transient_page) paging_->store->drop_transient(dropped.transient_page);
    live_ -= dropped.all.live;
    drop_empty_front();
    return dropped;
}

void Chain::park(std::uint64_t sequence) {
    Block& holder = block_holding(sequence);
    Entry& entry = holder.entries[sequence % block_entries];
    CHECK(entry.state == EntryState::ready);
    entry.state = EntryState::parked;
    clear_ready(holder, sequence % block_entries);
}

Result<void, std::string> Chain::load_message(std::uint64_t sequence) {
    Block& holder = block_holding(sequence);
    if (holder.entries[sequence % block_entries].message->is_loaded()) return {};
    // After an unreadable message the next may be unreadable, too: read less.
    const std::size_t index = sequence % block_entries;
    const bool is_wary = index > 0 && holder.entries[index - 1].state == EntryState::parked;
    const std::uint64_t bytes_max = is_wary ? wary_read_bytes_max : read_bytes_max;
    // The stubs from here on, as many as fit in one read.
    std::vector<Entry*> stubs;
    Lsn begin;
    Lsn end;
    Lsn limit;
    for (std::size_t i = index; i < holder.entries.size(); ++i) {
        Entry& entry = holder.entries[i];
        if (entry.state == EntryState::gone || entry.state == EntryState::parked) continue;
        if (entry.message->is_loaded()) continue;
        const Lsn at = *entry.message->stored_at();
        const Lsn after{at.value + stored_size(*entry.message)};
        if (stubs.empty()) {
            begin = at;
            limit = std::min(paging_->store->contiguous_end(at), Lsn{at.value + bytes_max});
        }
        const bool near =
            stubs.empty() || (at >= end && at.value - end.value <= read_gap_max && after <= limit);
        if (!near) break;
        stubs.push_back(&entry);
        end = after;
    }
    std::string bytes(end.value - begin.value, '\0');
    auto read = paging_->store->read(begin, bytes);
    if (!read && stubs.size() > 1) {  // another message may be the unreadable one
        stubs.resize(1);
        bytes.resize(stored_size(*stubs.front()->message));
        read = paging_->store->read(begin, bytes);
    }
    if (!read) return read;
    for (Entry* const entry : stubs) {
        const Lsn at = *entry->message->stored_at();
        const std::string_view stored =
            std::string_view(bytes).substr(at.value - begin.value, stored_size(*entry->message));
        MessageRef whole = decode_message(stored, paging_->formats, at);
        if (!whole) {  // others are reported when they are needed
            if (entry == stubs.front()) read = Unexpected{paging_->store->fail_damaged(at)};
            continue;
        }
        count_resident(-memory_of(*entry));
        holder.may_shed = true;
        entry->message = std::move(whole);
        count_resident(memory_of(*entry));
    }
    return read;
}

void Chain::mark_all_redelivered() {
    redelivered_below_ = next_;
    for (Slot& one : blocks_) {
        if (!one.hot) continue;
        for (Entry& entry : one.hot->entries) entry.returned = true;
    }
}

void Chain::restore(std::uint64_t number, std::unique_ptr<Block> block) {
    Slot& at = make_slot(number);
    CHECK(at.is_empty());
    ready_ += block->ready;
    live_ += block->live;
    next_ = std::max(next_, number * block_entries + block->entries.size());
    count_resident(memory_of(*block));
    at.hot = std::move(block);
}

void Chain::restore(std::uint64_t number, ColdBlock block) {
    Slot& at = make_slot(number);
    CHECK(at.is_empty());
    ready_ += block.all.live;
    live_ += block.all.live;
    next_ = std::max(next_, (number + 1) * block_entries);
    at.cold = std::make_unique<ColdBlock>(std::move(block));
    add_cold(*at.cold);
}

}  // namespace revenant::engine
