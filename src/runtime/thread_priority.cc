#include "runtime/thread_priority.h"

#include <unistd.h>

#include <sys/resource.h>

namespace revenant::runtime {

void lower_thread_priority() {
    constexpr int nice_value = 10;  // about a tenth of the weight of a normal thread
    // On Linux, setpriority() applies to one thread. If it fails, all threads keep the same
    // priority.
    [[maybe_unused]] const int ignored =
        ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), nice_value);
}

}  // namespace revenant::runtime
