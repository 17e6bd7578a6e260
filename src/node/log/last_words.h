// Last words: writes pending log lines and the reason before the process aborts. Waits only briefly
// for an output that is blocked.
#pragma once

#include "node/log/log.h"

#include <string_view>

namespace revenant::node {

// During its lifetime, a failed CHECK is logged, and a fatal signal waits for the log. Only one may
// exist.
class LastWordsInLog {
  public:
    explicit LastWordsInLog(Log& log);
    ~LastWordsInLog();
    LastWordsInLog(const LastWordsInLog&) = delete;
    LastWordsInLog& operator=(const LastWordsInLog&) = delete;
};

// Writes as much of the text as the descriptor accepts within a short time.
void write_patiently(int descriptor, std::string_view text);

}  // namespace revenant::node
