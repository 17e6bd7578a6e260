// TypeReader: reads AMQP 1.0 values from untrusted bytes. Sizes, counts and depths are checked; an
// error makes the reader fail like a ByteReader.
#pragma once

#include "amqp10/codec/datum.h"
#include "base/byte_reader.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace revenant::amqp10 {

// Maximum nesting of values.
constexpr int depth_max = 32;
// Maximum number of values that datum() creates per reader, including nested ones: one byte, or no
// byte in an array, can become a value that takes many bytes in memory.
constexpr std::uint32_t values_max = 65536;

// An encoded value with its constructor; empty or 0x40 if absent.
using Raw = std::string_view;

class TypeReader {
  public:
    explicit TypeReader(std::string_view bytes, std::uint32_t values = values_max)
        : in_(bytes), room_{depth_max, values} {}

    bool failed() const { return in_.failed(); }
    bool at_end() const { return in_.at_end(); }
    void fail() { in_.fail(); }
    std::string_view rest() const { return in_.rest(); }

    // One value of any type.
    Datum datum();
    std::uint32_t values_left() const { return room_.values; }
    // One value, undecoded.
    Raw raw() { return at_plain_outcome() ? in_.bytes(plain_outcome_bytes) : any_raw(); }
    // Skips one value and checks it completely.
    void check();

    // One value of that type, or nothing for null. Any other type fails.
    std::optional<bool> boolean();
    std::optional<std::uint8_t> ubyte();
    std::optional<std::uint16_t> ushort();
    std::optional<std::uint32_t> uint();
    std::optional<std::uint64_t> ulong();
    std::optional<std::int64_t> timestamp();
    std::optional<std::string_view> binary();
    std::optional<std::string_view> string();
    std::optional<std::string_view> symbol();

    // The items of a list one after the other; for a map, alternating keys and values.
    struct Items {
        std::uint32_t count = 0;
        std::string_view bytes;
    };
    std::optional<Items> list();
    std::optional<Items> map();
    // The code of a described value, whose value follows. Symbolic descriptors are converted
    // (amqp10 1.2).
    std::optional<std::uint64_t> descriptor();

  private:
    // A one-byte descriptor and an empty list: accepted, released or rejected without an error.
    // Sent for every delivery.
    static constexpr std::size_t plain_outcome_bytes = 4;
    bool at_plain_outcome() const {
        const std::string_view rest = in_.rest();
        return rest.size() >= plain_outcome_bytes && rest[0] == '\x00' && rest[1] == '\x53' &&
               rest[3] == '\x45';
    }
    Raw any_raw();
    std::string_view variable(std::uint8_t constructor);
    Items items(bool narrow);
    bool take_null();
    std::optional<std::uint64_t> read_uncommon_descriptor();  // not a one-byte number
    // The remaining size of a datum.
    struct DecodeBudget {
        int depth = depth_max;
        std::uint32_t values = values_max;
    };
    bool enter(DecodeBudget& room, std::size_t values = 1);
    Datum datum_within(DecodeBudget& room);
    Datum value_of(std::uint8_t constructor, DecodeBudget& room);
    Datum compound(std::uint8_t constructor, DecodeBudget& room);
    Datum array(std::uint8_t constructor, DecodeBudget& room);
    void skip(std::uint8_t constructor);
    void check_within(int depth_left);
    void check_content(std::uint8_t constructor, int depth_left);
    void check_compound(std::uint8_t constructor, int depth_left);
    void check_array(std::uint8_t constructor, int depth_left);

    ByteReader in_;
    DecodeBudget room_;
};

// Inline because several of these are called for every message.
inline bool TypeReader::take_null() {
    if (in_.rest().empty() || in_.rest().front() != 0x40) return false;
    in_.u8();
    return true;
}

inline std::optional<bool> TypeReader::boolean() {
    if (take_null()) return std::nullopt;
    switch (in_.u8()) {
        case 0x41:
            return true;
        case 0x42:
            return false;
        case 0x56: {
            const std::uint8_t octet = in_.u8();
            if (octet > 1) in_.fail();
            return octet == 1;
        }
        default:
            in_.fail();
            return std::nullopt;
    }
}

inline std::optional<std::uint32_t> TypeReader::uint() {
    if (take_null()) return std::nullopt;
    switch (in_.u8()) {
        case 0x70:
            return in_.u32();
        case 0x52:
            return in_.u8();
        case 0x43:
            return 0;
        default:
            in_.fail();
            return std::nullopt;
    }
}

inline std::string_view TypeReader::variable(std::uint8_t constructor) {
    return in_.bytes(constructor >> 4 == 0xa ? in_.u8() : in_.u32());
}

inline std::optional<std::string_view> TypeReader::binary() {
    if (take_null()) return std::nullopt;
    const std::uint8_t constructor = in_.u8();
    if (constructor != 0xa0 && constructor != 0xb0) in_.fail();
    return variable(constructor);
}

inline TypeReader::Items TypeReader::items(bool narrow) {
    ByteReader inside(in_.bytes(narrow ? in_.u8() : in_.u32()));
    Items items;
    items.count = narrow ? inside.u8() : inside.u32();
    items.bytes = inside.rest();
    if (inside.failed()) in_.fail();
    return items;
}

inline std::optional<TypeReader::Items> TypeReader::list() {
    if (take_null()) return std::nullopt;
    switch (in_.u8()) {
        case 0x45:
            return Items{};
        case 0xc0:
            return items(/*narrow=*/true);
        case 0xd0:
            return items(/*narrow=*/false);
        default:
            in_.fail();
            return std::nullopt;
    }
}

inline std::optional<std::uint64_t> TypeReader::descriptor() {
    const std::string_view rest = in_.rest();
    if (rest.size() < 3 || rest[0] != '\x00' || rest[1] != '\x53')
        return read_uncommon_descriptor();
    in_.bytes(3);
    return static_cast<std::uint8_t>(rest[2]);
}

// Whether the bytes are exactly one valid value.
bool is_well_formed(Raw value);

}  // namespace revenant::amqp10
