// ClientOutcome: the outcome that a client sent for a delivery, in the terms of the engine.
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

// Reads the state of a disposition (amqp10 5.24, DL-150). An absent state is the default outcome,
// released (amqp10 5.3).
Result<ClientOutcome, Fault> read_outcome(Raw state);
// The state for the reply, without long texts and annotations, so that it fits in any frame.
std::string echo_of(Raw state);

}  // namespace revenant::amqp10
