#include "amqp10/codec/type_reader.h"

#include "amqp10/codec/descriptors.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace revenant::amqp10 {
namespace {

// The upper half of a constructor determines the layout of the value [1.1.4].
enum class Layout : std::uint8_t {
    described = 0x0,
    empty = 0x4,
    one = 0x5,
    two = 0x6,
    four = 0x7,
    eight = 0x8,
    sixteen = 0x9,
    variable_one = 0xa,
    variable_four = 0xb,
    compound_one = 0xc,
    compound_four = 0xd,
    array_one = 0xe,
    array_four = 0xf,
};

Layout layout_of(std::uint8_t constructor) { return static_cast<Layout>(constructor >> 4); }

template <typename Signed, typename Unsigned>
std::int64_t as_signed(Unsigned value) {
    return static_cast<Signed>(value);
}

}  // namespace

std::optional<std::uint8_t> TypeReader::ubyte() {
    if (take_null()) return std::nullopt;
    if (in_.u8() != 0x50) in_.fail();
    return in_.u8();
}

std::optional<std::uint16_t> TypeReader::ushort() {
    if (take_null()) return std::nullopt;
    if (in_.u8() != 0x60) in_.fail();
    return in_.u16();
}

std::optional<std::uint64_t> TypeReader::ulong() {
    if (take_null()) return std::nullopt;
    switch (in_.u8()) {
        case 0x80:
            return in_.u64();
        case 0x53:
            return in_.u8();
        case 0x44:
            return 0;
        default:
            in_.fail();
            return std::nullopt;
    }
}

std::optional<std::int64_t> TypeReader::timestamp() {
    if (take_null()) return std::nullopt;
    if (in_.u8() != 0x83) in_.fail();
    return static_cast<std::int64_t>(in_.u64());
}

std::optional<std::string_view> TypeReader::string() {
    if (take_null()) return std::nullopt;
    const std::uint8_t constructor = in_.u8();
    if (constructor != 0xa1 && constructor != 0xb1) in_.fail();
    return variable(constructor);
}

std::optional<std::string_view> TypeReader::symbol() {
    if (take_null()) return std::nullopt;
    const std::uint8_t constructor = in_.u8();
    if (constructor != 0xa3 && constructor != 0xb3) in_.fail();
    return variable(constructor);
}

std::optional<TypeReader::Items> TypeReader::map() {
    if (take_null()) return std::nullopt;
    switch (in_.u8()) {
        case 0xc1:
            return items(/*narrow=*/true);
        case 0xd1:
            return items(/*narrow=*/false);
        default:
            in_.fail();
            return std::nullopt;
    }
}

std::optional<std::uint64_t> TypeReader::read_uncommon_descriptor() {
    if (take_null()) return std::nullopt;
    if (in_.u8() != 0x00) in_.fail();
    const std::string_view rest = in_.rest();
    if (!rest.empty() && (rest.front() == '\xa3' || rest.front() == '\xb3')) {
        const auto code = descriptor_named(symbol().value_or(""));
        if (!code) in_.fail();
        return code;
    }
    const auto code = ulong();
    if (!code) in_.fail();
    return code;
}

// -------------------------------------------------------------------------- any value

Raw TypeReader::any_raw() {
    const std::string_view before = in_.rest();
    // A described value consists of a descriptor and a value; both may be described values.
    for (int missing = 1; missing > 0 && !in_.failed(); --missing) {
        const std::uint8_t constructor = in_.u8();
        if (layout_of(constructor) == Layout::described) {
            if (constructor != 0) in_.fail();
            missing += 2;
        } else {
            skip(constructor);
        }
    }
    if (in_.failed()) return {};
    return before.substr(0, before.size() - in_.remaining());
}

void TypeReader::skip(std::uint8_t constructor) {
    switch (layout_of(constructor)) {
        case Layout::empty:
            return;
        case Layout::one:
            in_.u8();
            return;
        case Layout::two:
            in_.u16();
            return;
        case Layout::four:
            in_.u32();
            return;
        case Layout::eight:
            in_.u64();
            return;
        case Layout::sixteen:
            in_.bytes(16);
            return;
        case Layout::variable_one:
        case Layout::compound_one:
        case Layout::array_one:
            in_.bytes(in_.u8());
            return;
        case Layout::variable_four:
        case Layout::compound_four:
        case Layout::array_four:
            in_.bytes(in_.u32());
            return;
        case Layout::described:
            break;
    }
    in_.fail();
}

