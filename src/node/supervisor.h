// Supervisor: notifies systemd by datagrams on the socket in NOTIFY_SOCKET; does nothing without
// that variable.
#pragma once

#include <string>
#include <string_view>

namespace revenant::node {

// Lines such as "READY=1", "RELOADING=1", "STOPPING=1", "STATUS=…".
void notify_supervisor(std::string_view message);

}  // namespace revenant::node
