// ConnectionView: a connection of any protocol as listings show it.
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

// A channel of a connection. The engine has its other data under the id.
struct ChannelNumber {
    ChannelId id;
    std::uint16_t number = 0;
    bool confirming = false;
};

// TLS parameters of a connection, and the client certificate if there is one.
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
    ConnectionId id;  // unset until the vhost is open
    std::string name;
    engine::ClientProtocol protocol = engine::ClientProtocol::amqp091;
    std::string user;
    std::string vhost;
    std::string state;
    std::string mechanism;
    Table client_properties;
    std::vector<ChannelNumber> channels;  // in the order of their numbers
    std::uint32_t frame_max = 0;
    std::uint16_t heartbeat_seconds = 0;
    std::uint64_t received_bytes = 0;
    std::uint64_t sent_bytes = 0;
    std::uint64_t received_count = 0;  // number of reads and writes
    std::uint64_t sent_count = 0;
    std::uint64_t unsent_bytes = 0;
    std::uint16_t channel_max = 0;
    std::string container_id;       // AMQP 1.0 only
    std::size_t session_count = 0;  // AMQP 1.0 only
    Timestamp connected_at;
    std::optional<TlsInfo> tls;

    // The number that listings show. AMQP 1.0 connections show sessions, because each link has its
    // own engine channel.
    std::size_t channel_count() const {
        return protocol == engine::ClientProtocol::amqp10 ? session_count : channels.size();
    }
};

// Traffic of all connections since startup.
struct NetworkTraffic {
    std::uint64_t received_bytes = 0;
    std::uint64_t sent_bytes = 0;
    std::uint64_t received_count = 0;  // number of reads and writes
    std::uint64_t sent_count = 0;
};

}  // namespace revenant::runtime
