// Conversion between field tables and Value (amqp091 1.3, 1.9).
//
// A body is a table without its four length bytes. Names are kept as bytes and fields in their
// order, including duplicates: RabbitMQ checks neither, and tables must be sent as received. There
// are two exceptions: `L` is read as int64 and written as `l`, and every true boolean is written as
// 1.
#pragma once

#include "base/result.h"
#include "message/value.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace revenant::amqp091 {

// Maximum nesting of tables and arrays, including the outermost one. RabbitMQ has no limit. Its own
// deepest table, headers with x-death, has four levels, and clients' headers are rarely deeper. The
// limit bounds the recursion of all later readers of the Value.
constexpr int table_depth_max = 64;

enum class TableErrorKind : std::uint8_t {
    truncated,     // a name, value or nested table extends past its container
    unknown_type,  // amqp091 1.10
    too_deep,      // deeper than table_depth_max
};

struct TableError {
    TableErrorKind fault = TableErrorKind::truncated;
    // Offset of the invalid field or array element from the start of the bytes.
    std::size_t offset = 0;
    // The type of that value; 0 if the bytes end before it.
    char type_tag = 0;

    friend bool operator==(const TableError&, const TableError&) = default;
};

// "unknown field type 0x5a 'Z' at offset 17", for logs and reply texts; ASCII only.
std::string describe(const TableError& error);

Result<Table, TableError> decode_table(std::string_view body);
// Appends the body, without length. The caller guarantees that names have at most 255 bytes, as for
// every short string.
void encode_table(const Table& table, std::string& out);

// One field as passed by walk_table. `raw` is the content of the value, without type and length:
// the text of an `S`, the body of an `F`, the elements of an `A`, the big-endian bytes of a number.
struct RawField {
    std::string_view name;
    char type_tag = 0;
    std::string_view raw;
};

// Reads the fields of a table one by one and validates each completely, without allocating.
class FieldWalk {
  public:
    explicit FieldWalk(std::string_view body) : body_(body) {}

    // The next field; nothing at the end or after an error.
    std::optional<RawField> next();
    const std::optional<TableError>& error() const { return error_; }

  private:
    std::string_view body_;
    std::size_t at_ = 0;
    std::optional<TableError> error_;
};

// Validates the complete table and calls visitor(name, type, raw) for its fields, not for those of
// nested tables. If there is an error, the fields before it have been visited.
template <typename Visitor>
Result<void, TableError> walk_table(std::string_view body, Visitor&& visitor) {
    FieldWalk walk(body);
    while (const auto field = walk.next()) visitor(field->name, field->type_tag, field->raw);
    if (walk.error()) return Unexpected{*walk.error()};
    return {};
}

// Converts valid fields to the form that encode_table writes, which has the same length.
void make_canonical(std::span<char> fields);

// Takes type and raw content as passed to the visitor of walk_table.
Result<Value, TableError> decode_value(char type_tag, std::string_view raw);
// Takes the raw content of an `A`, as passed to the visitor: CC and BCC.
Result<Array, TableError> decode_array(std::string_view raw);

}  // namespace revenant::amqp091