void TypeReader::check() { check_within(depth_max); }

void TypeReader::check_within(int depth_left) {
    if (depth_left == 0) in_.fail();
    const std::uint8_t constructor = in_.u8();
    if (in_.failed()) return;
    if (constructor != 0) return check_content(constructor, depth_left - 1);
    check_within(depth_left - 1);
    if (!in_.failed()) check_within(depth_left - 1);
}

void TypeReader::check_content(std::uint8_t constructor, int depth_left) {
    static constexpr std::string_view scalars =
        "\x40\x41\x42\x43\x44\x45\x50\x51\x52\x53\x54\x55\x60\x61\x70\x71\x72\x73\x74\x80\x81\x82"
        "\x83\x84\x94\x98\xa0\xa1\xa3\xb0\xb1\xb3";
    switch (constructor) {
        case 0x56:
            if (in_.u8() > 1) in_.fail();
            return;
        case 0xc0:
        case 0xc1:
        case 0xd0:
        case 0xd1:
            return check_compound(constructor, depth_left);
        case 0xe0:
        case 0xf0:
            return check_array(constructor, depth_left);
        default:
            if (scalars.find(static_cast<char>(constructor)) == std::string_view::npos) in_.fail();
            return skip(constructor);
    }
}

void TypeReader::check_compound(std::uint8_t constructor, int depth_left) {
    const Items found = items(layout_of(constructor) == Layout::compound_one);
    TypeReader inside(found.bytes);
    if ((constructor & 0x0f) == 1 && found.count % 2 != 0) inside.fail();
    for (std::uint32_t i = 0; i < found.count && !inside.failed(); ++i) {
        inside.check_within(depth_left);
    }
    if (inside.failed() || !inside.at_end()) in_.fail();
}

void TypeReader::check_array(std::uint8_t constructor, int depth_left) {
    const Items found = items(layout_of(constructor) == Layout::array_one);
    TypeReader inside(found.bytes);
    std::uint8_t of_elements = inside.in_.u8();
    if (of_elements == 0) {
        inside.check_within(depth_left);
        of_elements = inside.in_.u8();
    }
    if (depth_left == 0 && found.count > 0) inside.fail();
    // Elements without bytes are identical, so checking one suffices.
    const bool bodiless = layout_of(of_elements) == Layout::empty;
    if (bodiless && found.count >= values_max) inside.fail();
    const std::uint32_t count = bodiless ? std::min(found.count, 1U) : found.count;
    for (std::uint32_t i = 0; i < count && !inside.failed(); ++i) {
        inside.check_content(of_elements, depth_left - 1);
    }
    if (inside.failed() || !inside.at_end()) in_.fail();
}

bool is_well_formed(Raw value) {
    TypeReader in(value);
    in.check();
    return !in.failed() && in.at_end();
}

Datum TypeReader::datum() { return datum_within(room_); }

// A failed reader returns zeros, which would be an endless nesting of described values.
bool TypeReader::enter(DecodeBudget& room, std::size_t values) {
    if (room.depth == 0 || room.values < values) in_.fail();
    if (in_.failed()) return false;
    room.values -= static_cast<std::uint32_t>(values);
    return true;
}

Datum TypeReader::datum_within(DecodeBudget& room) {
    if (!enter(room)) return {};
    const std::uint8_t constructor = in_.u8();
    if (in_.failed()) return {};
    if (constructor != 0) return value_of(constructor, room);
    room.depth -= 1;
    Data parts;
    parts.push_back(datum_within(room));
    parts.push_back(datum_within(room));
    room.depth += 1;
    return {Type::described, std::move(parts)};
}

