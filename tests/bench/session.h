// A blocking connection with one open channel. It declares the topology, requests depths, and
// prepares connections that the loop then drives. It never reads past the reply it waits for, so
// that the loop receives the deliveries that follow.
#pragma once

#include "amqp.h"
#include "endpoint.h"
#include "handshake.h"
#include "socket.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace bench {

enum class Durability { transient, durable };

class Session {
  public:
    explicit Session(const Endpoint& endpoint);

    void declare_exchange(const std::string& name, const std::string& type);
    void declare_queue(const std::string& name, Durability durability, const Table& arguments = {});
    void bind_queue(const std::string& queue, const std::string& exchange, const std::string& key);
    void delete_queue(const std::string& name);
    uint64_t queue_depth(const std::string& name);
    void select_confirms();
    void set_prefetch(uint16_t count);
    void consume(const std::string& queue);

    // For the peer that continues with the socket.
    Socket take_socket() && { return std::move(socket_); }
    uint32_t frame_bytes_max() const { return frame_bytes_max_; }

  private:
    Frame receive();
    std::string call(MethodId id, std::string_view arguments, MethodId expected);

    Socket socket_;
    uint32_t frame_bytes_max_ = 0;
    std::string frame_bytes_;  // of the last frame that receive() returned
};

// basic.consume without no-ack.
std::string consume_question(const std::string& queue);
// queue.declare with passive set, which requests a queue's depth.
std::string depth_question(const std::string& queue);
// The message count in queue.declare-ok.
uint64_t depth_answer(std::string_view arguments);

}  // namespace bench
