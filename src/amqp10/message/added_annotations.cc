#include "amqp10/message/added_annotations.h"

#include "amqp10/message/death_annotations.h"
#include "protocol/envelope_cache.h"
#include "protocol/output.h"

#include <string>

namespace revenant::amqp10 {
namespace {

constexpr std::string_view error_condition = "x-opt-death-error-condition";
constexpr std::string_view error_description = "x-opt-death-error-description";

// Map entries for the history and the error of an envelope.
struct BefallenEntries {
    std::string bytes;
    std::uint32_t count = 0;
    std::size_t memory_bytes() const { return bytes.capacity(); }
};

void render_befallen(const Envelope& envelope, BefallenEntries& entries) {
    entries.bytes.clear();
    TypeWriter out(entries.bytes);
    entries.count = write_history(out, envelope.history);
    if (!envelope.error) return;
    out.symbol(error_condition);
    out.symbol(envelope.error->condition);
    out.symbol(error_description);
    out.string(envelope.error->description);
    entries.count += 2;
}

using BefallenRef = std::shared_ptr<const BefallenEntries>;

const BefallenRef& befallen_entries(const Envelope& envelope, BefallenRef& scratch) {
    thread_local protocol::EnvelopeCache<BefallenEntries> cache;
    return cache.of(envelope, scratch, render_befallen);
}

}  // namespace

AddedAnnotations::AddedAnnotations(const Message& message, const Envelope* envelope,
                                   engine::ShownCounts counts)
    : message_(message), envelope_(envelope), counts_(counts) {
    if (envelope == nullptr) return;
    for (const Annotation& annotation : envelope->annotations) {
        by_consumers_.insert(annotation.key);
    }
}

bool AddedAnnotations::is_from_broker(std::string_view name) const {
    if (name == "x-exchange" || name == "x-routing-key") return true;
    if (name == "x-delivery-count") return counts_.delivery > 0;
    if (name == "x-acquired-count") return counts_.acquired > 0;
    if (envelope_ == nullptr) return false;
    if (died() && (name == "x-death" || is_death_annotation(name))) return true;
    if (name == error_condition || name == error_description) return envelope_->error.has_value();
    return false;
}

bool AddedAnnotations::replaces(std::string_view name) const {
    if (is_from_broker(name)) return true;
    // Replaced keys also remove x-cc (DL-66).
    if (name == "x-cc" && keys_replaced()) return true;
    return !by_consumers_.empty() && by_consumers_.contains(name);
}

std::uint32_t AddedAnnotations::write(DeliveryHead& head) const {
    TypeWriter out(head.bytes);
    std::uint32_t entries = 2;
    out.symbol("x-exchange");
    out.string(envelope_ != nullptr ? std::string_view(envelope_->exchange) : message_.exchange());
    out.symbol("x-routing-key");
    out.string(envelope_ != nullptr && !envelope_->routing_keys.empty()
                   ? std::string_view(envelope_->routing_keys.front())
                   : message_.routing_key());
    if (counts_.delivery > 0) {
        out.symbol("x-delivery-count");
        out.long_int(counts_.delivery);
        entries += 1;
    }
    if (counts_.acquired > 0) {
        out.symbol("x-acquired-count");
        out.long_int(counts_.acquired);
        entries += 1;
    }
    return envelope_ == nullptr ? entries : entries + write_from_envelope(head);
}

std::uint32_t AddedAnnotations::write_from_envelope(DeliveryHead& head) const {
    TypeWriter out(head.bytes);
    BefallenRef scratch;
    const BefallenRef& befallen = befallen_entries(*envelope_, scratch);
    if (befallen->bytes.size() >= protocol::Output::common_bytes_min) {
        head.insert(befallen, befallen->bytes);
    } else {
        out.raw(befallen->bytes);
    }
    std::uint32_t entries = befallen->count;
    for (const Annotation& annotation : envelope_->annotations) {
        if (is_from_broker(annotation.key)) continue;
        out.symbol(annotation.key);
        out.raw(annotation.encoded);
        entries += 1;
    }
    return entries;
}

}  // namespace revenant::amqp10
