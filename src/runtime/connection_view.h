// ConnectionView: a connection as listings show it, whatever its protocol.
#pragma once

#include "base/ids.h"
#include "base/time.h"
#include "engine/words/client_protocol.h"
#include "message/value.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace revenant::runtime {

// A channel of a connection; the engine knows the rest of it by its id.
struct ChannelNumber {
    ChannelId id;
    std::uint16_t number = 0;
    bool confirming = false;
};

// How a connection is protected, and the certificate of its client if there is one.
struct TlsInfo {
    std::string protocol;
    std::string cipher;
    std::string key_exchange;
    std::string hash;
    std::string peer_subject;
    std::string peer_issuer;
    std::string peer_validity;
};

struct ConnectionView {
    ConnectionId id;  // none before the vhost is open
    std::string name;
    engine::ClientProtocol protocol = engine::ClientProtocol::amqp091;
    std::string user;
    std::string vhost;
    std::string state;
    std::string mechanism;
    Table client_properties;
    std::vector<ChannelNumber> channels;  // by number
    std::uint32_t frame_max = 0;
    std::uint16_t heartbeat_seconds = 0;
    std::uint64_t received_bytes = 0;
    std::uint64_t sent_bytes = 0;
    std::uint64_t received_count = 0;  // reads and writes
    std::uint64_t sent_count = 0;
    std::uint64_t unsent_bytes = 0;
    std::uint16_t channel_max = 0;
    std::string container_id;       // AMQP 1.0 only
    std::size_t session_count = 0;  // the same
    Timestamp connected_at;
    std::optional<TlsInfo> tls;

    // As listings count them: AMQP 1.0 has sessions instead, and a channel of ours per link.
    std::size_t channel_count() const {
        return protocol == engine::ClientProtocol::amqp10 ? session_count : channels.size();
    }
};

// What all connections there ever were have received and sent.
struct NetworkTraffic {
    std::uint64_t received_bytes = 0;
    std::uint64_t sent_bytes = 0;
    std::uint64_t received_count = 0;  // reads and writes
    std::uint64_t sent_count = 0;
};

}  // namespace revenant::runtime
