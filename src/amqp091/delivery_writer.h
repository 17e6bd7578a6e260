// DeliveryWriter: messages on their way to a client, as the frames of one channel in the output of
// its connection. Nothing else writes content.
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

// A count as a method shows it: 32 bits, and not less when there are more.
inline std::uint32_t shown_count(std::uint64_t count) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, UINT32_MAX));
}

class DeliveryWriter {
  public:
    // With frame_max 0 there is no limit.
    DeliveryWriter(protocol::Output& output, std::uint16_t channel, std::uint32_t frame_max)
        : output_(output), channel_(channel), frame_max_(frame_max) {}

    void write(const engine::Deliver& effect, std::string_view consumer_tag);
    // There is a message in it.
    void write(const engine::GetAnswer& answer);
    void write(const engine::ReturnUnroutable& effect);

  private:
    // put_properties(at) writes the size given and returns what follows.
    template <typename PutProperties>
    void write_native(const engine::Deliver& effect, std::string_view consumer_tag,
                      std::size_t properties_size, PutProperties put_properties);
    // The long pieces of what was added are not copied.
    void write_long(const engine::Deliver& effect, std::string_view consumer_tag,
                    const SplicedProperties& spliced, const AddedHeadersRef& added);
    void write_foreign(const engine::Deliver& effect, std::string_view consumer_tag);
    // Header and body, behind a method.
    void write_content(const MessageRef& message, const EnvelopeRef& envelope,
                       engine::ShownCounts counts);
    void write_body(const MessageRef& message);

    protocol::Output& output_;
    std::uint16_t channel_;
    std::uint32_t frame_max_;
};

}  // namespace revenant::amqp091
