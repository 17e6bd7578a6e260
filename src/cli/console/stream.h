// Stream: a connection to a node, TCP or TLS, that gives up when its time is over.
#pragma once

#include "base/result.h"

#include <openssl/ssl.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace revenant::cli {

// Why there is no answer.
struct NoResponse {
    enum class Reason : std::uint8_t { unreachable, timeout };
    Reason reason = Reason::unreachable;
    std::string text;
};

// Who may sign the certificate of a node.
struct Trust {
    std::string ca_file;  // empty: whom the system trusts
    bool verifies = true;
};

class Stream {
  public:
    static Result<Stream, NoResponse> connect(const std::string& host, const std::string& port,
                                              double timeout_seconds);
    // The certificate has to be that of the host.
    Result<void, NoResponse> start_tls(const std::string& host, const Trust& trust);

    Result<void, NoResponse> write_all(std::string_view bytes);
    // Everything until the other end closes.
    Result<std::string, NoResponse> read_all();

  private:
    using Deadline = std::chrono::steady_clock::time_point;

    class Socket {
      public:
        explicit Socket(int descriptor) : descriptor_(descriptor) {}
        ~Socket();
        Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
        Socket(const Socket&) = delete;
        Socket& operator=(const Socket&) = delete;
        Socket& operator=(Socket&&) = delete;
        int get() const { return descriptor_; }

      private:
        int descriptor_;
    };
    struct FreeSsl {
        void operator()(SSL* connection) const { SSL_free(connection); }
    };
    // How much was done; 0 is the end. What would block waits.
    using Progress = Result<std::size_t, NoResponse>;

    Stream(Socket socket, Deadline deadline) : socket_(std::move(socket)), deadline_(deadline) {}

    Progress write_some(std::string_view bytes);
    Progress read_some(std::string& buffer);
    // What OpenSSL wants before it goes on, or why it cannot.
    Result<void, NoResponse> wait_for_tls(int result);
    Result<void, NoResponse> wait(short events) const;

    Socket socket_;
    Deadline deadline_;
    std::unique_ptr<SSL, FreeSsl> tls_;  // absent: plain TCP
};

}  // namespace revenant::cli
