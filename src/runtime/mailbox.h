// Mailbox: batches of letters from other threads to one reactor. Bounded: a full one refuses, and
// the sender stops reading the sockets that feed it.
#pragma once

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace revenant::runtime {

template <typename Letter>
class Mailbox {
  public:
    using Batch = std::vector<Letter>;

    explicit Mailbox(std::size_t letters_max) : letters_max_(letters_max) {}

    enum class Posted : unsigned char { refused, waiting, first };
    // Takes the batch unless the box is full; a box that holds nothing takes a batch of any size.
    // `first`: the box was empty, its owner may have to be woken.
    Posted post(Batch& batch) {
        const std::lock_guard lock(mutex_);
        if (letters_ > 0 && letters_ + batch.size() > letters_max_) return Posted::refused;
        letters_ += batch.size();
        batches_.push_back(std::exchange(batch, {}));
        return batches_.size() == 1 ? Posted::first : Posted::waiting;
    }

    // For what must never be refused and is rare: orders of the node itself.
    Posted post_always(Letter letter) {
        const std::lock_guard lock(mutex_);
        letters_ += 1;
        batches_.emplace_back();
        batches_.back().push_back(std::move(letter));
        return batches_.size() == 1 ? Posted::first : Posted::waiting;
    }

    std::vector<Batch> take() {
        const std::lock_guard lock(mutex_);
        letters_ = 0;
        return std::exchange(batches_, {});
    }

  private:
    std::mutex mutex_;
    std::vector<Batch> batches_;
    std::size_t letters_ = 0;
    const std::size_t letters_max_;
};

}  // namespace revenant::runtime
