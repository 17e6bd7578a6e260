// Output: the unsent bytes of a connection.
//
// Small parts are appended to one buffer. Bodies of large messages and rendered histories of dead
// letters are referenced and sent without copying.
#pragma once

#include "message/message.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::protocol {

class Output {
  public:
    // Bodies of at least this size are referenced.
    static constexpr std::size_t shared_bytes_min = 8 * 1024;
    // Bytes that many messages share are referenced from this size on: they are in the CPU cache,
    // and the buffer stays small.
    static constexpr std::size_t common_bytes_min = 1024;

    // For appending.
    std::string& buffer() { return buffer_; }
    // Appends `size` bytes and returns their start. The caller must write all of them.
    char* extend(std::size_t size) {
        const std::size_t before = buffer_.size();
        buffer_.resize(before + size);
        return buffer_.data() + before;
    }
    void append_shared(MessageRef message, std::string_view part) {
        shared_bytes_ += part.size();
        shared_.push_back({buffer_.size(), std::move(message), nullptr, part});
    }
    void append_common(std::shared_ptr<const void> owner, std::string_view part) {
        shared_bytes_ += part.size();
        shared_.push_back({buffer_.size(), {}, std::move(owner), part});
    }

    bool empty() const { return unsent_bytes() == 0; }
    std::size_t unsent_bytes() const { return buffer_.size() + shared_bytes_ - sent_; }

    // Fills `parts` with views of the unsent bytes, in order, and returns the number of views.
    std::size_t gather(std::span<std::string_view> parts) const;
    // Removes the first `count` unsent bytes after they were sent.
    void consume(std::size_t count);
    // Free memory if nothing is unsent: after a burst, and when the connection is idle.
    void shrink();
    void shrink_to_idle();

  private:
    struct Shared {
        std::size_t at;                     // offset in the buffer
        MessageRef message;                 // owner of the part if it belongs to a message
        std::shared_ptr<const void> owner;  // owner of any other part
        std::string_view part;
    };
    std::string buffer_;
    std::vector<Shared> shared_;
    std::size_t shared_bytes_ = 0;
    std::size_t sent_ = 0;
};

}  // namespace revenant::protocol
