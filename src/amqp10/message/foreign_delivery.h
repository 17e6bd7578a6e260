// A message of another protocol for a consumer of AMQP 1.0 (amqp10 6.11 to 6.13).
#pragma once

#include "amqp10/message/added_annotations.h"
#include "amqp10/message/delivery_head.h"
#include "message/message.h"

#include <string>
#include <string_view>

namespace revenant::amqp10 {

// Writes all between the header section and the body, and the beginning of the body's section; the
// answer is what stands behind that.
std::string_view write_foreign(DeliveryHead& head, const Message& message,
                               const AddedAnnotations& added, std::string& converted);

}  // namespace revenant::amqp10
