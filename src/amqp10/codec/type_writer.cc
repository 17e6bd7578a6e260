#include "amqp10/codec/type_writer.h"

#include "base/check.h"

#include <bit>
#include <utility>

namespace revenant::amqp10 {
namespace {

// The constructor that can represent every value of the type.
std::uint8_t constructor_of(Type type) {
    switch (type) {
        case Type::null:
            return 0x40;
        case Type::boolean:
            return 0x56;
        case Type::ubyte:
            return 0x50;
        case Type::ushort:
            return 0x60;
        case Type::uint:
            return 0x70;
        case Type::ulong:
            return 0x80;
        case Type::byte:
            return 0x51;
        case Type::short_int:
            return 0x61;
        case Type::int32:
            return 0x71;
        case Type::long_int:
            return 0x81;
        case Type::float32:
            return 0x72;
        case Type::float64:
            return 0x82;
        case Type::decimal32:
            return 0x74;
        case Type::decimal64:
            return 0x84;
        case Type::decimal128:
            return 0x94;
        case Type::character:
            return 0x73;
        case Type::timestamp:
            return 0x83;
        case Type::uuid:
            return 0x98;
        case Type::binary:
            return 0xb0;
        case Type::string:
            return 0xb1;
        case Type::symbol:
            return 0xb3;
        case Type::list:
            return 0xd0;
        case Type::map:
            return 0xd1;
        case Type::array:
            return 0xf0;
        case Type::described:
            return 0x00;
    }
    UNREACHABLE();
}

}  // namespace

void TypeWriter::ubyte(std::uint8_t value) {
    out_.u8(0x50);
    out_.u8(value);
}

void TypeWriter::ushort(std::uint16_t value) {
    out_.u8(0x60);
    out_.u16(value);
}

void TypeWriter::uint(std::uint32_t value) {
    if (value == 0) return out_.u8(0x43);
    if (value > 0xff) {
        out_.u8(0x70);
        return out_.u32(value);
    }
    out_.u8(0x52);
    out_.u8(static_cast<std::uint8_t>(value));
}

void TypeWriter::ulong(std::uint64_t value) {
    if (value == 0) return out_.u8(0x44);
    if (value > 0xff) {
        out_.u8(0x80);
        return out_.u64(value);
    }
    out_.u8(0x53);
    out_.u8(static_cast<std::uint8_t>(value));
}

void TypeWriter::timestamp(std::int64_t ms) {
    out_.u8(0x83);
    out_.u64(static_cast<std::uint64_t>(ms));
}

void TypeWriter::begin_variable(std::uint8_t narrow, std::size_t size) {
    if (size <= 0xff) {
        out_.u16(static_cast<std::uint16_t>(narrow << 8 | size));
    } else {
        out_.u8(narrow | 0x10);
        out_.u32(static_cast<std::uint32_t>(size));
    }
}

void TypeWriter::variable(std::uint8_t narrow, std::string_view bytes) {
    begin_variable(narrow, bytes.size());
    out_.bytes(bytes);
}

void TypeWriter::symbol(std::string_view begin, std::string_view end) {
    begin_variable(0xa3, begin.size() + end.size());
    out_.bytes(begin);
    out_.bytes(end);
}

void TypeWriter::long_int(std::int64_t value) {
    if (value >= -128 && value <= 127) {
        out_.u8(0x55);
        return out_.u8(static_cast<std::uint8_t>(value));
    }
    out_.u8(0x81);
    out_.u64(static_cast<std::uint64_t>(value));
}

void TypeWriter::descriptor(std::uint64_t code) {
    if (code > 0 && code <= 0xff) {
        const char bytes[] = {0x00, 0x53, static_cast<char>(code)};
        return out_.bytes({bytes, sizeof bytes});
    }
    out_.u8(0x00);
    ulong(code);
}

TypeWriter::Open TypeWriter::begin(std::uint8_t constructor) {
    out_.u8(constructor);
    return begin_counted(0);
}

TypeWriter::Open TypeWriter::begin_array(Type of_elements) {
    const Open open = begin(0xf0);
    out_.u8(constructor_of(of_elements));
    return open;
}

TypeWriter::Open TypeWriter::begin_counted(std::uint32_t count) {
    const Open open{out_.size(), count};
    out_.u64(0);  // size and count
    return open;
}

void TypeWriter::end(const Open& open, std::size_t bytes_apart) {
    out_.patch_u32(open.at, static_cast<std::uint32_t>(out_.size() - open.at - 4 + bytes_apart));
    out_.patch_u32(open.at + 4, open.count);
}

void TypeWriter::symbols(const std::vector<std::string>& all) {
    Data elements;
    for (const std::string& one : all) elements.push_back(Datum::symbol(one));
    if (elements.empty()) return null();
    datum(Datum::array(std::move(elements)));
}

// Most values have a shorter form than the general one of their type.
void TypeWriter::datum(const Datum& datum) {
    switch (datum.type) {
        case Type::boolean:
            // Type and octet, as RabbitMQ encodes booleans in maps: clients compare with 1.
            out_.u8(0x56);
            return out_.u8(std::get<bool>(datum.content) ? 1 : 0);
        case Type::uint:
            return uint(static_cast<std::uint32_t>(std::get<std::uint64_t>(datum.content)));
        case Type::ulong:
            return ulong(std::get<std::uint64_t>(datum.content));
        case Type::binary:
            return binary(std::get<std::string>(datum.content));
        case Type::string:
            return string(std::get<std::string>(datum.content));
        case Type::symbol:
            return symbol(std::get<std::string>(datum.content));
        case Type::list:
            if (datum.as_elements()->empty()) return out_.u8(0x45);
            break;
        case Type::described: {
            const Data& parts = described(datum);
            out_.u8(0x00);
            this->datum(parts[0]);
            return this->datum(parts[1]);
        }
        default:
            break;
    }
    constructor(datum);
    content(datum);
}

const Data& TypeWriter::described(const Datum& datum) {
    const Data& parts = std::get<Data>(datum.content);
    CHECK(parts.size() == 2);
    return parts;
}

void TypeWriter::constructor(const Datum& datum) {
    out_.u8(constructor_of(datum.type));
    if (datum.type != Type::described) return;
    const Data& parts = described(datum);
    this->datum(parts[0]);
    constructor(parts[1]);
}

// Writes the bytes after the constructor.
void TypeWriter::content(const Datum& datum) {
    switch (datum.type) {
        case Type::null:
            return;
        case Type::boolean:
            return out_.u8(std::get<bool>(datum.content) ? 1 : 0);
        case Type::ubyte:
            return out_.u8(static_cast<std::uint8_t>(std::get<std::uint64_t>(datum.content)));
        case Type::ushort:
            return out_.u16(static_cast<std::uint16_t>(std::get<std::uint64_t>(datum.content)));
        case Type::uint:
        case Type::character:
            return out_.u32(static_cast<std::uint32_t>(std::get<std::uint64_t>(datum.content)));
        case Type::ulong:
            return out_.u64(std::get<std::uint64_t>(datum.content));
        case Type::byte:
            return out_.u8(static_cast<std::uint8_t>(std::get<std::int64_t>(datum.content)));
        case Type::short_int:
            return out_.u16(static_cast<std::uint16_t>(std::get<std::int64_t>(datum.content)));
        case Type::int32:
            return out_.u32(static_cast<std::uint32_t>(std::get<std::int64_t>(datum.content)));
        case Type::long_int:
        case Type::timestamp:
            return out_.u64(static_cast<std::uint64_t>(std::get<std::int64_t>(datum.content)));
        case Type::float32:
            return out_.u32(
                std::bit_cast<std::uint32_t>(static_cast<float>(std::get<double>(datum.content))));
        case Type::float64:
            return out_.u64(std::bit_cast<std::uint64_t>(std::get<double>(datum.content)));
        case Type::decimal32:
        case Type::decimal64:
        case Type::decimal128:
        case Type::uuid:
            return out_.bytes(std::get<std::string>(datum.content));
        case Type::binary:
        case Type::string:
        case Type::symbol:
            return out_.long_string(std::get<std::string>(datum.content));
        case Type::list:
            return list(*datum.as_elements());
        case Type::map:
            return map(*datum.as_map());
        case Type::array:
            return array(*datum.as_elements());
        case Type::described:
            return content(described(datum)[1]);
    }
    UNREACHABLE();
}

void TypeWriter::list(const Data& elements) {
    const Open open = begin_counted(static_cast<std::uint32_t>(elements.size()));
    for (const Datum& one : elements) datum(one);
    end(open);
}

void TypeWriter::map(const DataMap& entries) {
    const Open open = begin_counted(static_cast<std::uint32_t>(entries.size() * 2));
    for (const MapEntry& entry : entries) {
        datum(entry.key);
        datum(entry.value);
    }
    end(open);
}

// There is one constructor for all elements, so they must have the same type.
void TypeWriter::array(const Data& elements) {
    const Open open = begin_counted(static_cast<std::uint32_t>(elements.size()));
    constructor(elements.empty() ? Datum::null() : elements.front());
    for (const Datum& one : elements) {
        CHECK(one.type == elements.front().type);
        content(one);
    }
    end(open);
}

}  // namespace revenant::amqp10
