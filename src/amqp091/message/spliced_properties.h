// SplicedProperties: the property bytes of a 0-9-1 message with the broker's additions to its
// headers. Nothing is decoded: the publisher's and the broker's fields are pieces that are
// concatenated in the order of their names. Of equal names the first is used.
#pragma once

#include "amqp091/message/added_headers.h"
#include "engine/words/effect.h"

#include <boost/container/small_vector.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace revenant::amqp091 {

class SplicedProperties {
  public:
    // Removes expiration if the message died (DL-70); adds x-delivery-count and x-acquired-count
    // (DL-152). Both references must stay valid while this object is used.
    SplicedProperties(std::string_view properties, const AddedHeaders& added,
                      engine::ShownCounts counts);
    SplicedProperties(const SplicedProperties&) = delete;
    SplicedProperties& operator=(const SplicedProperties&) = delete;

    std::size_t size() const { return size_; }
    // The pieces whose concatenation is the result. Some are views of the added headers.
    std::span<const std::string_view> pieces() const { return {pieces_.data(), pieces_.size()}; }
    // Writes size() bytes and returns the position after them.
    char* write(char* at) const;
    std::string text() const;

  private:
    struct OwnField {
        std::string_view name;
        std::string_view bytes;
        bool is_count = false;  // takes precedence over other fields with its name
    };
    using OwnFields = boost::container::small_vector<OwnField, 12>;

    void append(std::string_view piece);
    void append_own(std::string_view field);
    void add_count(OwnFields& own, std::string_view name, std::uint32_t count);
    bool read_own(std::string_view table, const AddedHeaders& added, engine::ShownCounts counts,
                  OwnFields& own);
    std::string_view canonical(char type_tag, std::string_view field, std::size_t table_size);
    void merge(const OwnFields& own, const AddedHeaders& added);

    static constexpr std::size_t count_field_bytes = 1 + 16 + 1 + 8;
    std::array<char, 2 * count_field_bytes> counts_;  // deliberately not initialized
    std::size_t counts_size_ = 0;
    std::array<char, 2> flags_;
    std::array<char, 4> headers_size_;
    std::string canonical_;  // publisher's fields whose encoding changes
    boost::container::small_vector<std::string_view, 16> pieces_;
    std::size_t size_ = 0;
};

}  // namespace revenant::amqp091
