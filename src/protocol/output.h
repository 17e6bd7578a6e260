// Output: what a connection has to say and its socket has not sent yet.
//
// Small things are appended to one buffer. The bodies of large messages and the rendered histories
// of dead letters are referenced, never copied, and sent from where they are.
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
    // Bodies from this size on are referenced.
    static constexpr std::size_t shared_bytes_min = 8 * 1024;
    // Bytes that many messages have in common are referenced from this size on: they are warm, and
    // the buffer stays small.
    static constexpr std::size_t common_bytes_min = 1024;

    // To append to.
    std::string& buffer() { return buffer_; }
    // Appends room for exactly `size` bytes and returns its start; the caller writes them all.
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

    // Fills in views of what is unsent, in order, and returns how many it filled.
    std::size_t gather(std::span<std::string_view> parts) const;
    // The first `count` unsent bytes are on their way.
    void consume(std::size_t count);
    // Gives memory back when nothing is unsent: after a burst, and when the connection is idle.
    void shrink();
    void shrink_to_idle();

  private:
    struct Shared {
        std::size_t at;                     // how many bytes of the buffer come before it
        MessageRef message;                 // the part belongs to a message,
        std::shared_ptr<const void> owner;  // or to this
        std::string_view part;
    };
    std::string buffer_;
    std::vector<Shared> shared_;
    std::size_t shared_bytes_ = 0;
    std::size_t sent_ = 0;
};

}  // namespace revenant::protocol
