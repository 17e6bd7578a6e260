// Opens a connection and its channel 1, without a socket: frames in, replies out. Used by the
// blocking Session and for ten thousand connections opened simultaneously.
#pragma once

#include "amqp.h"
#include "endpoint.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace bench {

class Handshake {
  public:
    explicit Handshake(Login login) : login_(std::move(login)) {}

    static std::string_view greeting() { return {"AMQP\0\0\x09\x01", 8}; }

    // The reply to a received frame. Throws Failure if the broker refuses.
    std::string answer(const Frame& frame);

    bool complete() const { return complete_; }
    uint32_t frame_bytes_max() const { return frame_bytes_max_; }

  private:
    std::string start_ok() const;
    std::string tune_ok_and_open(std::string_view tune);

    Login login_;
    uint32_t frame_bytes_max_ = 131072;
    bool complete_ = false;
};

}  // namespace bench
