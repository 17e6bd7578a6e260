// Transfer frames: a message for a client, split into frames of the client's maximum size.
#pragma once

#include "amqp10/message/delivery_head.h"
#include "message/message.h"
#include "protocol/output.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace revenant::amqp10 {

class OutgoingLink;

// The state of a link on which the client is the receiver.
struct LinkState {
    std::uint32_t delivery_count = 0;
    std::uint32_t link_credit = 0;
    std::uint32_t available = 0;
    bool drain = false;
    std::optional<bool> active;  // amqp10 5.26
};

struct OutgoingTransfer {
    OutgoingLink* link = nullptr;  // nullptr: settled and without a tag, not needed later
    std::uint32_t handle = 0;
    std::uint64_t delivery = 0;  // the engine's number; the lower half is the tag
    bool settled = false;
    bool started = false;
    bool timed_out = false;  // before it was sent
    std::uint32_t delivery_id = 0;
    DeliveryHead head;
    MessageRef message;
    std::string_view message_body;  // part of the message; empty if the body is converted
    std::string converted;
    std::size_t sent = 0;                      // of head and body together
    std::vector<LinkState> link_states_after;  // to send after the transfer

    std::string_view body() const { return converted.empty() ? message_body : converted; }
    std::size_t size() const { return head.size() + body().size(); }
};

// Writes the next frame of the transfer; returns true if it was the last.
bool append_transfer_frame(protocol::Output& output, std::uint16_t channel,
                           OutgoingTransfer& outgoing, std::uint32_t frame_max);

}  // namespace revenant::amqp10
