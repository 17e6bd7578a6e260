// A session of AMQP 1.0 and its links, as listings show them. Made when somebody asks.
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
    std::optional<std::string> address;             // of our end; an anonymous one has none
    std::string queue;                              // that the client receives from
    SettleMode settle_mode = SettleMode::mixed;     // of the end that sends
    std::optional<std::uint64_t> max_message_size;  // none: unlimited
    std::uint32_t delivery_count = 0;
    std::uint32_t credit = 0;
    bool timed_out = false;         // the client was too slow once, and messages were taken back
    std::uint64_t unconfirmed = 0;  // messages of the client that wait for their outcome
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
