#include "connection.h"

#include "failure.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <utility>

namespace bench {

namespace {

constexpr size_t input_bytes_max = size_t{256} * 1024;

}  // namespace

bool must_wait(ssize_t result, const char* what) {
    if (result >= 0 || errno == EINTR) return false;
    if (errno == EAGAIN) return true;
    throw Failure(std::string(what) + ": " + std::strerror(errno));
}

Connection::Connection(Socket socket) : socket_(std::move(socket)), input_(input_bytes_max) {
    const int flags = ::fcntl(descriptor(), F_GETFL);
    ::fcntl(descriptor(), F_SETFL, flags | O_NONBLOCK);
}

void Connection::receive() {
    const ssize_t count =
        ::recv(descriptor(), input_.data() + input_bytes_, input_.size() - input_bytes_, 0);
    if (count == 0) throw Failure("the broker closed the connection");
    if (must_wait(count, "receive") || count < 0) return;
    input_bytes_ += static_cast<size_t>(count);
    received_bytes_ += static_cast<uint64_t>(count);

    const size_t handled = handle({input_.data(), input_bytes_});
    if (handled == 0 && input_bytes_ == input_.size())
        throw Failure("the broker sent a frame beyond the negotiated size");
    input_bytes_ -= handled;
    std::memmove(input_.data(), input_.data() + handled, input_bytes_);
}

Flushed Connection::flush() {
    while (output_sent_ < output_.size()) {
        const ssize_t count = ::send(descriptor(), output_.data() + output_sent_,
                                     output_.size() - output_sent_, MSG_NOSIGNAL);
        if (must_wait(count, "send")) return Flushed::blocked;
        if (count > 0) output_sent_ += static_cast<size_t>(count);
    }
    output_.clear();
    output_sent_ = 0;
    return Flushed::all;
}

}  // namespace bench
