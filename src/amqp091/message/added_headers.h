// AddedHeaders: the header fields that an envelope adds to a message of 0-9-1, as bytes: x-death,
// x-first-death-*, x-last-death-* (DL-85 to DL-90), the error of a rejection and what consumers of
// 1.0 added (DL-100).
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
    // One field, a view of the bytes.
    struct Place {
        std::uint32_t start = 0;
        std::uint32_t name_size = 0;
    };

    std::string bytes;                // in the order of their names, each of which occurs once
    std::vector<Place> places;        // of the fields in the bytes
    std::vector<std::string> hidden;  // further names that a publisher's field must not have
    bool died = false;

    std::size_t memory_bytes() const;
    std::size_t count() const { return places.size(); }
    std::string_view name(std::size_t index) const {
        return {bytes.data() + places[index].start + 1, places[index].name_size};
    }
    // Where a field starts, or behind the last one.
    std::size_t start(std::size_t index) const {
        return index == places.size() ? bytes.size() : places[index].start;
    }
};

// Shared with the outputs that still have to send them.
using AddedHeadersRef = std::shared_ptr<const AddedHeaders>;

// Of an envelope that is shown only once.
AddedHeadersRef render_added_headers(const Envelope& envelope);

// Of an envelope that other messages may share: the latest of this thread are kept, a few hundred
// KiB at most. The result is valid until the next call. Without an envelope nothing is added.
const AddedHeadersRef& added_headers(const EnvelopeRef& envelope, AddedHeadersRef& scratch);

}  // namespace revenant::amqp091
