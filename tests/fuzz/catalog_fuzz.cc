// Records of the catalog: any bytes are read or refused, and there is one encoding of each.
#include "base/check.h"
#include "catalog/catalog_codec.h"

#include <cstdint>
#include <string_view>

using namespace revenant;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto record = decode_catalog_record(bytes);
    if (record.has_value()) CHECK(encode_catalog_record(*record) == bytes);
    return 0;
}
