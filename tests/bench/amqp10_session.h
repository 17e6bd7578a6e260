// A blocking AMQP 1.0 connection with one session and one link, prepared for a peer that the loop
// then drives. It never reads past the reply it waits for. It uses the broker's codec, which is
// measured here, not tested.
#pragma once

#include "amqp10/codec/frame.h"
#include "amqp10/codec/performatives.gen.h"
#include "endpoint.h"
#include "failure.h"
#include "socket.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace bench {

// The channel and handle of the only session and link.
inline constexpr uint16_t session_channel = 0;
inline constexpr uint32_t link_handle = 0;
inline constexpr uint32_t session_window = 2'147'483'647;
inline constexpr uint32_t frame10_bytes_max = 131072;

template <typename Performative>
void append_performative(std::string& output, const Performative& performative,
                         revenant::amqp10::FrameType type = revenant::amqp10::FrameType::amqp) {
    const size_t frame = revenant::amqp10::begin_frame(output, type, session_channel);
    revenant::amqp10::TypeWriter writer(output);
    performative.encode(writer);
    revenant::amqp10::end_frame(output, frame);
}

// A performative and the payload that follows it. Both are views of the received bytes.
struct Performed {
    uint64_t code = 0;
    revenant::amqp10::TypeReader::Items fields;
    std::string_view payload;
};

// Throws Failure if the frame's body is not a performative.
Performed read_performative(std::string_view body);
// The error text of a close, an end or a detach.
std::string reason_in(revenant::amqp10::Raw error);

// Throws Failure if the fields are invalid.
template <typename Performative>
Performative fields_of(const Performed& performed) {
    const auto fields = Performative::decode(performed.fields);
    if (!fields) throw Failure("the broker sent a performative with bad fields");
    return *fields;
}

// Throws Failure if the performative ends the connection, the session or the link.
void check_end(const Performed& performed);

class Session10 {
  public:
    explicit Session10(const Endpoint& endpoint);

    void attach_sender(const std::string& queue);
    void attach_receiver(const std::string& queue);

    // For the peer that continues with the socket.
    Socket take_socket() && { return std::move(socket_); }
    uint32_t frame_bytes_max() const { return frame_bytes_max_; }

  private:
    void exchange_headers(std::string_view header);
    void log_in(const Login& login);
    void open(const Login& login);
    void begin();
    void attach(const revenant::amqp10::Attach& attach);
    Performed receive(revenant::amqp10::FrameType type);
    template <typename Performative>
    Performative wait_for(revenant::amqp10::FrameType type = revenant::amqp10::FrameType::amqp);

    Socket socket_;
    uint32_t frame_bytes_max_ = frame10_bytes_max;
    std::string frame_bytes_;  // of the last frame that receive() returned
};

}  // namespace bench
