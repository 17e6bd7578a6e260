#include "node/supervisor.h"

#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>

namespace revenant::node {

void notify_supervisor(std::string_view message) {
    const char* const name = std::getenv("NOTIFY_SOCKET");
    if (name == nullptr) return;
    const std::size_t length = std::strlen(name);
    sockaddr_un address{};
    if (length < 2 || length >= sizeof address.sun_path) return;
    address.sun_family = AF_UNIX;
    std::memcpy(static_cast<char*>(address.sun_path), name, length);
    // An abstract socket name has an @ in place of the zero byte.
    if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
    const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket < 0) return;
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
    ::sendto(socket, message.data(), message.size(), MSG_NOSIGNAL,
             reinterpret_cast<const sockaddr*>(&address), size);
    ::close(socket);
}

}  // namespace revenant::node
