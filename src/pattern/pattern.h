// Pattern: a regular expression as users write it in permissions and policies (PCRE, look-ahead
// included), compiled once and searched for anywhere in a name. Bytes, not characters: RabbitMQ
// compiles without Unicode mode, too.
//
// Every search is bounded in steps, depth and memory, so that no pattern can stall a reactor; a
// search that meets a bound has found nothing. A Pattern is immutable and may be used by several
// threads.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace revenant {

class Pattern {
  public:
    // Steps of one search. `^(a+)+$` against a hostile name ends within half a millisecond, a few
    // without JIT.
    static constexpr std::uint32_t match_limit = 100'000;
    // Nested backtracking points of one search without JIT.
    static constexpr std::uint32_t depth_limit = 10'000;
    // Memory of one search without JIT, in KiB.
    static constexpr std::uint32_t heap_limit_kib = 1024;
    // Longest source that is compiled at all; callers have smaller limits of their own.
    static constexpr std::size_t source_bytes_max = 65'536;

    // The error is PCRE2's own sentence followed by the offset in the source, as in
    // "missing closing parenthesis at offset 3".
    static Result<Pattern, std::string> compile(std::string_view source);

    // Whether the pattern is found somewhere in the subject.
    bool matches(std::string_view subject) const;
    const std::string& source() const { return source_; }

    Pattern(Pattern&&) noexcept = default;
    Pattern& operator=(Pattern&&) noexcept = default;
    Pattern(const Pattern&) = delete;
    Pattern& operator=(const Pattern&) = delete;
    ~Pattern() = default;

  private:
    struct FreeCode {
        void operator()(void* code) const;
    };
    Pattern(std::string source, void* code) : source_(std::move(source)), code_(code) {}

    std::string source_;
    std::unique_ptr<void, FreeCode> code_;  // a pcre2_code; its header stays out of ours
};

// The text as a pattern that matches exactly it: whatever has a meaning in PCRE is escaped.
std::string escape_for_pattern(std::string_view text);

}  // namespace revenant
