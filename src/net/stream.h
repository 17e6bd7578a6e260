// Stream: what the bytes of a socket go through: TCP itself, or TLS over it. Never waits.
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
    // Takes a part of these, in order; what was not taken is offered again, first.
    virtual Outcome write(std::span<const std::string_view> parts) = 0;
    // The end is near: says goodbye as far as the peer lets us.
    virtual void close_notify() {}

    // There are bytes to read of which the descriptor does not tell.
    virtual bool has_buffered() const { return false; }
    // A read goes on only when the descriptor can be written.
    virtual bool read_waits_for_write() const { return false; }

    virtual std::optional<tls::TlsView> tls() const { return std::nullopt; }
    virtual std::optional<std::string> certificate_user() const { return std::nullopt; }
};

std::unique_ptr<Stream> plain_stream(int descriptor);
std::unique_ptr<Stream> tls_stream(int descriptor, std::shared_ptr<const tls::TlsContext> context,
                                   const tls::CertificateLogin& login);

}  // namespace revenant::net
