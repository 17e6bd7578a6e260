// The outcome of a published or delivered message.
#pragma once

namespace bench {

enum class Outcome { accepted, rejected };

}  // namespace bench
