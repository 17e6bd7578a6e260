#include "engine/state/queue.h"

#include "base/check.h"
#include "base/probe.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <utility>

namespace revenant::engine {
namespace {

constexpr std::size_t default_quorum_priority = 4;  // of a message without a priority (DL-156)

std::size_t level_count_for(const QueueDeclaration& declaration) {
    if (declaration.kind == QueueKind::quorum) return outbox_level + 1;
    const Value* const argument = find(declaration.arguments, "x-max-priority");
    if (argument == nullptr || argument->as_integer() == nullptr) return 1;
    // A maximum of 0 behaves as 1 (amqp091 16.1).
    return static_cast<std::size_t>(std::clamp<std::int64_t>(*argument->as_integer(), 1, 255)) + 1;
}

}  // namespace

Queue::Queue(QueueDeclaration declared, Paging& paging, bool count_properties)
    : declaration(std::move(declared)),
      paging_(paging),
      main_level_(is_quorum() ? default_quorum_priority : 0),
      level_count_(level_count_for(declaration)),
      served_levels_(is_quorum() ? requeued_level + 1 : level_count_),
      main_(paging, id(), static_cast<std::uint32_t>(main_level_), this),
      count_properties_(is_quorum() && count_properties) {}

Chain& Queue::other_level(std::size_t index) {
    CHECK(index < level_count_);
    if (others_.empty()) others_.resize(level_count_);
    auto& other = others_[index];
    if (!other) {
        ParkingLot* const lot = this;
        other = std::make_unique<Chain>(paging_, id(), static_cast<std::uint32_t>(index), lot);
    }
    return *other;
}

const Chain& Queue::other_level(std::size_t index) const {
    static const Chain never_used;
    const Chain* const found = find_level(index);
    return found == nullptr ? never_used : *found;
}

std::uint64_t Queue::bytes_of(const BlockTotals& sum) const {
    return sum.body_bytes + (count_properties_ ? sum.properties_bytes : 0);
}

std::uint64_t Queue::bytes_of(const Message& message) const {
    return message.body_size() + (count_properties_ ? message.properties_size() : 0);
}

std::size_t Queue::level_for(std::optional<std::uint8_t> priority) const {
    if (is_quorum()) {
        return std::min<std::size_t>(priority.value_or(default_quorum_priority),
                                     quorum_priorities - 1);
    }
    return std::min<std::size_t>(priority.value_or(0), level_count_ - 1);
}

MessageTotals& Queue::amount_at(std::size_t level, EntryState state) {
    if (state == EntryState::unacked) return unacked_;
    if (state == EntryState::parked) return parked_->amount;
    if (level < served_levels_) return ready_;
    return level == delayed_level ? delayed_ : outbox_;
}

void Queue::note_ready(std::size_t index, const Chain& chain) {
    if (index >= served_levels_) return;
    const std::uint64_t bit = std::uint64_t{1} << (index % 64);
    if (chain.ready_count() > 0) {
        ready_levels_[index / 64] |= bit;
    } else {
        ready_levels_[index / 64] &= ~bit;
    }
}

Position Queue::push(std::size_t index, Entry&& entry, Timestamp deadline) {
    Chain& chain = level(index);
    const Position position = Position::of(index, chain.next_sequence());
    put(chain, position, std::move(entry), deadline);
    return position;
}

void Queue::push_at(Position position, Entry&& entry, Timestamp deadline) {
    put(level(position.level()), position, std::move(entry), deadline);
}

void Queue::put(Chain& chain, Position position, Entry&& entry, Timestamp deadline) {
    const std::size_t index = position.level();
    const std::uint64_t bytes = bytes_of(*entry.message);
    amount_at(index, EntryState::ready).add(bytes);
    if (persists(*entry.message)) persistent_messages_.add(bytes);
    chain.push_at(position.sequence(), std::move(entry), deadline);
    note_ready(index, chain);
}

std::optional<std::size_t> Queue::highest_ready_level() const {
    for (std::size_t word = ready_levels_.size(); word-- > 0;) {
        if (ready_levels_[word] == 0) continue;
        return word * 64 + 63 - static_cast<std::size_t>(std::countl_zero(ready_levels_[word]));
    }
    return std::nullopt;
}

std::optional<Position> Queue::head() {
    while (const auto index = highest_ready_level()) {
        Chain& chain = level(*index);
        if (const auto sequence = chain.first_readable()) return Position::of(*index, *sequence);
        if (chain.ready_count() > 0) return std::nullopt;
        note_ready(*index, chain);
    }
    return std::nullopt;
}

std::optional<Position> Queue::peek_head() {
    const auto index = highest_ready_level();
    if (!index) return std::nullopt;
    return Position::of(*index, *level(*index).first_ready());
}

std::uint64_t Queue::ready_count_at(Timestamp now) const {
    std::uint64_t due = 0;
    for_each_level([&](std::size_t index, const Chain& chain) {
        if (index < served_levels_) due += chain.count_due(now);
    });
    return ready_.count - std::min(ready_.count, due);
}

Timestamp Queue::deadline(Position position) const {
    if (position.level() == delayed_level && is_quorum()) {
        const auto found = deadlines_of_delayed_.find(position.sequence());
        return found == deadlines_of_delayed_.end() ? never : found->second;
    }
    return level(position.level()).deadline(position.sequence());
}

void Queue::mark_unacked(Position position) {
    Chain& chain = level(position.level());
    const std::uint64_t bytes = bytes_of(*chain.at(position.sequence()).message);
    chain.mark_unacked(position.sequence());
    ready_.subtract(bytes);
    unacked_.add(bytes);
    note_ready(position.level(), chain);
}

void Queue::mark_ready(Position position) {
    Chain& chain = level(position.level());
    const std::uint64_t bytes = bytes_of(*chain.at(position.sequence()).message);
    chain.mark_ready(position.sequence());
    ready_.add(bytes);
    unacked_.subtract(bytes);
    note_ready(position.level(), chain);
}

Entry Queue::take(Position position) {
    const std::size_t index = position.level();
    Chain& chain = level(index);
    const EntryState state = chain.at(position.sequence()).state;
    Entry entry = chain.take(position.sequence());
    const std::uint64_t bytes = bytes_of(*entry.message);
    amount_at(index, state).subtract(bytes);
    if (state == EntryState::parked) forget_parked(position);
    if (persists(*entry.message)) persistent_messages_.subtract(bytes);
    note_ready(index, chain);
    if (index >= served_levels_) {
        if (index == delayed_level) deadlines_of_delayed_.erase(position.sequence());
        if (index == outbox_level) erase_outbox_entry(position.sequence());
    }
    return entry;
}

void Queue::erase_outbox_entry(std::uint64_t sequence) {
    outbox_entries.erase(sequence);
    if (!outbox_progress) return;
    for (auto& [target, sequences] : outbox_progress->waiting_for_room) sequences.erase(sequence);
    if (outbox_entries.empty()) outbox_progress.reset();
}

void Queue::move(Position from, Position to) {
    const Timestamp expires = to.level() == outbox_level ? never : deadline(from);
    push_at(to, take(from), expires);
}

void Queue::delay(Position from, Position to, Timestamp until) {
    const Timestamp expires = deadline(from);
    push_at(to, take(from), until);
    if (expires != never) deadlines_of_delayed_.emplace(to.sequence(), expires);
}

void Queue::clear() {
    for_each_level([](std::size_t, Chain& chain) { chain.clear(); });
    ready_levels_ = {};
    deadlines_of_delayed_.clear();
    outbox_entries.clear();
    outbox_progress.reset();
    ready_ = {};
    unacked_ = {};
    delayed_ = {};
    outbox_ = {};
    persistent_messages_ = {};
    parked_.reset();
}

std::uint64_t Queue::purge(const std::vector<Position>& but) {
    std::uint64_t purged = 0;
    while (parked_ && !parked_->pages.empty()) {
        purged += discard_block(parked_->pages.begin()->first);
    }
    for_each_level([&](std::size_t index, Chain& chain) {
        std::vector<Position> positions;
        for (std::uint64_t number = chain.first_block(); number < chain.end_block(); ++number) {
            const Position first = Position::of(index, number * block_entries);
            const Position behind = Position::of(index, (number + 1) * block_entries);
            const auto kept = std::lower_bound(but.begin(), but.end(), first);
            if (kept != but.end() && *kept < behind) continue;
            const auto sum = chain.drop_cold(number);
            if (!sum) continue;
            amount_at(index, EntryState::ready).subtract({sum->live, bytes_of(*sum)});
            purged += sum->live;
        }
        chain.for_each([&](std::uint64_t sequence, const Entry&) {
            const Position position = Position::of(index, sequence);
            if (!std::binary_search(but.begin(), but.end(), position))
                positions.push_back(position);
        });
        for (const Position position : positions) take(position);
        purged += positions.size();
        note_ready(index, chain);
    });
    count_persistent();
    return purged;
}

void Queue::count_persistent() {
    persistent_messages_ = {};
    for_each_level([&](std::size_t, const Chain& chain) {
        chain.for_each([&](std::uint64_t, const Entry& entry) {
            if (persists(*entry.message)) persistent_messages_.add(bytes_of(*entry.message));
        });
    });
}

MessageTotals Queue::paged_out() const {
    MessageTotals all;
    for_each_level([&](std::size_t, const Chain& chain) {
        const ChainTotals& sums = chain.paged_out();
        all.add({sums.live, sums.body_bytes + (count_properties_ ? sums.properties_bytes : 0)});
    });
    return all;
}

std::uint64_t Queue::memory_bytes() const {
    std::uint64_t bytes = sizeof(Queue) + others_.capacity() * sizeof others_.front();
    for_each_level([&](std::size_t index, const Chain& chain) {
        bytes += chain.resident_bytes() + (index == main_level_ ? 0 : sizeof(Chain));
    });
    return bytes;
}

std::optional<std::int64_t> Queue::head_timestamp() {
    const auto position = peek_head();
    if (!position) return std::nullopt;
    const Chain& chain = level(position->level());
    if (chain.view(Chain::block_of(position->sequence())).hot == nullptr) return std::nullopt;
    const Message& message = *chain.at(position->sequence()).message;
    if (!message.is_loaded()) return std::nullopt;
    const std::string text = message.format().property(message, "timestamp");
    std::int64_t seconds = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, seconds);
    if (text.empty() || read.ec != std::errc() || read.ptr != end) return std::nullopt;
    return seconds;
}