Datum TypeReader::value_of(std::uint8_t constructor, DecodeBudget& room) {
    switch (constructor) {
        case 0x40:
            return Datum::null();
        case 0x41:
        case 0x42:
            return Datum::boolean(constructor == 0x41);
        case 0x56: {
            const std::uint8_t octet = in_.u8();
            if (octet > 1) in_.fail();
            return Datum::boolean(octet == 1);
        }
        case 0x50:
            return Datum::ubyte(in_.u8());
        case 0x60:
            return {Type::ushort, std::uint64_t{in_.u16()}};
        case 0x70:
            return Datum::uint(in_.u32());
        case 0x52:
            return Datum::uint(in_.u8());
        case 0x43:
            return Datum::uint(0);
        case 0x80:
            return Datum::ulong(in_.u64());
        case 0x53:
            return Datum::ulong(in_.u8());
        case 0x44:
            return Datum::ulong(0);
        case 0x51:
            return {Type::byte, as_signed<std::int8_t>(in_.u8())};
        case 0x61:
            return {Type::short_int, as_signed<std::int16_t>(in_.u16())};
        case 0x71:
            return {Type::int32, as_signed<std::int32_t>(in_.u32())};
        case 0x54:
            return {Type::int32, as_signed<std::int8_t>(in_.u8())};
        case 0x81:
            return {Type::long_int, as_signed<std::int64_t>(in_.u64())};
        case 0x55:
            return {Type::long_int, as_signed<std::int8_t>(in_.u8())};
        case 0x72:
            return {Type::float32, double{std::bit_cast<float>(in_.u32())}};
        case 0x82:
            return {Type::float64, std::bit_cast<double>(in_.u64())};
        case 0x74:
            return {Type::decimal32, std::string(in_.bytes(4))};
        case 0x84:
            return {Type::decimal64, std::string(in_.bytes(8))};
        case 0x94:
            return {Type::decimal128, std::string(in_.bytes(16))};
        case 0x73:
            return {Type::character, std::uint64_t{in_.u32()}};
        case 0x83:
            return {Type::timestamp, as_signed<std::int64_t>(in_.u64())};
        case 0x98:
            return {Type::uuid, std::string(in_.bytes(16))};
        case 0xa0:
        case 0xb0:
            return {Type::binary, std::string(variable(constructor))};
        case 0xa1:
        case 0xb1:
            return {Type::string, std::string(variable(constructor))};
        case 0xa3:
        case 0xb3:
            return {Type::symbol, std::string(variable(constructor))};
        case 0x45:
            return Datum::list({});
        case 0xc0:
        case 0xd0:
        case 0xc1:
        case 0xd1:
            return compound(constructor, room);
        case 0xe0:
        case 0xf0:
            return array(constructor, room);
        default:
            in_.fail();
            return {};
    }
}

// Reads a list or map. A count that exceeds the bytes fails at their end.
Datum TypeReader::compound(std::uint8_t constructor, DecodeBudget& room) {
    const bool narrow = layout_of(constructor) == Layout::compound_one;
    TypeReader inside(in_.bytes(narrow ? in_.u8() : in_.u32()));
    const std::uint32_t count = narrow ? inside.in_.u8() : inside.in_.u32();
    const bool is_map = (constructor & 0x0f) == 1;
    if (is_map && count % 2 != 0) inside.fail();
    Data elements;
    DataMap entries;
    room.depth -= 1;
    for (std::uint32_t i = 0; i < count && !inside.failed(); i += is_map ? 2 : 1) {
        if (is_map) {
            Datum key = inside.datum_within(room);
            entries.push_back({std::move(key), inside.datum_within(room)});
        } else {
            elements.push_back(inside.datum_within(room));
        }
    }
    room.depth += 1;
    if (inside.failed() || !inside.at_end()) in_.fail();
    if (is_map) return Datum::map(std::move(entries));
    return Datum::list(std::move(elements));
}

// All elements share one constructor. The descriptor appears once in the bytes but in memory with
// each element, so its values and size are counted for each.
Datum TypeReader::array(std::uint8_t constructor, DecodeBudget& room) {
    const bool narrow = layout_of(constructor) == Layout::array_one;
    TypeReader inside(in_.bytes(narrow ? in_.u8() : in_.u32()));
    const std::uint32_t count = narrow ? inside.in_.u8() : inside.in_.u32();
    Data elements;
    room.depth -= 1;
    std::uint8_t of_elements = inside.in_.u8();
    std::optional<Datum> descriptor;
    std::size_t values_of_element = 1;
    if (of_elements == 0) {
        const std::uint32_t values_before = room.values;
        const std::size_t bytes_before = inside.in_.remaining();
        descriptor = inside.datum_within(room);
        values_of_element += values_before - room.values;
        values_of_element += (bytes_before - inside.in_.remaining()) / sizeof(Datum);
        of_elements = inside.in_.u8();
    }
    for (std::uint32_t i = 0; i < count && inside.enter(room, values_of_element); ++i) {
        Datum element = inside.value_of(of_elements, room);
        if (descriptor) element = {Type::described, Data{*descriptor, std::move(element)}};
        elements.push_back(std::move(element));
    }
    room.depth += 1;
    if (inside.failed() || !inside.at_end()) in_.fail();
    return Datum::array(std::move(elements));
}

}  // namespace revenant::amqp10
