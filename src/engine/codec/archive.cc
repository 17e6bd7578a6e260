#include "engine/codec/archive.h"

#include "base/check.h"

#include <bit>
#include <variant>

namespace revenant::engine {
namespace {

// The alternatives of Value::data by index; the type determines the rest.
enum class Shape : std::uint8_t { nothing, boolean, integer, real, decimal, text, array, table };

Shape shape_of(ValueType type) {
    switch (type) {
        case ValueType::void_value:
            return Shape::nothing;
        case ValueType::boolean:
            return Shape::boolean;
        case ValueType::float32:
        case ValueType::float64:
            return Shape::real;
        case ValueType::decimal:
            return Shape::decimal;
        case ValueType::long_string:
        case ValueType::binary:
            return Shape::text;
        case ValueType::array:
            return Shape::array;
        case ValueType::table:
            return Shape::table;
        default:
            return Shape::integer;
    }
}

bool decode_elements(ByteReader& in, Array& array, int depth) {
    const std::uint64_t count = in.varint();
    for (std::uint64_t i = 0; i < count; ++i) {
        if (in.failed() || !decode_value(in, array.emplace_back(), depth)) return false;
    }
    return true;
}

bool decode_fields(ByteReader& in, Table& table, int depth) {
    const std::uint64_t count = in.varint();
    for (std::uint64_t i = 0; i < count; ++i) {
        Field& field = table.emplace_back();
        field.name = in.text();
        if (in.failed() || !decode_value(in, field.value, depth)) return false;
    }
    return true;
}

}  // namespace

void encode_value(const Value& value, ByteWriter& out) {
    out.u8(static_cast<std::uint8_t>(value.type));
    switch (shape_of(value.type)) {
        case Shape::nothing:
            break;
        case Shape::boolean:
            out.u8(std::get<bool>(value.data) ? 1 : 0);
            break;
        case Shape::integer:
            out.signed_varint(std::get<std::int64_t>(value.data));
            break;
        case Shape::real:
            out.u64(std::bit_cast<std::uint64_t>(std::get<double>(value.data)));
            break;
        case Shape::decimal:
            out.u8(std::get<Decimal>(value.data).scale);
            out.u32(std::get<Decimal>(value.data).digits);
            break;
        case Shape::text:
            out.text(std::get<std::string>(value.data));
            break;
        case Shape::array:
            out.varint(std::get<Array>(value.data).size());
            for (const Value& element : std::get<Array>(value.data)) encode_value(element, out);
            break;
        case Shape::table:
            out.varint(std::get<Table>(value.data).size());
            for (const Field& field : std::get<Table>(value.data)) {
                out.text(field.name);
                encode_value(field.value, out);
            }
            break;
    }
}

bool decode_value(ByteReader& in, Value& value, int depth) {
    const std::uint8_t type = in.u8();
    if (type > static_cast<std::uint8_t>(ValueType::table) || depth > value_depth_max) return false;
    value.type = static_cast<ValueType>(type);
    switch (shape_of(value.type)) {
        case Shape::nothing:
            break;
        case Shape::boolean:
            value.data = in.u8() != 0;
            break;
        case Shape::integer:
            value.data = in.signed_varint();
            break;
        case Shape::real:
            value.data = std::bit_cast<double>(in.u64());
            break;
        case Shape::decimal: {
            Decimal decimal;
            decimal.scale = in.u8();
            decimal.digits = in.u32();
            value.data = decimal;
            break;
        }
        case Shape::text:
            value.data = std::string(in.text());
            break;
        case Shape::array:
            return decode_elements(in, value.data.emplace<Array>(), depth + 1) && !in.failed();
        case Shape::table:
            return decode_fields(in, value.data.emplace<Table>(), depth + 1) && !in.failed();
    }
    return !in.failed();
}

}  // namespace revenant::engine