std::optional<Timestamp> Queue::head_died_at() {
    const auto position = peek_head();
    if (!position) return std::nullopt;
    const Chain& chain = level(position->level());
    if (chain.view(Chain::block_of(position->sequence())).hot == nullptr) return std::nullopt;
    const EnvelopeRef& envelope = chain.at(position->sequence()).envelope;
    if (!envelope || envelope->history.deaths.empty()) return std::nullopt;
    return envelope->history.deaths.front().last_time;
}

// ------------------------------------------------------------------------- parked messages

ParkedMessages& Queue::parking() {
    if (!parked_) parked_ = std::make_unique<ParkedMessages>();
    return *parked_;
}

bool Queue::read_or_park(Position position) {
    auto made = level(position.level()).load_message(position.sequence());
    if (!made) park(position, std::move(made).error());
    return made.has_value();
}

void Queue::park(Position position, std::string why) {
    PROBE("queue.message_parked");
    Chain& chain = level(position.level());
    const std::uint64_t bytes = bytes_of(*chain.at(position.sequence()).message);
    chain.park(position.sequence());
    amount_at(position.level(), EntryState::ready).subtract(bytes);
    ParkedMessages& parked = parking();
    parked.amount.add(bytes);
    parked.entries[position] = {1, bytes, std::move(why)};
    note_ready(position.level(), chain);
    paging_.newly_parked.push_back(id());
}

