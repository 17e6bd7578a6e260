// ClientProtocol: the protocol of a client. The engine uses it only to count.
#pragma once

#include <cstddef>
#include <cstdint>

namespace revenant::engine {

enum class ClientProtocol : std::uint8_t { amqp091, amqp10 };
constexpr std::size_t client_protocol_count = 2;

}  // namespace revenant::engine
