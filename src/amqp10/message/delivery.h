// Delivery: renders a message of any protocol for an AMQP 1.0 consumer.
#pragma once

#include "amqp10/message/delivery_head.h"
#include "engine/words/effect.h"
#include "message/death.h"
#include "message/message.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace revenant::amqp10 {

struct DeliveryInfo {
    bool redelivered = false;
    std::uint32_t failed_deliveries = 0;
    engine::ShownCounts counts;
};

// Appends everything before the body to `head`: header, message annotations, properties and
// application properties (amqp10 6.1 to 6.3, 6.10 to 6.13, DL-91 to DL-105). Returns the bytes that
// follow: a part of the message, or `converted`. Without an envelope nothing is added. A given
// envelope must be reference-counted, because a reference to it may be kept.
std::string_view render_delivery(const Message& message, const Envelope* envelope,
                                 const DeliveryInfo& info, DeliveryHead& head,
                                 std::string& converted);

}  // namespace revenant::amqp10
