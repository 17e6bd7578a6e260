#include "runtime/thread_priority.h"

#include <unistd.h>

#include <algorithm>
#include <sys/resource.h>

namespace revenant::runtime {

void lower_thread_priority() {
    constexpr int difference = 10;  // about a tenth of the weight
    constexpr int lowest = 19;
    // On Linux a priority belongs to one thread. If the system refuses, all threads keep theirs.
    const auto thread = static_cast<id_t>(::gettid());
    const int now = ::getpriority(PRIO_PROCESS, thread);
    [[maybe_unused]] const int ignored =
        ::setpriority(PRIO_PROCESS, thread, std::min(now + difference, lowest));
}

}  // namespace revenant::runtime
