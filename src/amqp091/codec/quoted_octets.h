// Bytes in error texts.
#pragma once

#include <string>
#include <string_view>

namespace revenant::amqp091 {

// The first bytes as RabbitMQ prints them, <<1,2,3,...>>: enough to recognise a frame, never a
// whole body.
std::string quoted_octets(std::string_view bytes);

}  // namespace revenant::amqp091
