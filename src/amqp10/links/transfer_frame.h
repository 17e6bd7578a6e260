// Transfer frames: a message on its way to a client, in as many frames as the client's limit asks.
#pragma once

#include "amqp10/message/delivery_head.h"
#include "message/message.h"
#include "protocol/output.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace revenant::amqp10 {

class OutgoingLink;

// A message with the link it leaves on. What precedes its body has been rendered.
// What is told of a link that the client receives from.
struct LinkState {
    std::uint32_t delivery_count = 0;
    std::uint32_t link_credit = 0;
    std::uint32_t available = 0;
    bool drain = false;
    std::optional<bool> active;  // amqp10 5.26
};

struct OutgoingTransfer {
    OutgoingLink* link = nullptr;  // nullptr: settled, without a tag; nobody asks for it later
    std::uint32_t handle = 0;
    std::uint64_t delivery = 0;  // the engine's number of it; its lower half is the tag
    bool settled = false;
    bool started = false;
    bool timed_out = false;  // before the client got it
    std::uint32_t delivery_id = 0;
    DeliveryHead head;
    MessageRef message;
    std::string_view message_body;  // a part of the message; empty if the body is converted
    std::string converted;
    std::size_t sent = 0;                      // of head and body together
    std::vector<LinkState> link_states_after;  // to be told when it has left

    std::string_view body() const { return converted.empty() ? message_body : converted; }
    std::size_t size() const { return head.size() + body().size(); }
};

// Writes the next frame of the parcel; true if it was the last.
bool append_transfer_frame(protocol::Output& output, std::uint16_t channel,
                           OutgoingTransfer& outgoing, std::uint32_t frame_max);

}  // namespace revenant::amqp10
