// A connected socket with blocking reads and writes that fail after the endpoint's timeout.
#pragma once

#include "endpoint.h"

#include <string>
#include <string_view>

namespace bench {

class Socket {
  public:
    explicit Socket(const Endpoint& endpoint);
    ~Socket();
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    Socket(Socket&& other) noexcept;
    Socket& operator=(Socket&& other) = delete;

    void send(std::string_view bytes) const;
    // Appends exactly `size` bytes and reads no more.
    void receive(std::string& target, size_t size) const;

    int descriptor() const { return descriptor_; }

  private:
    int descriptor_ = -1;
};

}  // namespace bench
