#include "amqp091/codec/table.h"

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/check.h"

#include <bit>
#include <cmath>
#include <utility>
#include <variant>

namespace revenant::amqp091 {
namespace {

// A field of a table or an element of an array with its undecoded content.
struct Item {
    std::string_view name;  // empty in an array
    char type_tag = 0;
    std::string_view raw;
    // Offsets of the item and its raw content from the start of the outermost bytes.
    std::size_t offset = 0;
    std::size_t raw_offset = 0;

    bool is_container() const { return type_tag == 'F' || type_tag == 'A'; }
};

enum class Shape : std::uint8_t { fixed, long_string, unknown };
struct Layout {
    Shape shape;
    std::size_t size;  // of a fixed-size value
};

constexpr Layout layout_of(char type_tag) {
    switch (type_tag) {
        case 'V':
            return {Shape::fixed, 0};
        case 't':
        case 'b':
        case 'B':
            return {Shape::fixed, 1};
        case 's':
        case 'u':
            return {Shape::fixed, 2};
        case 'I':
        case 'i':
        case 'f':
            return {Shape::fixed, 4};
        case 'D':
            return {Shape::fixed, 5};
        case 'l':
        case 'L':
        case 'd':
        case 'T':
            return {Shape::fixed, 8};
        case 'S':
        case 'x':
        case 'F':
        case 'A':
            return {Shape::long_string, 0};
        default:
            return {Shape::unknown, 0};
    }
}

// Splits a table into fields or an array into elements, one level only.
class ItemReader {
  public:
    enum class Holder : std::uint8_t { table, array };

    ItemReader(std::string_view bytes, std::size_t base, Holder holder)
        : in_(bytes), base_(base), size_(bytes.size()), holder_(holder) {}

    static ItemReader inside(const Item& item) {
        return {item.raw, item.raw_offset, item.type_tag == 'F' ? Holder::table : Holder::array};
    }

    // Returns false at the end or on an error.
    bool next(Item& item) {
        if (in_.at_end()) return false;
        item.offset = offset();
        item.type_tag = 0;
        item.name = holder_ == Holder::table ? in_.short_string() : std::string_view{};
        item.type_tag = static_cast<char>(in_.u8());
        if (in_.failed()) return fail(TableErrorKind::truncated, item);
        const Layout layout = layout_of(item.type_tag);
        if (layout.shape == Shape::unknown) return fail(TableErrorKind::unknown_type, item);
        if (layout.shape == Shape::fixed) {
            item.raw_offset = offset();
            item.raw = in_.bytes(layout.size);
        } else {
            const std::uint32_t size = in_.u32();
            item.raw_offset = offset();
            item.raw = in_.bytes(size);
        }
        return !in_.failed() || fail(TableErrorKind::truncated, item);
    }

    std::size_t offset() const { return base_ + size_ - in_.remaining(); }
    const std::optional<TableError>& error() const { return error_; }

  private:
    bool fail(TableErrorKind fault, const Item& item) {
        error_ = TableError{fault, item.offset, item.type_tag};
        return false;
    }

