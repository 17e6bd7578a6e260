// Encodes catalog records for the journal and decodes them. The first byte is the format version;
// the grammar is at the top of catalog_codec.cc.
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
    malformed,  // truncated, trailing bytes or a value out of range
};

std::string encode_catalog_record(const CatalogRecord& record);
// Accepts any bytes. Everything except an exact encoding of a record is an error.
Result<CatalogRecord, CatalogDecodeError> decode_catalog_record(std::string_view bytes);

}  // namespace revenant
