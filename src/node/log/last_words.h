// Last words: when the process ends by itself, what was said before is written first, and the
// reason with it. A place that takes nothing is waited for a moment only.
#pragma once

#include "node/log/log.h"

#include <string_view>

namespace revenant::node {

// From now on, as long as it lives: a broken invariant is told in the log, and what ends the
// process by a signal of its own making waits for the log. One at a time.
class LastWordsInLog {
  public:
    explicit LastWordsInLog(Log& log);
    ~LastWordsInLog();
    LastWordsInLog(const LastWordsInLog&) = delete;
    LastWordsInLog& operator=(const LastWordsInLog&) = delete;
};

// As much of the text as the descriptor takes, without waiting longer than a moment for it.
void write_patiently(int descriptor, std::string_view text);

}  // namespace revenant::node
