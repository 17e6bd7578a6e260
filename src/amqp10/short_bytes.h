// ShortBytes: a few values of AMQP 1.0 put together on the stack, for what is written with every
// message. Whoever uses it has counted that they fit.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace revenant::amqp10 {

template <std::size_t size_max>
class ShortBytes {
  public:
    void put(unsigned octet) { bytes_[size_++] = static_cast<char>(octet); }
    void append(std::string_view bytes) {
        if (bytes.empty()) return;
        std::memcpy(&bytes_[size_], bytes.data(), bytes.size());
        size_ += bytes.size();
    }
    void boolean(bool value) { put(value ? 0x41 : 0x42); }
    void null() { put(0x40); }
    void uint(std::uint32_t value) {
        if (value == 0) return put(0x43);
        if (value < 256) {
            put(0x52);
            return put(value);
        }
        put(0x70);
        put_u32(value);
    }
    // Of at most 255 bytes.
    void short_string(std::string_view text) {
        put(0xa1);
        put(static_cast<unsigned>(text.size()));
        append(text);
    }
    void put_u32(std::uint32_t value) {
        for (int shift = 24; shift >= 0; shift -= 8) put(value >> shift & 0xff);
    }

    std::size_t size() const { return size_; }
    // Overwrites an octet put earlier; for sizes known only afterwards.
    void patch(std::size_t at, std::size_t octet) { bytes_[at] = static_cast<char>(octet); }
    std::string_view bytes() const { return {bytes_.data(), size_}; }

  private:
    std::array<char, size_max> bytes_;  // without zeros first, on purpose
    std::size_t size_ = 0;
};

}  // namespace revenant::amqp10
