#include "amqp10/codec/fault.h"

#include "amqp10/codec/performatives.gen.h"
#include "base/check.h"

namespace revenant::amqp10 {
namespace {

std::string_view condition_of(engine::RefusalKind kind) {
    switch (kind) {
        case engine::RefusalKind::not_found:
            return condition::not_found;
        case engine::RefusalKind::precondition_failed:
        case engine::RefusalKind::unknown_exchange_type:
            return condition::precondition_failed;
        case engine::RefusalKind::access_refused:
        case engine::RefusalKind::not_permitted:
            return condition::unauthorized_access;
        case engine::RefusalKind::resource_locked:
            return condition::resource_locked;
        case engine::RefusalKind::not_allowed:
            return condition::not_allowed;
        case engine::RefusalKind::limit_reached:
            return condition::resource_limit_exceeded;
        case engine::RefusalKind::not_implemented:
            return condition::not_implemented;
        case engine::RefusalKind::feature_denied:
            return condition::internal_error;
    }
    UNREACHABLE();
}

}  // namespace

Fault fault_of(const engine::Refusal& refusal) {
    return {condition_of(refusal.kind), refusal.text, {}};
}

std::string encode_fault(const Fault& fault) {
    Error error;
    error.condition = fault.condition;
    if (!fault.description.empty()) error.description = fault.description;
    error.info = fault.info;
    std::string bytes;
    TypeWriter out(bytes);
    error.encode(out);
    return bytes;
}

}  // namespace revenant::amqp10
