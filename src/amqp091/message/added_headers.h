// AddedHeaders: the header fields that an envelope adds to a 0-9-1 message, encoded: x-death,
// x-first-death-*, x-last-death-* (DL-85 to DL-90), the error of a rejection and annotations by 1.0
// consumers (DL-100).
#pragma once

#include "message/death.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::amqp091 {

struct AddedHeaders {
    // The position of one field in `bytes`.
    struct Place {
        std::uint32_t start = 0;
        std::uint32_t name_size = 0;
    };

    std::string bytes;                // sorted by name, without duplicates
    std::vector<Place> places;        // of the fields in `bytes`
    std::vector<std::string> hidden;  // more names of publisher fields to remove
    bool died = false;

    std::size_t memory_bytes() const;
    std::size_t count() const { return places.size(); }
    std::string_view name(std::size_t index) const {
        return {bytes.data() + places[index].start + 1, places[index].name_size};
    }
    // The start of a field, or the end of the last one.
    std::size_t start(std::size_t index) const {
        return index == places.size() ? bytes.size() : places[index].start;
    }
};

// Shared with outputs that have not sent them yet.
using AddedHeadersRef = std::shared_ptr<const AddedHeaders>;

// For an envelope that is used once.
AddedHeadersRef render_added_headers(const Envelope& envelope);

// For an envelope that messages may share. Caches the most recent ones per thread, a few hundred
// KiB at most. The result is valid until the next call. Without an envelope it is empty.
const AddedHeadersRef& added_headers(const EnvelopeRef& envelope, AddedHeadersRef& scratch);

}  // namespace revenant::amqp091
