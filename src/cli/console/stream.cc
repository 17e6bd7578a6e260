#include "cli/console/stream.h"

#include "tls/failure.h"

#include <netdb.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/socket.h>

namespace revenant::cli {
namespace {

constexpr std::size_t reply_bytes_max = 1U << 30;
constexpr std::size_t read_bytes = 64 * 1024;

Unexpected<NoResponse> unreachable(std::string text) {
    return Unexpected{NoResponse{NoResponse::Reason::unreachable, std::move(text)}};
}

Unexpected<NoResponse> failed_call() { return unreachable(std::strerror(errno)); }

// A server may refuse a request before it has read the body. Its response can still be read.
bool peer_stopped_reading() { return errno == EPIPE || errno == ECONNRESET; }

bool would_block() { return errno == EAGAIN || errno == EINTR; }

// OpenSSL writes without MSG_NOSIGNAL. The signal stays enabled elsewhere, because it ends
// `revenantctl … | head`.
class IgnoreSigpipe {
  public:
    IgnoreSigpipe() : before_(std::signal(SIGPIPE, SIG_IGN)) {}
    ~IgnoreSigpipe() { std::signal(SIGPIPE, before_); }
    IgnoreSigpipe(const IgnoreSigpipe&) = delete;
    IgnoreSigpipe& operator=(const IgnoreSigpipe&) = delete;

  private:
    void (*before_)(int);
};

bool is_address(const std::string& host) {
    std::array<unsigned char, sizeof(in6_addr)> address{};
    return inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
           inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

using TlsRules = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

Result<TlsRules, NoResponse> make_rules(const Trust& trust) {
    TlsRules rules(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free);
    if (!rules) return unreachable(tls::last_failure());
    SSL_CTX_set_min_proto_version(rules.get(), TLS1_2_VERSION);
    // parse_reply() detects a truncated response by its Content-Length.
    SSL_CTX_set_options(rules.get(), SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(rules.get(), SSL_MODE_ENABLE_PARTIAL_WRITE);
    if (!trust.verifies) return rules;
    SSL_CTX_set_verify(rules.get(), SSL_VERIFY_PEER, nullptr);
    const int loaded = trust.ca_file.empty() ? SSL_CTX_set_default_verify_paths(rules.get())
                                             : SSL_CTX_load_verify_locations(
                                                   rules.get(), trust.ca_file.c_str(), nullptr);
    if (loaded == 1) return rules;
    return unreachable("cannot read certificates from " + trust.ca_file + ": " +
                       tls::last_failure());
}

bool expect_host(SSL* connection, const std::string& host) {
    if (is_address(host)) {
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection), host.c_str()) == 1;
    }
    return SSL_set1_host(connection, host.c_str()) == 1 &&
           SSL_ctrl(connection, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                    const_cast<char*>(host.c_str())) == 1;
}

}  // namespace

Stream::Socket::~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

Result<Stream, NoResponse> Stream::connect(const std::string& host, const std::string& port,
                                           double timeout_seconds) {
    const Deadline deadline =
        std::chrono::steady_clock::now() +  // tidy-allow: banned-word: a client's patience
        std::chrono::duration_cast<Deadline::duration>(
            std::chrono::duration<double>(timeout_seconds));
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0) {
        return unreachable(gai_strerror(error));
    }
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, &freeaddrinfo);
    NoResponse silence{NoResponse::Reason::unreachable, "no address"};
    for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
        constexpr int kind = SOCK_CLOEXEC | SOCK_NONBLOCK;
        Socket socket(::socket(one->ai_family, one->ai_socktype | kind, one->ai_protocol));
        if (socket.get() < 0) continue;
        const int begun = ::connect(socket.get(), one->ai_addr, one->ai_addrlen);
        if (begun != 0 && errno != EINPROGRESS) {
            silence = failed_call().error;
            continue;
        }
        Stream stream(std::move(socket), deadline);
        if (const auto ready = stream.wait(POLLOUT); !ready) return Unexpected{ready.error()};
        int error = 0;
        socklen_t size = sizeof error;
        ::getsockopt(stream.socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
        if (error == 0) return stream;
        silence = {NoResponse::Reason::unreachable, std::strerror(error)};
    }
    return Unexpected{silence};
}

