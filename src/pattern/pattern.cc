#define PCRE2_CODE_UNIT_WIDTH 8
#include "pattern/pattern.h"

#include "base/check.h"
#include "base/probe.h"

#include <pcre2.h>

#include <array>

namespace revenant {
namespace {

template <auto free>
struct FreeWith {
    template <typename T>
    void operator()(T* object) const {
        free(object);
    }
};
using CompileContext = std::unique_ptr<pcre2_compile_context, FreeWith<pcre2_compile_context_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, FreeWith<pcre2_match_context_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, FreeWith<pcre2_match_data_free>>;

// Working memory of a search. Compiled patterns are shared by threads; each thread has one Scratch
// for all patterns.
struct Scratch {
    MatchContext context{pcre2_match_context_create(nullptr)};
    MatchData data{pcre2_match_data_create(1, nullptr)};

    Scratch() {
        CHECK(context && data);
        pcre2_set_match_limit(context.get(), Pattern::match_limit);
        pcre2_set_depth_limit(context.get(), Pattern::depth_limit);
        pcre2_set_heap_limit(context.get(), Pattern::heap_limit_kib);
    }
};

PCRE2_SPTR units(std::string_view text) {
    // PCRE2 requires a non-null pointer, which an empty view may not have.
    return reinterpret_cast<PCRE2_SPTR>(text.empty() ? "" : text.data());
}

std::string error_text(int code, std::size_t offset) {
    std::array<PCRE2_UCHAR, 256> text{};
    pcre2_get_error_message(code, text.data(), text.size());
    return std::string(reinterpret_cast<const char*>(text.data())) + " at offset " +
           std::to_string(offset);
}

}  // namespace

void Pattern::FreeCode::operator()(void* code) const {
    pcre2_code_free(static_cast<pcre2_code*>(code));
}

Result<Pattern, std::string> Pattern::compile(std::string_view source) {
    const CompileContext context{pcre2_compile_context_create(nullptr)};
    CHECK(context);
    pcre2_set_max_pattern_length(context.get(), source_bytes_max);
    // `$` matches before a line feed, as in Erlang, independent of the library's build options.
    pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
    int error = 0;
    std::size_t offset = 0;
    // A source could enable Unicode with (*UTF). A name that is not valid UTF-8 would then be an
    // error instead of a subject.
    pcre2_code* code =
        pcre2_compile(units(source), source.size(), PCRE2_NEVER_UTF | PCRE2_NEVER_UCP, &error,
                      &offset, context.get());
    if (!code) return Unexpected{error_text(error, offset)};
    Pattern pattern{std::string(source), code};
    // JIT may be forbidden on this machine. The interpreter gives the same results.
    static_cast<void>(pcre2_jit_compile(code, PCRE2_JIT_COMPLETE));
    return pattern;
}

bool Pattern::matches(std::string_view subject) const {
    thread_local const Scratch scratch;
    CHECK(code_);
    const auto search = [&](std::uint32_t options) {
        return pcre2_match(static_cast<const pcre2_code*>(code_.get()), units(subject),
                           subject.size(), 0, options, scratch.data.get(), scratch.context.get());
    };
    int found = search(0);
    if (found == PCRE2_ERROR_JIT_STACKLIMIT) {
        PROBE("pattern.jit_stack");
        found = search(PCRE2_NO_JIT);
    }
    // 0 means a match with more groups than the scratch can store.
    if (found >= 0) return true;
    if (found != PCRE2_ERROR_NOMATCH) PROBE("pattern.limit");
    return false;
}

std::string escape_for_pattern(std::string_view text) {
    std::string escaped;
    escaped.reserve(text.size() * 2);
    for (const char letter : text) {
        const bool word = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                          (letter >= '0' && letter <= '9') || letter == '_';
        const bool ascii = static_cast<unsigned char>(letter) < 0x80;
        if (ascii && !word) escaped.push_back('\\');
        escaped.push_back(letter);
    }
    return escaped;
}

}  // namespace revenant
