// AMQP 1.0 values: a decoded value is well-formed, survives encoding and decoding, and has the same
// length when it is skipped.
#include "amqp10/codec/type_reader.h"
#include "amqp10/codec/type_writer.h"
#include "base/check.h"

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

using namespace revenant::amqp10;

namespace {

// Lower than the limit for clients, because arrays of many values would take most of the time.
constexpr std::uint32_t values_at_most = 4096;

// A NaN is never equal to itself.
bool has_nan(const Datum& datum) {
    if (const double* number = std::get_if<double>(&datum.content)) return *number != *number;
    if (const Data* elements = datum.as_elements()) {
        for (const Datum& element : *elements) {
            if (has_nan(element)) return true;
        }
    }
    if (const DataMap* map = datum.as_map()) {
        for (const MapEntry& entry : *map) {
            if (has_nan(entry.key) || has_nan(entry.value)) return true;
        }
    }
    return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    TypeReader in(bytes, values_at_most);
    const Datum datum = in.datum();
    CHECK(in.values_left() <= values_at_most);
    TypeReader checked(bytes);
    checked.check();
    // A decodable value is well-formed; any other is malformed or has too many values.
    if (in.failed()) {
        CHECK(checked.failed() || size > 9);
        return 0;
    }
    CHECK(!checked.failed() && checked.rest() == in.rest());
    TypeReader unread(bytes);
    const Raw raw = unread.raw();
    CHECK(!unread.failed());
    CHECK(raw.size() == bytes.size() - in.rest().size());

    std::string written;
    TypeWriter(written).datum(datum);
    TypeReader again(written);
    const Datum same = again.datum();
    CHECK(!again.failed() && again.at_end());
    if (!has_nan(datum)) CHECK(same == datum);
    return 0;
}
