// One connection of the load, driven by the loop without blocking, whatever it speaks.
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

    // Reads once and handles every whole frame. Throws Failure when the broker closes.
    void receive();
    // Writes as much as the socket takes, a bounded amount; `blocked` asks to be called when it is
    // writable.
    virtual Flushed flush();

    // Asks for the depth of a queue behind everything sent so far. As a connection is ordered, the
    // answer also says that the broker has handled all of it.
    virtual void ask_depth(const std::string& queue) = 0;
    bool has_depth() const { return depth_.has_value(); }
    uint64_t depth() const { return depth_.value_or(0); }

    uint64_t received_bytes() const { return received_bytes_; }

  protected:
    // Handles the whole frames at the start of the input and returns how many bytes they take.
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

// Whether a system call must wait until the socket is ready. Throws Failure on other errors.
bool must_wait(ssize_t result, const char* what);

}  // namespace bench
