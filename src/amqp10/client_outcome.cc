#include "amqp10/client_outcome.h"

#include "amqp10/map_walk.h"
#include "amqp10/performatives.gen.h"
#include "amqp10/raw_fields.h"
#include "amqp10/value_conversion.h"

#include <utility>

namespace revenant::amqp10 {
namespace {

using engine::OutcomeDetails;
using engine::OutcomeKind;

constexpr std::size_t error_text_max = 1024;  // of it is kept

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
    details->error = DeathError{
        std::string(error->condition.substr(0, error_text_max)),
        std::string(error->description.value_or(std::string_view{}).substr(0, error_text_max))};
    return owned;
}

Result<Annotation, Fault> annotation_of(const MapWalk::Entry& entry) {
    const auto key = symbol_in(entry.key);
    if (!key || !key->starts_with("x-")) {
        return Unexpected{Fault{condition::invalid_field,
                                "message-annotations of modified must have symbols that begin with "
                                "x- for keys",
                                {}}};
    }
    Annotation annotation{std::string(*key), std::string(entry.value), Value::nothing()};
    TypeReader in(entry.value);
    auto value = to_value(in.datum());
    if (!in.failed() && value && is_simple(*value)) annotation.simple = std::move(*value);
    return annotation;
}

Result<Ref<const OutcomeDetails>, Fault> details_of(const Modified& modified) {
    if (is_absent(modified.message_annotations)) return Ref<const OutcomeDetails>{};
    auto* const details = new OutcomeDetails;
    auto owned = Ref<const OutcomeDetails>::adopt(details);
    MapWalk walk = MapWalk::of_value(modified.message_annotations);
    while (const auto entry = walk.next()) {
        REVENANT_TRY(Annotation annotation, annotation_of(*entry));
        details->annotations.push_back(std::move(annotation));
    }
    if (walk.failed()) return unrecognised("modified with bad message-annotations");
    return owned;
}

// DL-202: undeliverable here means that it dies here.
Result<ClientOutcome, Fault> outcome_of(const Modified& modified) {
    REVENANT_TRY(auto details, details_of(modified));
    const auto kind =
        modified.undeliverable_here ? OutcomeKind::rejected : OutcomeKind::released;
    return ClientOutcome{{.kind = kind, .delivery_failed = modified.delivery_failed},
                         std::move(details)};
}

}  // namespace

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
            return unrecognised("rejected that cannot be read");
        case Modified::descriptor_code:
            if (const auto modified = composite_in<Modified>(state)) return outcome_of(*modified);
            return unrecognised("modified that cannot be read");
        case Received::descriptor_code:
            return unrecognised("received");
        default:
            return unrecognised("unknown");
    }
}

}  // namespace revenant::amqp10
