// One connection of the load, driven by the loop without blocking, for any protocol.
#pragma once

#include "socket.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

enum class Flushed { all, blocked };

class Connection {
  public:
    explicit Connection(Socket socket);
    virtual ~Connection() = default;
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    Connection(Connection&&) = delete;
    Connection& operator=(Connection&&) = delete;

    int descriptor() const { return socket_.descriptor(); }

    // Reads once and handles all complete frames. Throws Failure if the broker closes.
    void receive();
    // Writes a bounded amount to the socket. `blocked` requests a call when the socket is writable.
    virtual Flushed flush();

    // Requests the depth of a queue. Because a connection is ordered, the reply also confirms that
    // the broker has handled everything sent before.
    virtual void ask_depth(const std::string& queue) = 0;
    bool has_depth() const { return depth_.has_value(); }
    uint64_t depth() const { return depth_.value_or(0); }

    uint64_t received_bytes() const { return received_bytes_; }

  protected:
    // Handles the complete frames at the start of the input and returns their size.
    virtual size_t handle(std::string_view input) = 0;

    void expect_depth() { depth_.reset(); }
    void note_depth(uint64_t depth) { depth_ = depth; }
    std::string& output() { return output_; }

  private:
    Socket socket_;
    std::vector<char> input_;
    size_t input_bytes_ = 0;
    uint64_t received_bytes_ = 0;
    std::string output_;
    size_t output_sent_ = 0;
    std::optional<uint64_t> depth_;
};

// Whether a system call must be retried when the socket is ready. Throws Failure on other errors.
bool must_wait(ssize_t result, const char* what);

}  // namespace bench