    ByteReader in_;
    std::size_t base_;
    std::size_t size_;
    Holder holder_;
    std::optional<TableError> error_;
};

// `depth` is that of the table or array that contains the item.
std::optional<TableError> validate(const Item& item, int depth) {
    if (!item.is_container()) return {};
    if (depth == table_depth_max) {
        return TableError{TableErrorKind::too_deep, item.offset, item.type_tag};
    }
    ItemReader items = ItemReader::inside(item);
    Item inner;
    while (items.next(inner)) {
        if (auto error = validate(inner, depth + 1)) return error;
    }
    return items.error();
}

constexpr int float_mantissa_bits = 23;
constexpr int mantissa_bits_gained = 52 - float_mantissa_bits;

// Hardware conversions set the quiet bit of a NaN. These keep every bit.
double widened(std::uint32_t bits) {
    const auto narrow = std::bit_cast<float>(bits);
    if (!std::isnan(narrow)) return narrow;
    const std::uint64_t sign = bits >> 31;
    const std::uint64_t mantissa = bits & ((1U << float_mantissa_bits) - 1);
    return std::bit_cast<double>(sign << 63 | 0x7ffULL << 52 | mantissa << mantissa_bits_gained);
}

std::uint32_t narrowed(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const std::uint32_t mantissa = static_cast<std::uint32_t>(bits >> mantissa_bits_gained) &
                                   ((1U << float_mantissa_bits) - 1);
    // A NaN whose payload is entirely in the removed bits would become an infinity, so it is
    // converted normally.
    if (!std::isnan(value) || mantissa == 0) {
        return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    }
    return static_cast<std::uint32_t>(bits >> 63) << 31 | 0xffU << float_mantissa_bits | mantissa;
}

Value integer(ValueType type, std::int64_t value) { return {type, value}; }

Value decode_fixed(const Item& item) {
    ByteReader in(item.raw);
    switch (item.type_tag) {
        case 'V':
            return Value::nothing();
        case 't':
            return Value::boolean(in.u8() != 0);
        case 'b':
            return integer(ValueType::int8, static_cast<std::int8_t>(in.u8()));
        case 'B':
            return integer(ValueType::uint8, in.u8());
        case 's':
            return integer(ValueType::int16, static_cast<std::int16_t>(in.u16()));
        case 'u':
            return integer(ValueType::uint16, in.u16());
        case 'I':
            return integer(ValueType::int32, static_cast<std::int32_t>(in.u32()));
        case 'i':
            return integer(ValueType::uint32, in.u32());
        case 'l':
        case 'L':
            return integer(ValueType::int64, static_cast<std::int64_t>(in.u64()));
        case 'f':
            return {ValueType::float32, widened(in.u32())};
        case 'd':
            return {ValueType::float64, std::bit_cast<double>(in.u64())};
        case 'T':
            return Value::timestamp(in.u64());
        case 'D': {
            const std::uint8_t scale = in.u8();
            return {ValueType::decimal, Decimal{scale, in.u32()}};
        }
        default:
            UNREACHABLE();
    }
}

// Fills the fields or elements, and the value, even if it returns an error.
std::optional<TableError> decode_item(const Item& item, int depth, Value& value);

std::optional<TableError> decode_fields(ItemReader items, int depth, Table& table) {
    Item item;
    while (items.next(item)) {
        Field& field = table.emplace_back();
        field.name = item.name;
        if (auto error = decode_item(item, depth, field.value)) return error;
    }
    return items.error();
}

std::optional<TableError> decode_elements(ItemReader items, int depth, Array& array) {
    Item item;
    while (items.next(item)) {
        if (auto error = decode_item(item, depth, array.emplace_back())) return error;
    }
    return items.error();
}

std::optional<TableError> decode_item(const Item& item, int depth, Value& value) {
    if (item.is_container() && depth == table_depth_max) {
        return TableError{TableErrorKind::too_deep, item.offset, item.type_tag};
    }
    switch (item.type_tag) {
        case 'S':
            value = Value::string(item.raw);
            return {};
        case 'x':
            value = {ValueType::binary, std::string(item.raw)};
            return {};
        case 'F':
            value = Value::table({});
            return decode_fields(ItemReader::inside(item), depth + 1, std::get<Table>(value.data));
        case 'A':
            value = Value::array({});
            return decode_elements(ItemReader::inside(item), depth + 1,
                                   std::get<Array>(value.data));
        default:
            value = decode_fixed(item);
            return {};
    }
}

char type_tag_of(ValueType type) {
    switch (type) {
        case ValueType::void_value:
            return 'V';
        case ValueType::boolean:
            return 't';
        case ValueType::int8:
            return 'b';
        case ValueType::uint8:
            return 'B';
        case ValueType::int16:
            return 's';
        case ValueType::uint16:
            return 'u';
        case ValueType::int32:
            return 'I';
        case ValueType::uint32:
            return 'i';
        case ValueType::int64:
            return 'l';
        case ValueType::float32:
            return 'f';
        case ValueType::float64:
            return 'd';
        case ValueType::decimal:
            return 'D';
        case ValueType::timestamp:
            return 'T';
        case ValueType::long_string:
            return 'S';
        case ValueType::binary:
            return 'x';
        case ValueType::array:
            return 'A';
        case ValueType::table:
            return 'F';
    }
    UNREACHABLE();
}

// The content for the type of the value.
template <typename T>
const T& content(const Value& value) {
    const T* found = std::get_if<T>(&value.data);
    CHECK(found != nullptr);
    return *found;
}

void encode_fields(const Table& table, ByteWriter& out);

// Writes type and content, in the same way for tables and arrays.
void encode_value(const Value& value, ByteWriter& out) {
    const auto number = [&value] { return content<std::int64_t>(value); };
    out.u8(static_cast<std::uint8_t>(type_tag_of(value.type)));
    switch (value.type) {
        case ValueType::void_value:
            return;
        case ValueType::boolean:
            return out.u8(content<bool>(value) ? 1 : 0);
        case ValueType::int8:
        case ValueType::uint8:
            return out.u8(static_cast<std::uint8_t>(number()));
        case ValueType::int16:
        case ValueType::uint16:
            return out.u16(static_cast<std::uint16_t>(number()));
        case ValueType::int32:
        case ValueType::uint32:
            return out.u32(static_cast<std::uint32_t>(number()));
        case ValueType::int64:
        case ValueType::timestamp:
            return out.u64(static_cast<std::uint64_t>(number()));
        case ValueType::float32:
            return out.u32(narrowed(content<double>(value)));
        case ValueType::float64:
            return out.u64(std::bit_cast<std::uint64_t>(content<double>(value)));
        case ValueType::decimal:
            out.u8(content<Decimal>(value).scale);
            return out.u32(content<Decimal>(value).digits);
        case ValueType::long_string:
        case ValueType::binary:
            return out.long_string(content<std::string>(value));
        case ValueType::array:
        case ValueType::table:
            break;
    }
    const std::size_t start = out.size();
    out.u32(0);
    if (value.type == ValueType::table) {
        encode_fields(content<Table>(value), out);
    } else {
        for (const Value& element : content<Array>(value)) encode_value(element, out);
    }
    out.patch_u32(start, static_cast<std::uint32_t>(out.size() - start - 4));
}

void encode_fields(const Table& table, ByteWriter& out) {
    for (const Field& field : table) {
        out.short_string(field.name);
        encode_value(field.value, out);
    }
}

void make_items_canonical(ItemReader items, char* outermost) {
    Item item;
    while (items.next(item)) {
        char* const raw = outermost + item.raw_offset;
        if (item.type_tag == 'L') raw[-1] = 'l';
        if (item.type_tag == 't' && *raw != 0) *raw = 1;
        if (item.is_container()) make_items_canonical(ItemReader::inside(item), outermost);
    }
}

}  // namespace

std::string describe(const TableError& error) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto octet = static_cast<std::uint8_t>(error.type_tag);
    std::string text;
    switch (error.fault) {
        case TableErrorKind::truncated:
            text = "truncated value";
            break;
        case TableErrorKind::unknown_type:
            text = std::string("unknown field type 0x") + digits[octet >> 4] + digits[octet & 15];
            if (octet > ' ' && octet < 0x7f) text += std::string(" '") + error.type_tag + "'";
            break;
        case TableErrorKind::too_deep:
            text = "tables and arrays nested more than " + std::to_string(table_depth_max) +
                   " levels deep";
            break;
    }
    return text + " at offset " + std::to_string(error.offset);
}

