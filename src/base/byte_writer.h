// ByteWriter: appends big-endian numbers and strings to a std::string it borrows.
#pragma once

#include "base/check.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace revenant {

class ByteWriter {
  public:
    explicit ByteWriter(std::string& out) : out_(out) {}

    void u8(std::uint8_t value) { out_.push_back(static_cast<char>(value)); }
    void u16(std::uint16_t value) { number(__builtin_bswap16(value)); }
    void u32(std::uint32_t value) { number(__builtin_bswap32(value)); }
    void u64(std::uint64_t value) { number(__builtin_bswap64(value)); }
    void bytes(std::string_view value) { out_.append(value); }

    // The caller guarantees at most 255 bytes.
    void short_string(std::string_view value) {
        CHECK(value.size() <= 255);
        u8(static_cast<std::uint8_t>(value.size()));
        bytes(value);
    }
    void long_string(std::string_view value) {
        u32(static_cast<std::uint32_t>(value.size()));
        bytes(value);
    }

    // Seven bits per byte, lowest first. Small numbers take one byte.
    void varint(std::uint64_t value) {
        if (value < 0x80) return u8(static_cast<std::uint8_t>(value));
        char raw[10];
        std::size_t size = 0;
        while (value >= 0x80) {
            raw[size++] = static_cast<char>(value | 0x80);
            value >>= 7;
        }
        raw[size++] = static_cast<char>(value);
        out_.append(raw, size);
    }
    // Small numbers of either sign take one byte.
    void signed_varint(std::int64_t value) {
        varint((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
    }
    // A string of any length, preceded by its length as a varint.
    void text(std::string_view value) {
        varint(value.size());
        bytes(value);
    }

    std::size_t size() const { return out_.size(); }
    std::string& target() { return out_; }
    // Overwrites four bytes that were written earlier, for lengths that are known only later.
    void patch_u32(std::size_t offset, std::uint32_t value) {
        CHECK(offset + 4 <= out_.size());
        value = __builtin_bswap32(value);
        std::memcpy(out_.data() + offset, &value, sizeof value);
    }

  private:
    template <typename T>
    void number(T big_endian) {
        char raw[sizeof big_endian];
        std::memcpy(raw, &big_endian, sizeof big_endian);
        out_.append(raw, sizeof raw);
    }

    std::string& out_;
};

}  // namespace revenant
