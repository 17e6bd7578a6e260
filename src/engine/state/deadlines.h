// Deadlines: a queue of timers, earliest first. There is one item per block of messages and one per
// expiring queue. An item may be stale when it is due; its owner can tell, and removes stale items
// from time to time.
#pragma once

#include "base/ids.h"
#include "base/time.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace revenant::engine {

class Deadlines {
  public:
    enum class Kind : std::uint8_t { message_block, queue_expiry };
    struct Item {
        Timestamp at;
        std::uint64_t order = 0;  // of insertion: makes the order of equal times deterministic
        Kind kind = Kind::message_block;
        QueueId queue;
        std::uint32_t level = 0;
        std::uint64_t block = 0;
    };

    void add(Item item) {
        item.order = ++added_;
        items_.push_back(item);
        std::push_heap(items_.begin(), items_.end(), Later{});
    }
    std::size_t size() const { return items_.size(); }
    // The order of the last item added.
    std::uint64_t newest() const { return added_; }
    Timestamp next() const { return items_.empty() ? never : items_.front().at; }
    // The next item that is due and was not added after `newest`.
    std::optional<Item> pop_due(Timestamp now, std::uint64_t newest) {
        if (items_.empty() || items_.front().at > now || items_.front().order > newest) {
            return std::nullopt;
        }
        std::pop_heap(items_.begin(), items_.end(), Later{});
        const Item item = items_.back();
        items_.pop_back();
        return item;
    }
    template <typename IsStale>
    void remove_stale(IsStale is_stale) {
        std::erase_if(items_, is_stale);
        std::make_heap(items_.begin(), items_.end(), Later{});
    }

  private:
    struct Later {
        bool operator()(const Item& a, const Item& b) const {
            return a.at != b.at ? a.at > b.at : a.order > b.order;
        }
    };
    std::vector<Item> items_;  // a heap
    std::uint64_t added_ = 0;
};

}  // namespace revenant::engine
