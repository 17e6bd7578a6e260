// Records of the catalog as bytes for its journal, and back. The first byte is the version of the
// format; the grammar stands at the top of catalog_codec.cc.
#pragma once

#include "base/result.h"
#include "catalog/catalog_event.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace revenant {

inline constexpr std::uint8_t catalog_record_version = 1;

enum class CatalogDecodeError : std::uint8_t {
    unknown_version,  // written by a newer broker
    unknown_event,
    malformed,  // cut off, trailing bytes or a value outside its range
};

std::string encode_catalog_record(const CatalogRecord& record);
// Any bytes are safe to give; whatever is not exactly an encoded record is an error.
Result<CatalogRecord, CatalogDecodeError> decode_catalog_record(std::string_view bytes);

}  // namespace revenant
