// An AMQP 1.0 session and its links, as shown in listings. Created on request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace revenant::protocol {

enum class SettleMode : std::uint8_t { unsettled, settled, mixed };

struct LinkInfo {
    std::uint32_t handle = 0;
    std::string name;
    bool client_receives = false;
    std::optional<std::string> address;             // of the broker's end; none if anonymous
    std::string queue;                              // from which the client receives
    SettleMode settle_mode = SettleMode::mixed;     // of the sending end
    std::optional<std::uint64_t> max_message_size;  // absent: unlimited
    std::uint32_t delivery_count = 0;
    std::uint32_t credit = 0;
    bool timed_out = false;         // the client timed out once, and its messages were requeued
    std::uint64_t unconfirmed = 0;  // messages from the client without an outcome
};

struct SessionInfo {
    std::uint16_t channel = 0;
    std::uint32_t handle_max = 0;
    std::uint32_t next_incoming_id = 0;
    std::uint32_t incoming_window = 0;
    std::uint32_t next_outgoing_id = 0;
    std::uint32_t remote_incoming_window = 0;
    std::uint32_t remote_outgoing_window = 0;
    std::uint64_t unsettled = 0;  // deliveries that the client has not settled
    std::vector<LinkInfo> links;  // by handle
};

}  // namespace revenant::protocol
