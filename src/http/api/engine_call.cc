#include "http/api/engine_call.h"

#include "http/api/responses.h"

#include <algorithm>

namespace revenant::http {
namespace {

constexpr std::string_view default_exchange = "amq.default";

}  // namespace

Response access_refused() { return not_authorised("Access refused."); }

Response response_to(const engine::Refusal& refusal) {
    switch (refusal.kind) {
        case engine::RefusalKind::not_found:
            return error_response(404, "not_found", refusal.text);
        case engine::RefusalKind::access_refused:
        case engine::RefusalKind::not_permitted:
        case engine::RefusalKind::not_allowed:
            return access_refused();
        case engine::RefusalKind::precondition_failed:
        case engine::RefusalKind::resource_locked:
        case engine::RefusalKind::not_implemented:
        case engine::RefusalKind::limit_reached:
        case engine::RefusalKind::unknown_exchange_type:
        case engine::RefusalKind::feature_denied:
            break;
    }
    return bad_request(refusal.text);
}

Response response_to(const CatalogRefusal& refusal) {
    using Kind = CatalogRefusal::Kind;
    const bool missing = refusal.kind == Kind::no_such_user ||
                         refusal.kind == Kind::no_such_vhost ||
                         refusal.kind == Kind::no_such_parameter;
    return missing ? not_found() : bad_request(refusal.text);
}

std::optional<std::string> amqp_name(std::string_view name) {
    if (name.size() > short_string_bytes_max) return std::nullopt;
    std::string clean(name);
    std::erase_if(clean, [](char c) { return c == '\r' || c == '\n'; });
    return clean;
}

std::optional<std::string> exchange_name(std::string_view name) {
    return name == default_exchange ? "" : amqp_name(name);
}

}  // namespace revenant::http
