#include "engine/queue.h"

#include "base/check.h"

#include <algorithm>
#include <utility>

namespace revenant::engine {
namespace {

std::size_t level_count_for(const Table& arguments) {
    const Value* const argument = find(arguments, "x-max-priority");
    if (argument == nullptr || argument->as_integer() == nullptr) return 1;
    // A maximum of 0 behaves as 1 (amqp091 16.1).
    return static_cast<std::size_t>(std::clamp<std::int64_t>(*argument->as_integer(), 1, 255)) + 1;
}

}  // namespace

Queue::Queue(QueueDeclaration declared)
    : declaration(std::move(declared)), levels_(level_count_for(declaration.arguments)) {}

std::size_t Queue::level_for(std::optional<std::uint8_t> priority) const {
    return std::min<std::size_t>(priority.value_or(0), levels_.size() - 1);
}

Position Queue::push(std::size_t level, Entry entry, Timestamp deadline) {
    ready_count_ += 1;
    ready_bytes_ += entry.message->body_size();
    return Position::of(level, levels_[level].push(std::move(entry), deadline));
}

void Queue::push_at(Position position, Entry entry, Timestamp deadline) {
    ready_count_ += 1;
    ready_bytes_ += entry.message->body_size();
    levels_[position.level()].push_at(position.sequence(), std::move(entry), deadline);
}

std::optional<Position> Queue::head() {
    if (ready_count_ == 0) return std::nullopt;
    for (std::size_t level = levels_.size(); level-- > 0;) {
        if (const auto sequence = levels_[level].first_ready())
            return Position::of(level, *sequence);
    }
    UNREACHABLE();
}

void Queue::mark_unacked(Position position) {
    const std::uint64_t bytes = at(position).message->body_size();
    levels_[position.level()].mark_unacked(position.sequence());
    ready_count_ -= 1;
    ready_bytes_ -= bytes;
    unacked_count_ += 1;
    unacked_bytes_ += bytes;
}

void Queue::mark_ready(Position position) {
    const std::uint64_t bytes = at(position).message->body_size();
    levels_[position.level()].mark_ready(position.sequence());
    ready_count_ += 1;
    ready_bytes_ += bytes;
    unacked_count_ -= 1;
    unacked_bytes_ -= bytes;
}

Entry Queue::take(Position position) {
    const bool ready = at(position).state == EntryState::ready;
    Entry entry = levels_[position.level()].take(position.sequence());
    const std::uint64_t bytes = entry.message->body_size();
    (ready ? ready_count_ : unacked_count_) -= 1;
    (ready ? ready_bytes_ : unacked_bytes_) -= bytes;
    return entry;
}

void Queue::clear() {
    for (Chain& level : levels_) level = Chain{};
    ready_count_ = 0;
    unacked_count_ = 0;
    ready_bytes_ = 0;
    unacked_bytes_ = 0;
}

}  // namespace revenant::engine
