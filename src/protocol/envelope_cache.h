// EnvelopeCache: what the latest envelopes look like in a protocol's bytes. Messages that died
// together share an envelope and are most often delivered one after the other, so a few lines are
// enough. A message without an envelope never comes here.
#pragma once

#include "message/death.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace revenant::protocol {

// Rendered has memory_bytes().
template <typename Rendered>
class EnvelopeCache {
  public:
    using RenderedRef = std::shared_ptr<const Rendered>;

    // The result of render(envelope, rendered), now or earlier; render() finds an earlier value to
    // overwrite, unless an output still refers to it. One that is too large to be kept is moved to
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
    // It holds the envelope, so that no other can take its address.
    struct Line {
        EnvelopeRef envelope;
        std::shared_ptr<Rendered> rendered;
        RenderedRef shown;  // the same, of this envelope
    };

    static std::size_t line_of(const Envelope* envelope) {
        constexpr std::uint64_t spread = 0x9e3779b97f4a7c15;
        return reinterpret_cast<std::uintptr_t>(envelope) * spread >> (64 - lines_bits);
    }

    std::array<Line, std::size_t{1} << lines_bits> lines_;
};

}  // namespace revenant::protocol
