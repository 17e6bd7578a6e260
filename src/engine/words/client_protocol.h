// ClientProtocol: what a client speaks. The engine treats all alike and only counts by it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace revenant::engine {

enum class ClientProtocol : std::uint8_t { amqp091, amqp10 };
constexpr std::size_t client_protocol_count = 2;

}  // namespace revenant::engine
