// TypeWriter: appends AMQP 1.0 values, each in its shortest form.
#pragma once

#include "amqp10/codec/datum.h"
#include "base/byte_writer.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::amqp10 {

class TypeWriter {
  public:
    explicit TypeWriter(std::string& out) : out_(out) {}

    void null() { out_.u8(0x40); }
    void boolean(bool value) { out_.u8(value ? 0x41 : 0x42); }
    void ubyte(std::uint8_t value);
    void ushort(std::uint16_t value);
    void uint(std::uint32_t value);
    void ulong(std::uint64_t value);
    void timestamp(std::int64_t ms);
    void binary(std::string_view bytes) { variable(0xa0, bytes); }
    void begin_binary(std::size_t size) { begin_variable(0xa0, size); }  // the bytes follow
    void string(std::string_view text) { variable(0xa1, text); }
    void symbol(std::string_view text) { variable(0xa3, text); }
    void symbol(std::string_view begin, std::string_view end);  // in two pieces
    void long_int(std::int64_t value);
    void symbols(const std::vector<std::string>& all);  // always an array
    void datum(const Datum& datum);
    void descriptor(std::uint64_t code);
    void raw(std::string_view value) { out_.bytes(value); }

    // A list, map or array whose size is not known in advance. Uses the wide form, so that nothing
    // moves. Set the count before end(); for a map it counts keys and values. The number of bytes
    // that will be inserted later is passed to end().
    struct Open {
        std::size_t at = 0;
        std::uint32_t count = 0;
    };
    Open begin_list() { return begin(0xd0); }
    Open begin_map() { return begin(0xd1); }
    Open begin_array(Type of_elements);
    void element(std::string_view text) { out_.long_string(text); }  // a string or symbol
    Open begin_element() { return begin_counted(0); }                // a list or map
    void end(const Open& open, std::size_t bytes_apart = 0);

    std::string& target() { return out_.target(); }

  private:
    Open begin(std::uint8_t constructor);
    Open begin_counted(std::uint32_t count);
    void begin_variable(std::uint8_t narrow, std::size_t size);
    void variable(std::uint8_t narrow, std::string_view bytes);
    static const Data& described(const Datum& datum);
    void constructor(const Datum& datum);
    void content(const Datum& datum);
    void list(const Data& elements);
    void map(const DataMap& entries);
    void array(const Data& elements);

    ByteWriter out_;
};

}  // namespace revenant::amqp10
