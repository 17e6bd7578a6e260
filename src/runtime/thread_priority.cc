#include "runtime/thread_priority.h"

#include <unistd.h>

#include <sys/resource.h>

namespace revenant::runtime {

void lower_thread_priority() {
    constexpr int nice_value = 10;  // about a tenth of the weight of an ordinary thread
    // On Linux the priority is that of one thread. A system that refuses has the same one for all.
    [[maybe_unused]] const int ignored =
        ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), nice_value);
}

}  // namespace revenant::runtime
