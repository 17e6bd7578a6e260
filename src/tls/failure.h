// Error texts from OpenSSL.
#pragma once

#include <string>

namespace revenant::tls {

// The first error in the calling thread's queue. Clears the queue.
std::string last_failure();

}  // namespace revenant::tls
