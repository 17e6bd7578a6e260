// The result line of a run: one flat JSON object.
#pragma once

#include "meter.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace bench {

class Report {
  public:
    void text(std::string_view key, std::string_view value);
    void number(std::string_view key, double value);
    void count(std::string_view key, uint64_t value);
    void boolean(std::string_view key, bool value);
    // The cost of a run, in total and per message.
    void cost(const Cost& cost, uint64_t messages);

    std::string line() const { return "{" + fields_ + "}"; }

  private:
    void field(std::string_view key, std::string_view value);

    std::string fields_;
};

}  // namespace bench
