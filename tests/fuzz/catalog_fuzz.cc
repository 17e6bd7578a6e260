// Catalog records: any bytes are decoded or refused, and each record has one encoding. Decoded
// events are applied or refused, and a snapshot reproduces the result.
#include "base/check.h"
#include "catalog/catalog.h"
#include "catalog/catalog_codec.h"

#include <cstdint>
#include <string_view>

using namespace revenant;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto record = decode_catalog_record(bytes);
    if (!record.has_value()) return 0;
    CHECK(encode_catalog_record(*record) == bytes);
    Catalog catalog;
    if (!catalog.replay(*record)) return 0;
    Catalog again;
    CHECK(again.replay(events_for(catalog.rules())));
    CHECK(again.rules() == catalog.rules());
    return 0;
}
