// What becomes of a message: of one published, or of one delivered.
#pragma once

namespace bench {

enum class Outcome { accepted, rejected };

}  // namespace bench