Result<void, NoResponse> Stream::start_tls(const std::string& host, const Trust& trust) {
    REVENANT_TRY(const TlsRules rules, make_rules(trust));
    tls_.reset(SSL_new(rules.get()));
    if (!tls_ || SSL_set_fd(tls_.get(), socket_.get()) != 1 || !expect_host(tls_.get(), host)) {
        return unreachable(tls::last_failure());
    }
    const IgnoreSigpipe no_signal;
    while (true) {
        const int result = SSL_connect(tls_.get());
        if (result == 1) return {};
        REVENANT_TRY_VOID(wait_for_tls(result));
    }
}

Result<void, NoResponse> Stream::wait_for_tls(int result) {
    switch (SSL_get_error(tls_.get(), result)) {
        case SSL_ERROR_WANT_READ:
            return wait(POLLIN);
        case SSL_ERROR_WANT_WRITE:
            return wait(POLLOUT);
        case SSL_ERROR_ZERO_RETURN:
            return unreachable("the connection was closed");
        case SSL_ERROR_SYSCALL:
            return errno == 0 ? unreachable("the connection was closed") : failed_call();
        default:
            break;
    }
    const long verdict = SSL_get_verify_result(tls_.get());
    const std::string reason = tls::last_failure();
    if (verdict == X509_V_OK) return unreachable(reason);
    return unreachable("the node's certificate is not trusted: " +
                       std::string(X509_verify_cert_error_string(verdict)) +
                       " (use --cacert FILE to name the CA, or --insecure to skip verification)");
}

Result<void, NoResponse> Stream::wait(short events) const {
    while (true) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(
            deadline_ - std::chrono::steady_clock::now());  // tidy-allow: banned-word: the same
        pollfd one{socket_.get(), events, 0};
        const int ready = ::poll(&one, 1, static_cast<int>(std::max<long>(left.count(), 0)));
        if (ready > 0) return {};
        if (ready < 0 && errno != EINTR) return failed_call();
        if (ready == 0 && left.count() <= 0) {
            return Unexpected{NoResponse{NoResponse::Reason::timeout, "timeout"}};
        }
    }
}

Stream::Progress Stream::write_some(std::string_view bytes) {
    while (true) {
        if (tls_) {
            std::size_t count = 0;
            const IgnoreSigpipe no_signal;
            const int result = SSL_write_ex(tls_.get(), bytes.data(), bytes.size(), &count);
            if (result == 1) return count;
            const int error = SSL_get_error(tls_.get(), result);
            if (error == SSL_ERROR_SYSCALL && peer_stopped_reading()) return std::size_t{0};
            REVENANT_TRY_VOID(wait_for_tls(result));
            continue;
        }
        const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count >= 0) return static_cast<std::size_t>(count);
        if (peer_stopped_reading()) return std::size_t{0};
        if (!would_block()) return failed_call();
        REVENANT_TRY_VOID(wait(POLLOUT));
    }
}

Result<void, NoResponse> Stream::write_all(std::string_view bytes) {
    while (!bytes.empty()) {
        REVENANT_TRY(const std::size_t count, write_some(bytes));
        if (count == 0) return {};
        bytes.remove_prefix(count);
    }
    return {};
}

Stream::Progress Stream::read_some(std::string& buffer) {
    while (true) {
        if (tls_) {
            std::size_t count = 0;
            const IgnoreSigpipe no_signal;
            const int result = SSL_read_ex(tls_.get(), buffer.data(), buffer.size(), &count);
            if (result == 1) return count;
            if (SSL_get_error(tls_.get(), result) == SSL_ERROR_ZERO_RETURN) return std::size_t{0};
            REVENANT_TRY_VOID(wait_for_tls(result));
            continue;
        }
        const ssize_t count = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
        if (count >= 0) return static_cast<std::size_t>(count);
        if (!would_block()) return failed_call();
        REVENANT_TRY_VOID(wait(POLLIN));
    }
}

Result<std::string, NoResponse> Stream::read_all() {
    std::string all;
    std::string buffer(read_bytes, '\0');
    while (true) {
        REVENANT_TRY(const std::size_t count, read_some(buffer));
        if (count == 0) return all;
        all.append(buffer, 0, count);
        if (all.size() > reply_bytes_max) return unreachable("response too large");
    }
}

}  // namespace revenant::cli
