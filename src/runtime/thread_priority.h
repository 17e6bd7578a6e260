// The weight that the system's scheduler gives a thread.
#pragma once

namespace revenant::runtime {

// Gives the calling thread less of a busy machine than reactors get. For threads that do long work
// which nobody's messages wait for: a page or a list takes longer, a message does not.
void lower_thread_priority();

}  // namespace revenant::runtime
