// Field tables to Value and back (amqp091 1.3, 1.9).
//
// A body is a table without its four bytes of length. Names are kept as bytes and fields in their
// order, duplicates too: RabbitMQ checks neither, and what came in shall go out. Two things are not
// kept: `L` is read as int64 and written `l`, and every true boolean is written as 1.
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

// Tables and arrays within each other, the outermost one counted. RabbitMQ has no limit; its own
// deepest table, headers with x-death, has four levels, and what clients put into headers is rarely
// deeper than their JSON. The limit keeps the recursion of every later reader of the Value bounded.
constexpr int table_depth_max = 64;

enum class TableErrorKind : std::uint8_t {
    truncated,     // a name, value or nested table ends beyond the bytes that hold it
    unknown_type,  // amqp091 1.10
    too_deep,      // beyond table_depth_max
};

struct TableError {
    TableErrorKind fault = TableErrorKind::truncated;
    // Of the field or array element that is wrong, from the start of the bytes given.
    std::size_t offset = 0;
    // The type letter of that value; 0 when the bytes end before it.
    char type_tag = 0;

    friend bool operator==(const TableError&, const TableError&) = default;
};

// "unknown type letter 0x5a 'Z' at offset 17", for logs and reply texts; ASCII only.
std::string describe(const TableError& error);

Result<Table, TableError> decode_table(std::string_view body);
// Appends the body, without length. Names are at most 255 bytes: the caller's promise, as for every
// short string that is written.
void encode_table(const Table& table, std::string& out);

// One field as walk_table shows it. Raw is the content of the value, without letter and length: the
// text of an `S`, the body of an `F`, the elements of an `A`, the big-endian bytes of a number.
struct RawField {
    std::string_view name;
    char type_tag = 0;
    std::string_view raw;
};

// Reads the fields of a table one by one, validating each down to its leaves, without allocating.
class FieldWalk {
  public:
    explicit FieldWalk(std::string_view body) : body_(body) {}

    // The next field; none at the end and behind an error.
    std::optional<RawField> next();
    const std::optional<TableError>& error() const { return error_; }

  private:
    std::string_view body_;
    std::size_t at_ = 0;
    std::optional<TableError> error_;
};

// Validates the whole table and calls visitor(name, letter, raw) for its own fields, not for those
// of nested tables. On an error the fields before it have been visited.
template <typename Visitor>
Result<void, TableError> walk_table(std::string_view body, Visitor&& visitor) {
    FieldWalk walk(body);
    while (const auto field = walk.next()) visitor(field->name, field->type_tag, field->raw);
    if (walk.error()) return Unexpected{*walk.error()};
    return {};
}

// Makes fields that can be decoded those that encode_table writes of them, which are as long.
void make_canonical(std::span<char> fields);

// Letter and raw as the visitor of walk_table gets them.
Result<Value, TableError> decode_value(char type_tag, std::string_view raw);
// The raw content of an `A`, as the visitor gets it: CC and BCC.
Result<Array, TableError> decode_array(std::string_view raw);

}  // namespace revenant::amqp091
