// Credit: an AMQP 1.0 consumer limits how many messages it receives, and may drain credit that its
// queue cannot use.
#pragma once

#include "engine/rules/turn.h"

namespace revenant::engine {

void set_credit(Turn& turn, const SetCredit& command);
// Reports to a consumer whether it is active, if this differs from the last report.
void report_active(Turn& turn, Consumer& consumer);
// Called at the end of a turn, after all possible deliveries: draining consumers lose their
// remaining credit and are notified.
void complete_drains(Turn& turn);

}  // namespace revenant::engine