void Queue::page_parked(std::size_t index, std::uint64_t block, const ColdBlock& parked,
                        std::string why) {
    const MessageTotals amount{parked.all.live, bytes_of(parked.all)};
    amount_at(index, EntryState::ready).subtract(amount);
    parking().amount.add(amount);
    parking().pages[Position::of(index, block * block_entries)] = {amount.count, amount.bytes,
                                                                   std::move(why)};
    note_ready(index, level(index));
    paging_.newly_parked.push_back(id());
}

void Queue::forget_parked(Position position) {
    parked_->entries.erase(position);
    if (parked_->amount.count == 0) parked_.reset();
}

std::uint64_t Queue::discard_block(Position first) {
    Chain& chain = level(first.level());
    const std::uint64_t number = Chain::block_of(first.sequence());
    if (const auto dropped = chain.drop_parked(number)) {
        parked_->amount.subtract({dropped->all.live, bytes_of(dropped->all)});
        parked_->pages.erase(first);
        if (parked_->amount.count == 0) parked_.reset();
        if (survives_restart())
            persistent_messages_.subtract({dropped->durable.live, bytes_of(dropped->durable)});
        return dropped->all.live;
    }
    if (const auto dropped = chain.drop_cold(number)) {
        amount_at(first.level(), EntryState::ready).subtract({dropped->live, bytes_of(*dropped)});
        if (survives_restart()) persistent_messages_.subtract({dropped->live, bytes_of(*dropped)});
        note_ready(first.level(), chain);
        return dropped->live;
    }
    std::vector<Position> positions;
    if (const Block* const hot = chain.view(number).hot) {
        for (std::size_t i = 0; i < hot->entries.size(); ++i) {
            if (hot->entries[i].state == EntryState::gone || !hot->entries[i].durable) continue;
            positions.push_back(Position::of(first.level(), number * block_entries + i));
        }
    }
    for (const Position position : positions) take(position);
    return positions.size();
}

void Queue::restore(Position first, std::unique_ptr<Block> block) {
    MessageTotals& amount = amount_at(first.level(), EntryState::ready);
    for (const Entry& entry : block->entries) {
        if (entry.state == EntryState::gone) continue;
        amount.add(bytes_of(*entry.message));
        if (persists(*entry.message)) persistent_messages_.add(bytes_of(*entry.message));
    }
    Chain& chain = level(first.level());
    chain.restore(Chain::block_of(first.sequence()), std::move(block));
    note_ready(first.level(), chain);
}

void Queue::restore(std::size_t index, std::uint64_t number, ColdBlock block) {
    const MessageTotals amount{block.all.live, bytes_of(block.all)};
    amount_at(index, EntryState::ready).add(amount);
    // Only persistent messages are found after a restart.
    if (survives_restart()) persistent_messages_.add(amount);
    Chain& chain = level(index);
    chain.restore(number, std::move(block));
    note_ready(index, chain);
}

}  // namespace revenant::engine
