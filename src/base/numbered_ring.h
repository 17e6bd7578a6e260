// NumberedRing: elements with consecutive numbers that are removed in roughly that order. Lookup
// and removal take O(1). `Slot` is cheap to copy; a default-constructed one is empty, which
// is_free() reports.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace revenant {

template <typename Slot>
class NumberedRing {
  public:
    // Uses up the next number without an element.
    std::uint64_t skip() {
        if (count_ == 0) {
            first_ = next_ + 1;
            return next_++;
        }
        return add({});
    }
    std::uint64_t add(Slot slot) {
        if (next_ - first_ == slots_.size()) make_room();
        if (!slot.is_free()) count_ += 1;
        at(next_) = slot;
        return next_++;
    }
    Slot* find(std::uint64_t number) {
        if (number >= next_) return nullptr;
        if (number < first_) {
            const auto straggler = stragglers_.find(number);
            return straggler == stragglers_.end() ? nullptr : &straggler->second;
        }
        Slot& found = at(number);
        return found.is_free() ? nullptr : &found;
    }
    void remove(std::uint64_t number) {
        if (number < first_) {
            stragglers_.erase(number);
            return;
        }
        at(number) = {};
        count_ -= 1;
        while (first_ < next_ && at(first_).is_free()) ++first_;
    }
    // Visits the elements from `first` to `last`, inclusive, in order. `visit` must not add or
    // remove elements.
    template <typename Visit>
    void for_each_between(std::uint64_t first, std::uint64_t last, Visit visit) {
        for_some_between(first, last, [&](std::uint64_t number, Slot& slot) {
            visit(number, slot);
            return true;
        });
    }
    // As for_each_between(), but stops when `visit` returns false.
    template <typename Visit>
    void for_some_between(std::uint64_t first, std::uint64_t last, Visit visit) {
        for (auto straggler = stragglers_.lower_bound(first);
             straggler != stragglers_.end() && straggler->first <= last; ++straggler) {
            if (!visit(straggler->first, straggler->second)) return;
        }
        for (std::uint64_t number = std::max(first, first_); number < next_ && number <= last;
             ++number) {
            if (!at(number).is_free() && !visit(number, at(number))) return;
        }
    }
    template <typename Visit>
    void for_each_up_to(std::uint64_t last, Visit visit) {
        for_each_between(0, last, visit);
    }
    std::uint64_t count() const { return count_ + stragglers_.size(); }
    std::uint64_t newest() const { return next_ - 1; }

  private:
    static constexpr std::size_t slots_min = 16;
    // A ring of at least this size that is less than one eighth full is thinned out, not doubled.
    static constexpr std::size_t thinned_slots = 1024;

    Slot& at(std::uint64_t number) { return slots_[number & (slots_.size() - 1)]; }
    void make_room() {
        if (slots_.size() >= thinned_slots && count_ < slots_.size() / 8) {
            const std::uint64_t middle = first_ + slots_.size() / 2;
            for (; first_ < middle; ++first_) {
                if (at(first_).is_free()) continue;
                stragglers_.emplace(first_, at(first_));
                count_ -= 1;
            }
            return;
        }
        std::vector<Slot> larger(std::max(slots_min, slots_.size() * 2));
        for (std::uint64_t number = first_; number < next_; ++number) {
            larger[number & (larger.size() - 1)] = at(number);
        }
        slots_ = std::move(larger);
    }

    std::vector<Slot> slots_;
    // Old elements that remain while thousands of later ones are removed. In the ring they would
    // make it grow without bound.
    std::map<std::uint64_t, Slot> stragglers_;
    std::uint64_t first_ = 1;  // no element in the ring has a lower number
    std::uint64_t next_ = 1;
    std::uint64_t count_ = 0;  // elements in the ring
};

}  // namespace revenant
