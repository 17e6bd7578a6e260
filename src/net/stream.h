// Stream: plain TCP, or TLS over TCP. Never blocks.
#pragma once

#include "tls/context.h"
#include "tls/peer.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace revenant::net {

class Stream {
  public:
    enum class State : std::uint8_t { open, waiting, gone };
    struct Outcome {
        std::size_t bytes = 0;
        State state = State::open;
    };

    virtual ~Stream() = default;
    virtual Outcome read(std::span<char> into) = 0;
    // Takes some of the bytes, in order. The caller offers the rest again, first.
    virtual Outcome write(std::span<const std::string_view> parts) = 0;
    // Called before the socket closes. Sends a TLS close_notify if possible.
    virtual void close_notify() {}

    // Whether there are bytes to read that the descriptor does not report.
    virtual bool has_buffered() const { return false; }
    // Whether a read can continue only when the descriptor is writable.
    virtual bool read_waits_for_write() const { return false; }

    virtual std::optional<tls::TlsView> tls() const { return std::nullopt; }
    virtual std::optional<std::string> certificate_user() const { return std::nullopt; }
};

std::unique_ptr<Stream> plain_stream(int descriptor);
std::unique_ptr<Stream> tls_stream(int descriptor, std::shared_ptr<const tls::TlsContext> context,
                                   const tls::CertificateLogin& login);

}  // namespace revenant::net
