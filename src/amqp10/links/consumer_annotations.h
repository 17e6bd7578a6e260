// The annotations that a consumer adds to a message with the outcome `modified` (amqp10 5.24,
// DL-203).
#pragma once

#include "amqp10/codec/type_reader.h"
#include "base/result.h"
#include "base/time.h"
#include "message/death.h"

#include <optional>
#include <string>
#include <vector>

namespace revenant::amqp10 {

// Reads the raw field message-annotations of `modified`; empty if absent. Of duplicate keys the
// last is used.
Result<std::vector<Annotation>, std::string> read_consumer_annotations(Raw map);
// The time for the next delivery that the consumer requests with x-opt-delivery-time, a timestamp
// or a number of milliseconds (DL-164).
std::optional<Timestamp> delivery_time_in(const std::vector<Annotation>& annotations);

}  // namespace revenant::amqp10
