// Fault: the error with which a link, a session or a connection ends or a message is rejected.
#pragma once

#include "engine/words/refusal.h"

#include <string>
#include <string_view>

namespace revenant::amqp10 {

namespace condition {
constexpr std::string_view internal_error = "amqp:internal-error";
constexpr std::string_view not_found = "amqp:not-found";
constexpr std::string_view unauthorized_access = "amqp:unauthorized-access";
constexpr std::string_view decode_error = "amqp:decode-error";
constexpr std::string_view resource_limit_exceeded = "amqp:resource-limit-exceeded";
constexpr std::string_view not_allowed = "amqp:not-allowed";
constexpr std::string_view invalid_field = "amqp:invalid-field";
constexpr std::string_view not_implemented = "amqp:not-implemented";
constexpr std::string_view resource_locked = "amqp:resource-locked";
constexpr std::string_view precondition_failed = "amqp:precondition-failed";
constexpr std::string_view resource_deleted = "amqp:resource-deleted";
constexpr std::string_view illegal_state = "amqp:illegal-state";
constexpr std::string_view frame_size_too_small = "amqp:frame-size-too-small";
constexpr std::string_view framing_error = "amqp:connection:framing-error";
constexpr std::string_view window_violation = "amqp:session:window-violation";
constexpr std::string_view handle_in_use = "amqp:session:handle-in-use";
constexpr std::string_view unattached_handle = "amqp:session:unattached-handle";
constexpr std::string_view transfer_limit_exceeded = "amqp:link:transfer-limit-exceeded";
constexpr std::string_view message_size_exceeded = "amqp:link:message-size-exceeded";
}  // namespace condition

struct Fault {
    std::string_view condition;
    std::string description;
    std::string info;  // an encoded map, or empty
};

// Converts a refusal of the engine to AMQP 1.0.
Fault fault_of(const engine::Refusal& refusal);
// The described error for close, end, detach or rejected.
std::string encode_fault(const Fault& fault);

}  // namespace revenant::amqp10
