// Deadlines: what must happen at a later time, earliest first. One item per block of messages and
// one per expiring queue. An item may be stale when its time comes; its owner knows.
#pragma once

#include "base/ids.h"
#include "base/time.h"

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

namespace revenant::engine {

class Deadlines {
  public:
    enum class Kind : std::uint8_t { message_block, queue_expiry };
    struct Item {
        Timestamp at;
        std::uint64_t order = 0;  // of being added: equal times keep a fixed order
        Kind kind = Kind::message_block;
        QueueId queue;
        std::uint32_t level = 0;
        std::uint64_t block = 0;
    };

    void add(Item item) {
        item.order = ++added_;
        items_.push(item);
    }
    Timestamp next() const { return items_.empty() ? never : items_.top().at; }
    std::optional<Item> pop_due(Timestamp now) {
        if (items_.empty() || items_.top().at > now) return std::nullopt;
        const Item item = items_.top();
        items_.pop();
        return item;
    }

  private:
    struct Later {
        bool operator()(const Item& a, const Item& b) const {
            return a.at != b.at ? a.at > b.at : a.order > b.order;
        }
    };
    std::priority_queue<Item, std::vector<Item>, Later> items_;
    std::uint64_t added_ = 0;
};

}  // namespace revenant::engine
