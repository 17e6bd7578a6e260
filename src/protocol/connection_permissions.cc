#include "protocol/connection_permissions.h"

namespace revenant::protocol {

std::optional<engine::Refusal> ConnectionPermissions::write_refusal(std::string_view exchange) {
    const std::uint64_t version = host_.access()->version();
    if (writable_known_ && writable_version_ == version && writable_exchange_ == exchange) {
        return std::nullopt;
    }
    auto refused = current().refusal(Permission::write, "exchange", exchange);
    writable_known_ = !refused;
    writable_version_ = version;
    writable_exchange_.assign(exchange);
    return refused;
}

}  // namespace revenant::protocol
