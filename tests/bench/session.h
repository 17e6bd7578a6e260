// A blocking connection with one open channel: it builds the topology, asks for depths, and
// prepares the connections that the loop then drives without blocking. It never reads past the
// answer it waits for, so that deliveries which follow are left to the loop.
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

    // For a peer that goes on with it.
    Socket take_socket() && { return std::move(socket_); }
    uint32_t frame_bytes_max() const { return frame_bytes_max_; }

  private:
    Frame receive();
    std::string call(MethodId id, std::string_view arguments, MethodId expected);

    Socket socket_;
    uint32_t frame_bytes_max_ = 0;
    std::string frame_bytes_;  // Of the frame that receive() returned last.
};

// basic.consume without no-ack.
std::string consume_question(const std::string& queue);
// queue.declare with passive set: the question for a queue's depth.
std::string depth_question(const std::string& queue);
// The message count in the queue.declare-ok that answers it.
uint64_t depth_answer(std::string_view arguments);

}  // namespace bench
