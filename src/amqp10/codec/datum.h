// Datum: an AMQP 1.0 value of any type, with the type it was sent in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace revenant::amqp10 {

enum class Type : std::uint8_t {
    null,
    boolean,
    ubyte,
    ushort,
    uint,
    ulong,
    byte,
    short_int,
    int32,
    long_int,
    float32,
    float64,
    decimal32,
    decimal64,
    decimal128,
    character,
    timestamp,  // milliseconds since 1970
    uuid,
    binary,
    string,
    symbol,
    list,
    map,
    array,
    described,
};

struct Datum;
using Data = std::vector<Datum>;
struct MapEntry;
using DataMap = std::vector<MapEntry>;  // in wire order

struct Datum {
    Type type = Type::null;
    // Unsigned types and characters as uint64_t, signed ones and timestamps as int64_t, floats as
    // double; uuid, decimals, binary, string and symbol as their bytes; list and array as Data; a
    // described value as Data of descriptor and value.
    std::variant<std::monostate, bool, std::uint64_t, std::int64_t, double, std::string, Data,
                 DataMap>
        content;

    static Datum null();
    static Datum boolean(bool value);
    static Datum ubyte(std::uint8_t value);
    static Datum uint(std::uint32_t value);
    static Datum ulong(std::uint64_t value);
    static Datum int32(std::int32_t value);
    static Datum long_int(std::int64_t value);
    static Datum timestamp(std::int64_t ms);
    static Datum binary(std::string_view bytes);
    static Datum string(std::string_view text);
    static Datum symbol(std::string_view text);
    static Datum list(Data elements);
    static Datum map(DataMap entries);
    // All elements must have the same type.
    static Datum array(Data elements);

    bool is_null() const;
    // The content, or nullptr if the value has another type.
    const bool* as_boolean() const;
    const std::uint64_t* as_unsigned() const;
    const std::int64_t* as_signed() const;
    const std::string* as_string() const;
    const std::string* as_symbol() const;
    const Data* as_elements() const;
    const DataMap* as_map() const;

    friend bool operator==(const Datum&, const Datum&);

  private:
    const std::string* text_of(Type wanted) const;
};

struct MapEntry {
    Datum key;
    Datum value;
    friend bool operator==(const MapEntry&, const MapEntry&) = default;
};

// Defined here, where the content types are complete.
inline Datum Datum::null() { return {}; }
inline Datum Datum::boolean(bool value) { return {Type::boolean, value}; }
inline Datum Datum::ubyte(std::uint8_t value) { return {Type::ubyte, std::uint64_t{value}}; }
inline Datum Datum::uint(std::uint32_t value) { return {Type::uint, std::uint64_t{value}}; }
inline Datum Datum::ulong(std::uint64_t value) { return {Type::ulong, value}; }
inline Datum Datum::int32(std::int32_t value) { return {Type::int32, std::int64_t{value}}; }
inline Datum Datum::long_int(std::int64_t value) { return {Type::long_int, value}; }
inline Datum Datum::timestamp(std::int64_t ms) { return {Type::timestamp, ms}; }
inline Datum Datum::binary(std::string_view bytes) { return {Type::binary, std::string(bytes)}; }
inline Datum Datum::string(std::string_view text) { return {Type::string, std::string(text)}; }
inline Datum Datum::symbol(std::string_view text) { return {Type::symbol, std::string(text)}; }
inline Datum Datum::list(Data elements) { return {Type::list, std::move(elements)}; }
inline Datum Datum::array(Data elements) { return {Type::array, std::move(elements)}; }
inline bool Datum::is_null() const { return type == Type::null; }
inline const bool* Datum::as_boolean() const { return std::get_if<bool>(&content); }
inline const std::uint64_t* Datum::as_unsigned() const {
    return std::get_if<std::uint64_t>(&content);
}
inline const std::int64_t* Datum::as_signed() const { return std::get_if<std::int64_t>(&content); }
inline const std::string* Datum::as_string() const { return text_of(Type::string); }
inline const std::string* Datum::as_symbol() const { return text_of(Type::symbol); }
inline const Data* Datum::as_elements() const { return std::get_if<Data>(&content); }
inline const DataMap* Datum::as_map() const { return std::get_if<DataMap>(&content); }
inline Datum Datum::map(DataMap entries) { return {Type::map, std::move(entries)}; }
inline const std::string* Datum::text_of(Type wanted) const {
    return type == wanted ? std::get_if<std::string>(&content) : nullptr;
}

// The value for that symbol or string, or nullptr.
const Datum* find(const DataMap& map, std::string_view key);

}  // namespace revenant::amqp10
