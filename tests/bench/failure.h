// A run that cannot go on: the broker refused, vanished or did not finish in time. The program
// reports its text in the result line and ends with status 1.
#pragma once

#include <stdexcept>

namespace bench {

class Failure : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace bench
