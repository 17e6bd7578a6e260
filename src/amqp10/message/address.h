// Addresses, version 2: /queues/Q, /exchanges/X/KEY, /exchanges/X, with percent-encoded parts
// (amqp10 4.1).
#pragma once

#include "amqp10/codec/datum.h"
#include "base/result.h"

#include <string>
#include <string_view>

namespace revenant::amqp10 {

struct Address {
    enum class Kind : std::uint8_t { queue, exchange };
    Kind kind = Kind::queue;
    std::string name;         // queue or exchange
    std::string routing_key;  // for an exchange
    friend bool operator==(const Address&, const Address&) = default;
};

// RabbitMQ's text for an invalid target or source address (amqp10 4.3).
std::string bad_target_text(const Datum& address);
std::string bad_source_text(const Datum& address);

// The error describes the invalid part.
Result<Address, std::string> parse_address(std::string_view text);
std::string queue_address(std::string_view queue);
// Encode and decode names in addresses and in the paths of /management. A name must also be valid
// in AMQP 0-9-1.
std::string percent_encode(std::string_view text);
Result<std::string, std::string> decode_name(std::string_view text);

}  // namespace revenant::amqp10
