// What a consumer adds to a message with the outcome `modified` (amqp10 5.24, DL-203).
#pragma once

#include "amqp10/codec/type_reader.h"
#include "base/result.h"
#include "base/time.h"
#include "message/death.h"

#include <optional>
#include <string>
#include <vector>

namespace revenant::amqp10 {

// The field message-annotations of `modified`, as it came; nothing for none. Of a key that stands
// there twice the last counts. The error says what is wrong.
Result<std::vector<Annotation>, std::string> read_consumer_annotations(Raw map);
// When the consumer wants the message to be given out again, if it says so: x-opt-delivery-time, a
// timestamp or a number of milliseconds (DL-164).
std::optional<Timestamp> delivery_time_in(const std::vector<Annotation>& annotations);

}  // namespace revenant::amqp10
