// A run that cannot continue: the broker refused, disconnected or did not finish in time. The
// program reports the text in the result line and exits with status 1.
#pragma once

#include <stdexcept>

namespace bench {

class Failure : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace bench
