#include "cli/client.h"

#include "base/base64.h"

#include <boost/json/parse.hpp>
#include <netdb.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <sys/socket.h>
#include <sys/time.h>

namespace revenant::cli {
namespace {

constexpr std::size_t reply_bytes_max = 1U << 30;

class Socket {
  public:
    explicit Socket(int descriptor) : descriptor_(descriptor) {}
    ~Socket() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    Socket& operator=(Socket&&) = delete;
    int get() const { return descriptor_; }

  private:
    int descriptor_;
};

std::string system_error() {
    // What the time limit of a socket is called by the system tells nobody anything.
    if (errno == EAGAIN || errno == EINPROGRESS) return "timeout";
    return std::strerror(errno);
}

timeval time_limit(double seconds) {
    timeval limit{};
    limit.tv_sec = static_cast<time_t>(std::floor(seconds));
    limit.tv_usec = static_cast<suseconds_t>((seconds - std::floor(seconds)) * 1e6);
    if (limit.tv_sec == 0 && limit.tv_usec == 0) limit.tv_usec = 1;  // zero would mean for ever
    return limit;
}

Result<Socket, std::string> connect(const std::string& host, const std::string& port,
                                    double timeout_seconds) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0) {
        return Unexpected{std::string(gai_strerror(error))};
    }
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, &freeaddrinfo);
    std::string reason = "no address";
    const timeval limit = time_limit(timeout_seconds);
    for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
        Socket socket(::socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol));
        if (socket.get() < 0) continue;
        setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        if (::connect(socket.get(), one->ai_addr, one->ai_addrlen) == 0) return socket;
        reason = system_error();
    }
    return Unexpected{reason};
}

Result<void, std::string> write_all(const Socket& socket, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        // A server may refuse in the middle of a body; its answer is already on its way.
        if (count < 0 && (errno == EPIPE || errno == ECONNRESET)) return {};
        if (count < 0) return Unexpected{system_error()};
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
}

Result<std::string, std::string> read_all(const Socket& socket) {
    std::string all;
    std::string buffer(64 * 1024, '\0');
    while (true) {
        const ssize_t count = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
        if (count < 0) return Unexpected{system_error()};
        if (count == 0) return all;
        all.append(buffer, 0, static_cast<std::size_t>(count));
        if (all.size() > reply_bytes_max) return Unexpected{std::string("the answer is too long")};
    }
}

// "HTTP/1.1 200 OK", headers, an empty line, the body.
Result<Reply, std::string> parse_reply(const std::string& text) {
    constexpr std::string_view protocol = "HTTP/1.";
    const std::size_t end_of_headers = text.find("\r\n\r\n");
    Reply reply;
    if (!text.starts_with(protocol) || end_of_headers == std::string::npos || text.size() < 12) {
        return Unexpected{
            std::string(text.empty() ? "the connection was closed" : "the answer is not HTTP")};
    }
    std::from_chars(text.data() + 9, text.data() + 12, reply.status);
    if (reply.status < 200) return parse_reply(text.substr(end_of_headers + 4));
    reply.body = text.substr(end_of_headers + 4);
    return reply;
}

}  // namespace

boost::json::value Reply::json() const {
    boost::system::error_code error;
    boost::json::value value = boost::json::parse(body, error);
    return error ? boost::json::value(nullptr) : value;
}

std::string Reply::reason() const {
    const boost::json::value value = json();
    if (value.is_object()) {
        if (const auto* const reason = value.get_object().if_contains("reason")) {
            return reason->is_string() ? std::string(reason->get_string()) : body;
        }
    }
    return "HTTP status " + std::to_string(status);
}

Result<Client, std::string> Client::make(const ClientSettings& settings) {
    constexpr std::string_view scheme = "http://";
    std::string_view rest = settings.url;
    if (!rest.starts_with(scheme)) return Unexpected{"not an http:// URL: " + settings.url};
    rest.remove_prefix(scheme.size());
    Client client(settings);
    const std::size_t slash = rest.find('/');
    if (slash != std::string_view::npos) client.prefix_ = rest.substr(slash);
    while (client.prefix_.ends_with('/')) client.prefix_.pop_back();
    rest = rest.substr(0, slash);
    // [::1]:15672
    const std::size_t bracket = rest.starts_with('[') ? rest.find(']') : std::string_view::npos;
    const std::size_t colon = rest.find(':', bracket == std::string_view::npos ? 0 : bracket);
    client.host_ = rest.substr(0, colon);
    if (bracket != std::string_view::npos) client.host_ = rest.substr(1, bracket - 1);
    client.port_ = colon == std::string_view::npos ? "15672" : std::string(rest.substr(colon + 1));
    if (client.host_.empty() || client.port_.empty()) {
        return Unexpected{"not a URL with a host: " + settings.url};
    }
    return client;
}

std::optional<std::string> Client::try_connect(const std::string& host, const std::string& port,
                                               double timeout_seconds) {
    const auto socket = connect(host, port, timeout_seconds);
    if (socket) return std::nullopt;
    return socket.error();
}

Client Client::as(std::string user, std::string password) const {
    Client other = *this;
    other.settings_.user = std::move(user);
    other.settings_.password = std::move(password);
    return other;
}

Result<Reply, std::string> Client::send(std::string_view method, const std::string& path,
                                        const std::string& body, const Headers& headers) const {
    std::string request(method);
    request += " " + prefix_ + "/api" + path + " HTTP/1.1\r\nHost: " + host_ + ":" + port_ +
               "\r\nConnection: close\r\nAuthorization: Basic " +
               base64_encode(settings_.user + ":" + settings_.password) + "\r\n";
    for (const auto& [name, value] : headers) {
        request.append(name).append(": ").append(value).append("\r\n");
    }
    if (!body.empty()) request += "Content-Type: application/json\r\n";
    request += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    REVENANT_TRY(const Socket socket, connect(host_, port_, settings_.timeout_seconds));
    REVENANT_TRY_VOID(write_all(socket, request));
    REVENANT_TRY(const std::string text, read_all(socket));
    return parse_reply(text);
}

std::string escape(std::string_view name) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~";
    std::string escaped;
    for (const char c : name) {
        if (plain.find(c) != std::string_view::npos) {
            escaped += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            escaped += '%';
            escaped += digits[byte >> 4];
            escaped += digits[byte & 15];
        }
    }
    return escaped;
}

}  // namespace revenant::cli
