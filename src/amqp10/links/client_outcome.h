// ClientOutcome: what a client says of a message it was given, in the terms of the engine.
#pragma once

#include "amqp10/codec/fault.h"
#include "amqp10/codec/type_reader.h"
#include "base/ref.h"
#include "base/result.h"
#include "engine/words/command.h"

#include <string>

namespace revenant::amqp10 {

struct ClientOutcome {
    engine::Outcome outcome;
    Ref<const engine::OutcomeDetails> details;
};

// The state of a disposition (amqp10 5.24, DL-150). None at all is the default outcome, released
// (amqp10 5.3).
Result<ClientOutcome, Fault> read_outcome(Raw state);
// The same state for the answer, which must fit into any frame: without long texts and annotations.
std::string echo_of(Raw state);

}  // namespace revenant::amqp10
