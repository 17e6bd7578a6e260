// Scheduling priority of threads.
#pragma once

namespace revenant::runtime {

// Gives the calling thread less CPU time than reactors on a busy machine. For threads with long
// work that no message waits for, such as HTTP pages and lists.
void lower_thread_priority();

}  // namespace revenant::runtime