Result<Table, TableError> decode_table(std::string_view body) {
    Table table;
    const ItemReader items(body, 0, ItemReader::Holder::table);
    if (const auto error = decode_fields(items, 1, table)) return Unexpected{*error};
    return table;
}

void encode_table(const Table& table, std::string& out) {
    ByteWriter writer(out);
    encode_fields(table, writer);
}

std::optional<RawField> FieldWalk::next() {
    if (error_) return {};
    ItemReader items(body_.substr(at_), at_, ItemReader::Holder::table);
    Item item;
    if (!items.next(item)) {
        error_ = items.error();
        return {};
    }
    error_ = validate(item, 1);
    if (error_) return {};
    at_ = items.offset();
    return RawField{item.name, item.type_tag, item.raw};
}

void make_canonical(std::span<char> fields) {
    make_items_canonical({{fields.data(), fields.size()}, 0, ItemReader::Holder::table},
                         fields.data());
}

Result<Value, TableError> decode_value(char type_tag, std::string_view raw) {
    const Layout layout = layout_of(type_tag);
    if (layout.shape == Shape::unknown) {
        return Unexpected{TableError{TableErrorKind::unknown_type, 0, type_tag}};
    }
    if (layout.shape == Shape::fixed && raw.size() != layout.size) {
        return Unexpected{TableError{TableErrorKind::truncated, 0, type_tag}};
    }
    const Item item{.type_tag = type_tag, .raw = raw};
    Value value;
    if (const auto error = decode_item(item, 0, value)) return Unexpected{*error};
    return value;
}

Result<Array, TableError> decode_array(std::string_view raw) {
    Array array;
    const ItemReader items(raw, 0, ItemReader::Holder::array);
    if (const auto error = decode_elements(items, 1, array)) return Unexpected{*error};
    return array;
}

}  // namespace revenant::amqp091
