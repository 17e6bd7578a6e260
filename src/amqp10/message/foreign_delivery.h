// Converts a message of another protocol for an AMQP 1.0 consumer (amqp10 6.11 to 6.13).
#pragma once

#include "amqp10/message/added_annotations.h"
#include "amqp10/message/delivery_head.h"
#include "message/message.h"

#include <string>
#include <string_view>

namespace revenant::amqp10 {

// Writes everything between the header section and the body, and the start of the body section.
// Returns the bytes that follow.
std::string_view write_foreign(DeliveryHead& head, const Message& message,
                               const AddedAnnotations& added, std::string& converted);

}  // namespace revenant::amqp10
