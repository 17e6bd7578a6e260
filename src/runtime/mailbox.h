// Mailbox: batches of items from other threads to one reactor. It is bounded: a full mailbox
// refuses a batch, and the sender stops reading the sockets that feed it.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace revenant::runtime {

template <typename Item>
class Mailbox {
  public:
    struct Batch {
        std::vector<Item> items;
        std::size_t bytes = 0;  // approximate size of the items
        bool empty() const { return items.empty(); }
    };

    explicit Mailbox(std::size_t items_max) : items_max_(items_max) {}

    enum class Posted : unsigned char { refused, waiting, first };
    // Takes the batch unless the mailbox is full. An empty mailbox takes a batch of any size.
    // `first`: the mailbox was empty, so its owner may have to be woken.
    Posted post(Batch& batch) {
        const std::lock_guard lock(mutex_);
        if (items_ > 0 && items_ + batch.items.size() > items_max_) return Posted::refused;
        items_ += batch.items.size();
        bytes_.fetch_add(batch.bytes, std::memory_order_relaxed);
        batches_.push_back(std::exchange(batch, {}));
        return batches_.size() == 1 ? Posted::first : Posted::waiting;
    }

    // For rare items that must not be refused, such as commands of the node itself.
    Posted post_always(Item item) {
        const std::lock_guard lock(mutex_);
        items_ += 1;
        batches_.emplace_back();
        batches_.back().items.push_back(std::move(item));
        return batches_.size() == 1 ? Posted::first : Posted::waiting;
    }

    std::vector<Batch> take() {
        const std::lock_guard lock(mutex_);
        items_ = 0;
        return std::exchange(batches_, {});
    }

    // Bytes of all batches posted and not yet read. May be called from any thread.
    std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
    // Called by the owner after it has read the batch.
    void was_read(const Batch& batch) { bytes_.fetch_sub(batch.bytes, std::memory_order_relaxed); }

  private:
    std::mutex mutex_;
    std::vector<Batch> batches_;
    std::size_t items_ = 0;
    std::atomic<std::size_t> bytes_{0};
    const std::size_t items_max_;
};

}  // namespace revenant::runtime
