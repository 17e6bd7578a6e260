// The only now(). Wall-clock time that never jumps: the wall clock at start plus monotonic time.
#pragma once

#include "base/time.h"

namespace revenant::runtime {

Timestamp system_now();

}  // namespace revenant::runtime
