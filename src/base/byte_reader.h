// ByteReader: a bounds-checked big-endian cursor over borrowed bytes.
//
// Reading past the end returns zeros and sets failed(), so a decoder checks once at its end instead
// of after every field. After a failure the position no longer changes, so loops over remaining()
// end.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace revenant {

class ByteReader {
  public:
    explicit ByteReader(std::string_view bytes)
        : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

    bool failed() const { return failed_; }
    bool at_end() const { return at_ == end_; }
    std::size_t remaining() const { return static_cast<std::size_t>(end_ - at_); }
    std::string_view rest() const { return {at_, remaining()}; }

    std::uint8_t u8() { return number<std::uint8_t>(); }
    std::uint16_t u16() { return number<std::uint16_t>(); }
    std::uint32_t u32() { return number<std::uint32_t>(); }
    std::uint64_t u64() { return number<std::uint64_t>(); }

    std::string_view bytes(std::size_t count) {
        if (remaining() < count) {
            fail();
            return {};
        }
        const std::string_view taken{at_, count};
        at_ += count;
        return taken;
    }
    std::string_view short_string() { return bytes(u8()); }
    std::string_view long_string() { return bytes(u32()); }

    std::uint64_t varint() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const std::uint8_t byte = u8();
            value |= std::uint64_t{byte & 0x7fU} << shift;
            if ((byte & 0x80) == 0) return value;
        }
        fail();
        return 0;
    }
    std::int64_t signed_varint() {
        const std::uint64_t value = varint();
        return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
    }
    std::string_view text() { return bytes(varint()); }

    void fail() {
        failed_ = true;
        at_ = end_;
    }

  private:
    template <typename T>
    T number() {
        if (remaining() < sizeof(T)) {
            fail();
            return 0;
        }
        T value;
        std::memcpy(&value, at_, sizeof value);
        at_ += sizeof value;
        if constexpr (sizeof(T) == 2) value = __builtin_bswap16(value);
        if constexpr (sizeof(T) == 4) value = __builtin_bswap32(value);
        if constexpr (sizeof(T) == 8) value = __builtin_bswap64(value);
        return value;
    }
    static_assert(std::endian::native == std::endian::little);

    const char* at_;
    const char* end_;
    bool failed_ = false;
};

}  // namespace revenant
