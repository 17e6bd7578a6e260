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
    std::string name;         // of the queue or exchange
    std::string routing_key;  // of an exchange
    friend bool operator==(const Address&, const Address&) = default;
};

// The text for a bad address of a target or source, as RabbitMQ does (amqp10 4.3).
std::string bad_target_text(const Datum& address);
std::string bad_source_text(const Datum& address);

// The error is what is wrong with it.
Result<Address, std::string> parse_address(std::string_view text);
std::string queue_address(std::string_view queue);
// As they stand in an address and in the paths of /management. A name must be one that AMQP 0-9-1
// can carry as well.
std::string percent_encode(std::string_view text);
Result<std::string, std::string> decode_name(std::string_view text);

}  // namespace revenant::amqp10
