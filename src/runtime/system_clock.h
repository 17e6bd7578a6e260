// The only now(). Wall-clock time that never jumps: the wall clock at start plus monotonic time.
#pragma once

#include "base/time.h"

namespace revenant::runtime {

Timestamp system_now();
// What this thread has used of the processor. A call of the kernel.
Duration thread_cpu_time();

}  // namespace revenant::runtime
