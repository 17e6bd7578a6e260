// Roster: the members of a set in the order in which they entered. Each member has a number that is
// never reused, so a walk over all members can be done in parts: it continues after the last number
// it saw, and members may enter or leave in between. A member that is present during the whole walk
// is visited exactly once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <utility>
#include <vector>

namespace revenant {

template <typename Member>
class Roster {
  public:
    Roster() = default;
    Roster(const Roster&) = delete;
    Roster& operator=(const Roster&) = delete;

    // A membership, owned by the member and ended by its destructor. The roster must outlive it.
    class Place {
      public:
        Place() = default;
        ~Place() { leave(); }
        Place(const Place&) = delete;
        Place& operator=(const Place&) = delete;
        std::uint64_t number() const { return number_; }
        void leave() {
            if (roster_ != nullptr) roster_->remove(number_);
            roster_ = nullptr;
        }

      private:
        friend class Roster;
        Roster* roster_ = nullptr;
        std::uint64_t number_ = 0;
    };

    void enter(Member& member, Place& place) {
        place.leave();
        place.roster_ = this;
        place.number_ = ++last_number_;
        slots_.push_back({last_number_, &member});
    }

    std::size_t size() const { return slots_.size() - left_; }
    // The number of the member that entered last.
    std::uint64_t newest() const { return last_number_; }

    struct Seen {
        std::uint64_t last = 0;  // where to continue
        bool all = true;         // no member follows
    };
    // Calls visit(member) for the members after number `after`, which is 0 for the first part.
    // Examines at most `most` slots and stops when `visit` returns false.
    template <typename Visit>
    Seen walk(std::uint64_t after, std::size_t most, Visit visit) const {
        auto slot = std::upper_bound(
            slots_.begin(), slots_.end(), after,
            [](std::uint64_t number, const Slot& one) { return number < one.number; });
        for (; most > 0 && slot != slots_.end(); --most, ++slot) {
            after = slot->number;
            if (slot->member != nullptr && !visit(*slot->member)) {
                ++slot;
                break;
            }
        }
        return {after, slot == slots_.end()};
    }

  private:
    struct Slot {
        std::uint64_t number = 0;
        Member* member = nullptr;  // nullptr: the member has left
    };
    static constexpr std::size_t left_min = 64;

    void remove(std::uint64_t number) {
        const auto slot = std::lower_bound(
            slots_.begin(), slots_.end(), number,
            [](const Slot& one, std::uint64_t wanted) { return one.number < wanted; });
        slot->member = nullptr;
        ++left_;
        for (; !slots_.empty() && slots_.back().member == nullptr; --left_) slots_.pop_back();
        for (; !slots_.empty() && slots_.front().member == nullptr; --left_) slots_.pop_front();
        // Compacts only if more slots are empty than used, so that removal takes amortized constant
        // time.
        if (left_ < left_min || left_ <= slots_.size() / 2) return;
        std::erase_if(slots_, [](const Slot& one) { return one.member == nullptr; });
        left_ = 0;
    }

    std::deque<Slot> slots_;  // sorted by number
    std::size_t left_ = 0;    // slots of members that have left
    std::uint64_t last_number_ = 0;
};

// Part of a list of roster members. A member that is present from the first part to the last is in
// exactly one part.
template <typename Item>
struct ListPart {
    std::vector<Item> items;
    std::uint64_t last = 0;    // where the next part continues
    std::uint64_t newest = 0;  // members that entered later are not included
    bool all = true;           // no part follows
};

// Concatenates all parts; next(after) returns the part that follows that number. Members that enter
// after the first part may be missing, so the loop ends even if members keep entering.
template <typename Next>
auto whole_list(Next next) {
    auto part = next(std::uint64_t{0});
    const std::uint64_t newest = part.newest;
    auto items = std::move(part.items);
    while (!part.all && part.last < newest) {
        part = next(part.last);
        std::move(part.items.begin(), part.items.end(), std::back_inserter(items));
    }
    return items;
}

}  // namespace revenant
