// What a consumer adds to a message with the outcome `modified` (5.24, DL-203).
#pragma once

#include "amqp10/type_reader.h"
#include "base/result.h"
#include "message/death.h"

#include <string>
#include <vector>

namespace revenant::amqp10 {

// The field message-annotations of `modified`, as it came; nothing for none. Of a key that stands
// there twice the last counts. The error says what is wrong.
Result<std::vector<Annotation>, std::string> read_consumer_annotations(Raw map);

}  // namespace revenant::amqp10
