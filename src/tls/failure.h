// What OpenSSL says went wrong.
#pragma once

#include <string>

namespace revenant::tls {

// The first reason of the calling thread's queue, which is empty afterwards.
std::string last_failure();

}  // namespace revenant::tls
