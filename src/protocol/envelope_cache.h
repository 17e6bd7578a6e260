// EnvelopeCache: recently used envelopes in the encoding of a protocol. Messages that were
// dead-lettered together share an envelope and are usually delivered one after the other, so a few
// lines suffice. Not used for messages without an envelope.
#pragma once

#include "message/death.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace revenant::protocol {

// Rendered must have memory_bytes().
template <typename Rendered>
class EnvelopeCache {
  public:
    using RenderedRef = std::shared_ptr<const Rendered>;

    // Returns the result of render(envelope, rendered), cached or new. render() may overwrite an
    // earlier value that no output refers to. A result that is too large for the cache is moved to
    // `scratch`. The reference is valid until the next call.
    template <typename Render>
    const RenderedRef& of(const Envelope& envelope, RenderedRef& scratch, Render render) {
        Line& line = lines_[line_of(&envelope)];
        if (line.envelope.get() == &envelope) return line.shown;
        line.envelope = {};
        line.shown.reset();
        if (line.rendered.use_count() != 1) line.rendered = std::make_shared<Rendered>();
        render(envelope, *line.rendered);
        if (line.rendered->memory_bytes() > line_bytes_max) {
            scratch = std::exchange(line.rendered, nullptr);
            return scratch;
        }
        envelope.retain();
        line.envelope = EnvelopeRef::adopt(&envelope);
        line.shown = line.rendered;
        return line.shown;
    }

  private:
    static constexpr unsigned lines_bits = 3;
    static constexpr std::size_t line_bytes_max = std::size_t{32} * 1024;
    // Owns the envelope so that no other can have its address.
    struct Line {
        EnvelopeRef envelope;
        std::shared_ptr<Rendered> rendered;
        RenderedRef shown;  // `rendered`, for this envelope
    };

    static std::size_t line_of(const Envelope* envelope) {
        constexpr std::uint64_t spread = 0x9e3779b97f4a7c15;
        return reinterpret_cast<std::uintptr_t>(envelope) * spread >> (64 - lines_bits);
    }

    std::array<Line, std::size_t{1} << lines_bits> lines_;
};

}  // namespace revenant::protocol
