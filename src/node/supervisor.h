// Supervisor: who started us and wants to know when we are ready. It is told by datagrams on the
// socket that NOTIFY_SOCKET names, as systemd reads them; without that variable nobody is told.
#pragma once

#include <string>
#include <string_view>

namespace revenant::node {

// "READY=1", "RELOADING=1", "STOPPING=1", "STATUS=…"; lines.
void notify_supervisor(std::string_view message);

}  // namespace revenant::node
