// ValueCursor: writes AMQP 1.0 values one after the other, for data that is written with every
// message. The caller ensures that they fit. It consists of one pointer, so that it stays in a
// register.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace revenant::amqp10 {

class ValueCursor {
  public:
    explicit ValueCursor(char* at) : at_(at) {}

    void put(unsigned octet) { *at_++ = static_cast<char>(octet); }
    void append(std::string_view bytes) {
        if (bytes.empty()) return;
        std::memcpy(at_, bytes.data(), bytes.size());
        at_ += bytes.size();
    }
    void u16(std::uint16_t value) { number(__builtin_bswap16(value)); }
    void u32(std::uint32_t value) { number(__builtin_bswap32(value)); }
    void boolean(bool value) { put(value ? 0x41 : 0x42); }
    void null() { put(0x40); }
    void uint(std::uint32_t value) {
        if (value == 0) return put(0x43);
        if (value < 256) {
            put(0x52);
            return put(value);
        }
        put(0x70);
        u32(value);
    }
    // At most 255 bytes.
    void short_string(std::string_view text) {
        put(0xa1);
        put(static_cast<unsigned>(text.size()));
        append(text);
    }

    char* at() const { return at_; }
    std::size_t distance_from(const char* begin) const {
        return static_cast<std::size_t>(at_ - begin);
    }

  private:
    template <typename Number>
    void number(Number big_endian) {
        std::memcpy(at_, &big_endian, sizeof big_endian);
        at_ += sizeof big_endian;
    }

    char* at_;
};

}  // namespace revenant::amqp10
