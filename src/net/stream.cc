#include "net/stream.h"

#include <openssl/err.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <sys/socket.h>
#include <sys/uio.h>
#include <utility>

namespace revenant::net {
namespace {

constexpr std::size_t parts_max = 256;

class PlainStream final : public Stream {
  public:
    explicit PlainStream(int descriptor) : descriptor_(descriptor) {}

    Outcome read(std::span<char> into) override {
        return outcome(::recv(descriptor_, into.data(), into.size(), 0), /*zero_is_end=*/true);
    }

    Outcome write(std::span<const std::string_view> parts) override {
        std::array<iovec, parts_max> vectors;  // deliberately not initialized
        const std::size_t count = std::min(parts.size(), parts_max);
        for (std::size_t i = 0; i < count; ++i) {
            vectors[i] = {const_cast<char*>(parts[i].data()), parts[i].size()};
        }
        msghdr message{};
        message.msg_iov = vectors.data();
        message.msg_iovlen = count;
        return outcome(::sendmsg(descriptor_, &message, MSG_NOSIGNAL), /*zero_is_end=*/false);
    }

  private:
    static Outcome outcome(ssize_t count, bool zero_is_end) {
        if (count > 0) return {static_cast<std::size_t>(count), State::open};
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) return {0, State::waiting};
        return {0, count == 0 && !zero_is_end ? State::open : State::gone};
    }

    const int descriptor_;
};

// The maximum size of a TLS record. Smaller parts are combined.
constexpr std::size_t record_bytes = 16 * 1024;

class TlsStream final : public Stream {
  public:
    TlsStream(int descriptor, std::shared_ptr<const tls::TlsContext> context,
              const tls::CertificateLogin& login)
        : context_(std::move(context)),
          connection_(SSL_new(context_->native()), SSL_free),
          login_(login) {
        SSL_set_fd(connection_.get(), descriptor);
        SSL_set_accept_state(connection_.get());
    }

    Outcome read(std::span<char> into) override {
        read_waits_for_write_ = false;
        Outcome outcome;
        while (outcome.bytes < into.size()) {
            ERR_clear_error();
            const std::size_t room = std::min<std::size_t>(into.size() - outcome.bytes, INT_MAX);
            const int got =
                SSL_read(connection_.get(), into.data() + outcome.bytes, static_cast<int>(room));
            if (got <= 0) {
                outcome.state = state_after(got);
                read_waits_for_write_ = waits_for_write_;
                break;
            }
            outcome.bytes += static_cast<std::size_t>(got);
        }
        // Input before the end is processed first. The next read reports the end again.
        if (outcome.bytes > 0) outcome.state = State::open;
        return outcome;
    }

    // A record that was not accepted is retried with the same bytes, possibly more, because output
    // only grows.
    Outcome write(std::span<const std::string_view> parts) override {
        if (!SSL_is_init_finished(connection_.get())) return {0, State::waiting};
        std::array<char, record_bytes> record;
        std::string_view bytes = parts.front();
        if (bytes.size() < record_bytes && parts.size() > 1) bytes = gathered(parts, record);
        ERR_clear_error();
        const int put = SSL_write(connection_.get(), bytes.data(),
                                  static_cast<int>(std::min<std::size_t>(bytes.size(), INT_MAX)));
        if (put > 0) return {static_cast<std::size_t>(put), State::open};
        return {0, state_after(put)};
    }

    void close_notify() override {
        if (!SSL_is_init_finished(connection_.get()) || broken_) return;
        ERR_clear_error();
        SSL_shutdown(connection_.get());
        ERR_clear_error();
    }

    bool has_buffered() const override { return SSL_has_pending(connection_.get()) == 1; }
    bool read_waits_for_write() const override { return read_waits_for_write_; }

    std::optional<tls::TlsView> tls() const override { return tls::view(*connection_); }
    std::optional<std::string> certificate_user() const override {
        return tls::certificate_user(*connection_, login_);
    }

  private:
    static std::string_view gathered(std::span<const std::string_view> parts,
                                     std::array<char, record_bytes>& record) {
        std::size_t size = 0;
        for (const std::string_view part : parts) {
            const std::size_t taken = std::min(part.size(), record.size() - size);
            if (taken == 0) break;
            std::memcpy(record.data() + size, part.data(), taken);
            size += taken;
        }
        return {record.data(), size};
    }

    State state_after(int result) {
        const int error = SSL_get_error(connection_.get(), result);
        ERR_clear_error();
        waits_for_write_ = error == SSL_ERROR_WANT_WRITE;
        if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return State::waiting;
        broken_ = error != SSL_ERROR_ZERO_RETURN;
        return State::gone;
    }

    const std::shared_ptr<const tls::TlsContext> context_;
    const std::unique_ptr<SSL, void (*)(SSL*)> connection_;
    const tls::CertificateLogin login_;
    bool waits_for_write_ = false;
    bool read_waits_for_write_ = false;
    bool broken_ = false;  // nothing more may be sent
};

}  // namespace

std::unique_ptr<Stream> plain_stream(int descriptor) {
    return std::make_unique<PlainStream>(descriptor);
}

std::unique_ptr<Stream> tls_stream(int descriptor, std::shared_ptr<const tls::TlsContext> context,
                                   const tls::CertificateLogin& login) {
    return std::make_unique<TlsStream>(descriptor, std::move(context), login);
}

}  // namespace revenant::net
