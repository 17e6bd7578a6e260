// Pattern: a regular expression from a permission or policy (PCRE, including look-ahead), compiled
// once and searched for anywhere in a name. It matches bytes, not characters, because RabbitMQ
// compiles without Unicode mode.
//
// Every search is bounded in steps, depth and memory, so that no pattern can stall a reactor. A
// search that reaches a bound does not match. A Pattern is immutable and may be used by several
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
    // Steps of one search. `^(a+)+$` against a hostile name ends within 0.5 ms, or within a few ms
    // without JIT.
    static constexpr std::uint32_t match_limit = 100'000;
    // Nested backtracking points of one search without JIT.
    static constexpr std::uint32_t depth_limit = 10'000;
    // Memory of one search without JIT, in KiB.
    static constexpr std::uint32_t heap_limit_kib = 1024;
    // Longest source that is compiled. Callers have lower limits.
    static constexpr std::size_t source_bytes_max = 65'536;

    // The error is PCRE2's message followed by the offset in the source, as in "missing closing
    // parenthesis at offset 3".
    static Result<Pattern, std::string> compile(std::string_view source);

    // Whether the pattern matches anywhere in the subject.
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
    std::unique_ptr<void, FreeCode> code_;  // a pcre2_code; pcre2.h is not included here
};

// A pattern that matches exactly this text: all PCRE metacharacters are escaped.
std::string escape_for_pattern(std::string_view text);

}  // namespace revenant
