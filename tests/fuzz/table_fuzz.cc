// Field tables: the walk and the decoder agree on what is valid and on every field, and a decoded
// table survives encoding and decoding.
#include "amqp091/codec/table.h"
#include "base/check.h"

#include <cstdint>
#include <string>
#include <string_view>

using namespace revenant;
using namespace revenant::amqp091;

namespace {

void check_walk(std::string_view body, const Result<Table, TableError>& decoded) {
    std::size_t index = 0;
    const auto walked =
        walk_table(body, [&](std::string_view name, char letter, std::string_view raw) {
            const auto value = decode_value(letter, raw);
            CHECK(value.has_value());
            if (letter == 'A') CHECK(*decode_array(raw) == *value->as_array());
            if (letter == 'F') CHECK(*decode_table(raw) == *value->as_table());
            if (decoded.has_value()) {
                CHECK(index < decoded->size());
                CHECK((*decoded)[index].name == name);
                CHECK((*decoded)[index].value == *value);
            }
            ++index;
        });
    CHECK(walked.has_value() == decoded.has_value());
    if (walked.has_value()) {
        CHECK(index == decoded->size());
    } else {
        CHECK(walked.error() == decoded.error());
        CHECK(walked.error().offset < body.size());
        CHECK(!describe(walked.error()).empty());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view body(reinterpret_cast<const char*>(data), size);
    const auto decoded = decode_table(body);
    check_walk(body, decoded);
    if (!decoded.has_value()) return 0;

    std::string encoded;
    encode_table(*decoded, encoded);
    CHECK(encoded.size() == body.size());
    const auto again = decode_table(encoded);
    CHECK(again.has_value());
    CHECK(*again == *decoded);
    // Only the bytes of an L and of a true boolean may differ, and these are canonical now.
    std::string encoded_again;
    encode_table(*again, encoded_again);
    CHECK(encoded_again == encoded);
    return 0;
}
