// ConnectionView: a connection as listings show it, whatever its protocol.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"
#include "message/value.h"

namespace revenant::runtime {

struct ConnectionView {
    std::string name;
    std::string user;
    std::string vhost;
    std::string state;
    std::string mechanism;
    Table client_properties;
    std::size_t channels = 0;
    std::uint32_t frame_max = 0;
    std::uint16_t heartbeat_seconds = 0;
    std::uint64_t received_bytes = 0;
    std::uint64_t sent_bytes = 0;
    Timestamp connected_at;
};

}  // namespace revenant::runtime
