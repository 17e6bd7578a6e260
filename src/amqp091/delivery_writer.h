// DeliveryWriter: writes messages for a client as frames of one channel to the output of its
// connection. All content is written here.
#pragma once

#include "amqp091/message/added_headers.h"
#include "engine/words/effect.h"
#include "message/death.h"
#include "message/message.h"
#include "protocol/output.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace revenant::amqp091 {

class SplicedProperties;

// A count for a method: 32 bits, saturated.
inline std::uint32_t shown_count(std::uint64_t count) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, UINT32_MAX));
}

class DeliveryWriter {
  public:
    // With frame_max 0 there is no limit.
    DeliveryWriter(protocol::Output& output, std::uint16_t channel, std::uint32_t frame_max)
        : output_(output), channel_(channel), frame_max_(frame_max) {}

    void write(const engine::Deliver& effect, std::string_view consumer_tag);
    // Requires an answer with a message.
    void write(const engine::GetAnswer& answer);
    void write(const engine::ReturnUnroutable& effect);

  private:
    // put_properties(at) writes properties_size bytes and returns the position after them.
    template <typename PutProperties>
    void write_native(const engine::Deliver& effect, std::string_view consumer_tag,
                      std::size_t properties_size, PutProperties put_properties);
    // References long pieces of the added headers instead of copying them.
    void write_long(const engine::Deliver& effect, std::string_view consumer_tag,
                    const SplicedProperties& spliced, const AddedHeadersRef& added);
    void write_foreign(const engine::Deliver& effect, std::string_view consumer_tag);
    // Writes header and body, which follow a method.
    void write_content(const MessageRef& message, const EnvelopeRef& envelope,
                       engine::ShownCounts counts);
    void write_body(const MessageRef& message);

    protocol::Output& output_;
    std::uint16_t channel_;
    std::uint32_t frame_max_;
};

}  // namespace revenant::amqp091
