// Credit: a consumer of AMQP 1.0 says how many messages it may be given, and may take back what
// its queue cannot use.
#pragma once

#include "engine/rules/turn.h"

namespace revenant::engine {

void set_credit(Turn& turn, const SetCredit& command);
// Tells a consumer that its turn has come or is over, if it was told otherwise before.
void report_active(Turn& turn, Consumer& consumer);
// At the end of a turn, when everything was handed out that could be: consumers that wanted to be
// drained lose the rest of their credit and are told.
void complete_drains(Turn& turn);

}  // namespace revenant::engine
