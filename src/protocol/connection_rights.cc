#include "protocol/connection_rights.h"

namespace revenant::protocol {

std::optional<engine::Refusal> ConnectionRights::write_refusal(std::string_view exchange) {
    const std::uint64_t version = host_.access()->version();
    if (writable_known_ && writable_version_ == version && writable_exchange_ == exchange) {
        return std::nullopt;
    }
    auto refused = in_force().refusal(Permission::write, "exchange", exchange);
    writable_known_ = !refused;
    writable_version_ = version;
    writable_exchange_.assign(exchange);
    return refused;
}

}  // namespace revenant::protocol
