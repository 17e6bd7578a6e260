// Stream: a TCP or TLS connection to a node, with a deadline for all its operations.
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

struct NoResponse {
    enum class Reason : std::uint8_t { unreachable, timeout };
    Reason reason = Reason::unreachable;
    std::string text;
};

// How the certificate of a node is verified.
struct Trust {
    std::string ca_file;  // empty: the system's CA certificates
    bool verifies = true;
};

class Stream {
  public:
    static Result<Stream, NoResponse> connect(const std::string& host, const std::string& port,
                                              double timeout_seconds);
    // Fails unless the certificate is valid for the host or verification is off.
    Result<void, NoResponse> start_tls(const std::string& host, const Trust& trust);

    Result<void, NoResponse> write_all(std::string_view bytes);
    // Reads until the peer closes the connection.
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
    // The number of bytes transferred; 0 at the end of the stream. Waits instead of blocking.
    using Progress = Result<std::size_t, NoResponse>;

    Stream(Socket socket, Deadline deadline) : socket_(std::move(socket)), deadline_(deadline) {}

    Progress write_some(std::string_view bytes);
    Progress read_some(std::string& buffer);
    // Waits for the event that OpenSSL needs to continue, or fails.
    Result<void, NoResponse> wait_for_tls(int result);
    Result<void, NoResponse> wait(short events) const;

    Socket socket_;
    Deadline deadline_;
    std::unique_ptr<SSL, FreeSsl> tls_;  // absent: plain TCP
};

}  // namespace revenant::cli
