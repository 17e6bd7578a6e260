#include "amqp10/links/client_outcome.h"

#include "amqp10/codec/performatives.gen.h"
#include "amqp10/codec/raw_fields.h"
#include "amqp10/links/consumer_annotations.h"
#include "base/utf8.h"

#include <utility>

namespace revenant::amqp10 {
namespace {

using engine::OutcomeDetails;
using engine::OutcomeKind;

constexpr std::size_t error_text_max = 1024;  // longer texts are truncated

Unexpected<Fault> unrecognised(std::string_view what) {
    return Unexpected{Fault{condition::invalid_field,
                            "Unrecognised state: " + std::string(what) + " in DISPOSITION",
                            {}}};
}

Ref<const OutcomeDetails> details_of(const Rejected& rejected) {
    const auto error = composite_in<Error>(rejected.error);
    if (!error) return {};
    auto* const details = new OutcomeDetails;
    auto owned = Ref<const OutcomeDetails>::adopt(details);
    const std::string_view description = error->description.value_or(std::string_view{});
    details->error = DeathError{std::string(utf8_prefix(error->condition, error_text_max)),
                                std::string(utf8_prefix(description, error_text_max))};
    return owned;
}

Result<Ref<const OutcomeDetails>, Fault> details_of(const Modified& modified) {
    if (is_absent(modified.message_annotations)) return Ref<const OutcomeDetails>{};
    auto annotations = read_consumer_annotations(modified.message_annotations);
    if (!annotations) return Unexpected{Fault{condition::invalid_field, annotations.error(), {}}};
    auto* const details = new OutcomeDetails;
    details->annotations = std::move(annotations).value();
    details->delivery_time = delivery_time_in(details->annotations);
    return Ref<const OutcomeDetails>::adopt(details);
}

// DL-202: undeliverable-here dead-letters the message.
Result<ClientOutcome, Fault> outcome_of(const Modified& modified) {
    REVENANT_TRY(auto details, details_of(modified));
    const auto kind = modified.undeliverable_here ? OutcomeKind::rejected : OutcomeKind::released;
    return ClientOutcome{{.kind = kind, .delivery_failed = modified.delivery_failed},
                         std::move(details)};
}

}  // namespace

std::string echo_of(Raw state) {
    constexpr std::size_t echoed_bytes_max = 64;
    if (state.size() <= echoed_bytes_max) return std::string(state);
    std::string shorter;
    TypeWriter out(shorter);
    if (const auto modified = composite_in<Modified>(state)) {
        Modified{.delivery_failed = modified->delivery_failed,
                 .undeliverable_here = modified->undeliverable_here}
            .encode(out);
    } else {
        Rejected{}.encode(out);
    }
    return shorter;
}

Result<ClientOutcome, Fault> read_outcome(Raw state) {
    if (is_absent(state)) return ClientOutcome{{.kind = OutcomeKind::released}, {}};
    switch (descriptor_in(state).value_or(0)) {
        case Accepted::descriptor_code:
            return ClientOutcome{{.kind = OutcomeKind::accepted}, {}};
        case Released::descriptor_code:
            return ClientOutcome{{.kind = OutcomeKind::released}, {}};
        case Rejected::descriptor_code:
            if (const auto rejected = composite_in<Rejected>(state)) {
                return ClientOutcome{{.kind = OutcomeKind::rejected, .delivery_failed = true},
                                     details_of(*rejected)};
            }
            return unrecognised("malformed rejected");
        case Modified::descriptor_code:
            if (const auto modified = composite_in<Modified>(state)) return outcome_of(*modified);
            return unrecognised("malformed modified");
        case Received::descriptor_code:
            return unrecognised("received");
        default:
            return unrecognised("unknown");
    }
}

}  // namespace revenant::amqp10
