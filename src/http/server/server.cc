#include "http/server/server.h"

#include "http/server/ascii_text.h"
#include "http/server/idle_connections.h"
#include "runtime/descriptors.h"
#include "runtime/thread_priority.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace revenant::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t buffer_bytes_max = 128 * 1024;
constexpr std::size_t first_read_bytes = 8 * 1024;
// Bytes that a client may still send after its response before the connection is closed.
constexpr std::size_t drained_bytes_max = 64 * 1024 * 1024;
constexpr auto drain_timeout = std::chrono::seconds(5);
constexpr auto accept_pause = std::chrono::milliseconds(100);
constexpr std::string_view continue_line = "HTTP/1.1 100 Continue\r\n\r\n";

std::chrono::microseconds chrono(Duration duration) {
    return std::chrono::microseconds(duration.us);
}

bool is_loopback(const asio::ip::address& address) {
    if (address.is_loopback()) return true;
    return address.is_v6() && address.to_v6().is_v4_mapped() &&
           asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).is_loopback();
}

Response refusal(unsigned status, std::string body) {
    Response response;
    response.status = status;
    response.body = std::move(body);
    return response;
}

// The response to a request that is not valid HTTP. The responder is not called.
Response broken_request(const error_code& error) {
    namespace h = beast::http;
    if (error == h::error::body_limit) {
        return refusal(
            400, R"({"error":"bad_request","reason":"Exceeded HTTP request body size limit"})");
    }
    if (error == h::error::header_limit || error == h::error::buffer_overflow) {
        return refusal(431,
                       R"({"error":"bad_request","reason":"Request header fields too large"})");
    }
    return refusal(400, R"({"error":"bad_request","reason":"malformed HTTP request"})");
}

bool is_broken_request(const error_code& error) {
    return error.category() ==
               beast::http::make_error_code(beast::http::error::body_limit).category() &&
           error != beast::http::error::end_of_stream &&
           error != beast::http::error::partial_message;
}

}  // namespace

class Server::Core {
  public:
    explicit Core(const ServerSettings& settings)
        : settings_(settings),
          acceptor_(asio::make_strand(io_)),
          pause_(acceptor_.get_executor()) {}

    error_code listen();
    void start(Responder& responder);
    void stop();
    std::uint16_t port() const { return port_; }

    const ServerSettings& settings() const { return settings_; }
    Responder& responder() { return *responder_; }

    // False if large bodies already use too much memory.
    bool reserve(std::uint64_t bytes) {
        if (large_bytes_.fetch_add(bytes) + bytes <= settings_.large_bodies_bytes_max) return true;
        large_bytes_.fetch_sub(bytes);
        return false;
    }
    void give_back(std::uint64_t bytes) { large_bytes_.fetch_sub(bytes); }
    void session_ended() { sessions_.fetch_sub(1); }
    IdleConnections& line() { return line_; }

  private:
    void accept();
    bool find_place();

    const ServerSettings settings_;
    Responder* responder_ = nullptr;
    std::atomic<std::size_t> sessions_{0};
    std::atomic<std::uint64_t> large_bytes_{0};
    IdleConnections line_;
    asio::io_context io_;
    tcp::acceptor acceptor_;
    asio::steady_timer pause_;
    std::uint16_t port_ = 0;
    std::vector<std::thread> threads_;

    template <typename Stream>
    class Session;
    void serve(tcp::socket socket);
};

namespace {

using PlainStream = beast::tcp_stream;
using TlsStream = beast::ssl_stream<beast::tcp_stream>;

}  // namespace

// One connection. For each request: wait for the first byte, read the header, optionally refuse,
// read the body, respond.
template <typename Stream>
class Server::Core::Session final : public std::enable_shared_from_this<Session<Stream>>,
                                    public IdleConnections::Member {
  public:
    // `arguments` are passed to the stream after the socket.
    template <typename... Arguments>
    Session(Core& core, tcp::socket socket, Arguments&&... arguments)
        : core_(core), stream_(std::move(socket), std::forward<Arguments>(arguments)...) {
        error_code error;
        const auto peer = this->socket().remote_endpoint(error);
        from_loopback_ = !error && is_loopback(peer.address());
        if (!error) peer_address_ = peer.address().to_string();
        this->socket().set_option(tcp::no_delay(true), error);
    }
    ~Session() override {
        release_large();
        // An evicted session has passed its slot to the new connection.
        if (core_.line().leave(*this)) core_.session_ended();
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    void start() {
        asio::dispatch(stream_.get_executor(),
                       [self = this->shared_from_this()] { self->begin(); });
    }
    std::shared_ptr<IdleConnections::Member> hold() override {
        return this->weak_from_this().lock();
    }
    void evict() override {
        asio::post(stream_.get_executor(), [self = this->shared_from_this()] {
            beast::get_lowest_layer(self->stream_).close();
        });
    }
    // Keeps the context that the TLS stream refers to alive.
    void keep(std::shared_ptr<asio::ssl::context> context) { context_ = std::move(context); }

  private:
    using Parser = beast::http::request_parser<beast::http::string_body>;
    static constexpr bool is_tls = std::is_same_v<Stream, TlsStream>;

    tcp::socket& socket() { return beast::get_lowest_layer(stream_).socket(); }
    void expire_after(Duration duration) {
        beast::get_lowest_layer(stream_).expires_after(chrono(duration));
    }

    void begin() {
        core_.line().enter(*this);
        if constexpr (is_tls) {
            expire_after(core_.settings().header_timeout);
            stream_.async_handshake(asio::ssl::stream_base::server,
                                    [self = this->shared_from_this()](error_code error) {
                                        if (!error) self->await_request();
                                    });
        } else {
            await_request();
        }
    }

    // A new connection must send its first request within header_timeout, later ones within
    // idle_timeout.
    void await_request() {
        core_.line().enter(*this);
        release_large();
        parser_.emplace();
        parser_->header_limit(core_.settings().header_bytes_max);
        parser_->body_limit(core_.settings().body_bytes_max);
        expire_after(answered_ ? core_.settings().idle_timeout : core_.settings().header_timeout);
        if (buffer_.size() > 0) return read_header();
        stream_.async_read_some(
            buffer_.prepare(first_read_bytes),
            [self = this->shared_from_this()](error_code error, std::size_t bytes) {
                if (error) return;
                self->buffer_.commit(bytes);
                self->read_header();
            });
    }

    void read_header() {
        core_.line().enter(*this);
        expire_after(core_.settings().header_timeout);
        beast::http::async_read_header(
            stream_, buffer_, *parser_,
            [self = this->shared_from_this()](error_code error, std::size_t) {
                self->on_header(error);
            });
    }

    void on_header(error_code error) {
        if (error) return on_read_error(error);
        take_header();
        if (parser_->is_done()) return answer();
        const auto announced = parser_->content_length();
        const std::uint64_t bytes = announced ? *announced : core_.settings().body_bytes_max;
        if (bytes > core_.settings().small_body_bytes_max) {
            if (auto refused = core_.responder().refuse_early(request_)) {
                return write(std::move(*refused), AfterWrite::close);
            }
            if (!core_.reserve(bytes)) {
                return write(
                    refusal(
                        503,
                        R"({"error":"service_unavailable","reason":"too many large requests"})"),
                    AfterWrite::close);
            }
            reserved_bytes_ = bytes;
            // The client is authenticated, so its connection is not evicted.
            if (!core_.line().leave(*this)) return;
        }
        expire_after(core_.settings().body_timeout);
        const std::string* const expect = request_.find_header("expect");
        if (expect == nullptr || to_lower_ascii(*expect) != "100-continue") return read_body();
        asio::async_write(stream_, asio::buffer(continue_line),
                          [self = this->shared_from_this()](error_code failed, std::size_t) {
                              if (!failed) self->read_body();
                          });
    }

    void read_body() {
        beast::http::async_read(stream_, buffer_, *parser_,
                                [self = this->shared_from_this()](error_code error, std::size_t) {
                                    if (error) return self->on_read_error(error);
                                    self->request_.body = std::move(self->parser_->get().body());
                                    self->answer();
                                });
    }

    void on_read_error(const error_code& error) {
        if (!is_broken_request(error)) return;  // disconnected or timed out
        write(broken_request(error), AfterWrite::close);
    }

    void take_header() {
        const auto& message = parser_->get();
        request_ = Request{};
        request_.method = std::string(message.method_string());
        request_.target = std::string(message.target());
        for (const auto& field : message) {
            request_.headers.push_back(
                {to_lower_ascii(field.name_string()), std::string(field.value())});
        }
        request_.from_loopback = from_loopback_;
        request_.peer_address = peer_address_;
        version_ = message.version();
        keep_alive_ = message.keep_alive();
    }

    void answer() {
        if (!core_.line().leave(*this)) return;
        const bool head = request_.method == "HEAD";
        if (head) request_.method = "GET";
        Response response;
        try {
            response = core_.responder().respond(request_);
        } catch (const std::exception& failure) {
            const auto& note = core_.settings().note_failure;
            if (note) note(request_, failure.what());
            response = refusal(500, R"({"error":"internal_error","reason":"internal error"})");
        }
        request_.body = {};
        head_ = head;
        write(std::move(response), keep_alive_ ? AfterWrite::read_next : AfterWrite::close);
    }

    enum class AfterWrite : std::uint8_t { read_next, close };

    void write(Response response, AfterWrite then) {
        if (!core_.line().leave(*this)) return;
        answered_ = true;
        namespace h = beast::http;
        answer_ = {static_cast<h::status>(response.status), version_};
        answer_.set(h::field::server, "Revenant");
        if (!response.body.empty()) answer_.set(h::field::content_type, response.content_type);
        for (const Header& header : response.headers) answer_.set(header.name, header.value);
        answer_.keep_alive(then == AfterWrite::read_next);
        // A 204 has neither a body nor a length (RFC 9110, 8.6).
        if (response.status != 204) answer_.content_length(response.body.size());
        if (!head_) answer_.body() = std::move(response.body);
        head_ = false;
        expire_after(core_.settings().write_timeout);
        serializer_.emplace(answer_);
        auto written = [self = this->shared_from_this(), then](error_code error, std::size_t) {
            if (error) return;
            if (then == AfterWrite::read_next) return self->await_request();
            self->close_gracefully();
        };
        h::async_write(stream_, *serializer_, std::move(written));
    }

    // Closing the socket while the client is sending would reset the connection, and the client
    // would lose the response.
    void close_gracefully() {
        core_.line().enter(*this);
        beast::get_lowest_layer(stream_).expires_after(drain_timeout);
        if constexpr (is_tls) {
            stream_.async_shutdown([self = this->shared_from_this()](error_code) {});
        } else {
            error_code error;
            socket().shutdown(tcp::socket::shutdown_send, error);
            if (!error) drain();
        }
    }

    void drain() {
        buffer_.clear();
        stream_.async_read_some(
            buffer_.prepare(first_read_bytes),
            [self = this->shared_from_this()](error_code error, std::size_t bytes) {
                self->drained_ += bytes;
                if (error || self->drained_ > drained_bytes_max) return;
                self->drain();
            });
    }

    void release_large() {
        if (reserved_bytes_ > 0) core_.give_back(std::exchange(reserved_bytes_, 0));
    }

    Core& core_;
    std::shared_ptr<asio::ssl::context> context_;
    Stream stream_;
    beast::flat_buffer buffer_{buffer_bytes_max};
    std::optional<Parser> parser_;
    Request request_;
    beast::http::response<beast::http::string_body> answer_;
    std::optional<beast::http::response_serializer<beast::http::string_body>> serializer_;
    std::uint64_t reserved_bytes_ = 0;
    std::size_t drained_ = 0;
    unsigned version_ = 11;
    bool keep_alive_ = false;
    bool head_ = false;
    bool answered_ = false;
    bool from_loopback_ = false;
    std::string peer_address_;
};

error_code Server::Core::listen() {
    error_code error;
    const auto address = asio::ip::make_address(settings_.address, error);
    if (error) return error;
    const tcp::endpoint endpoint(address, settings_.port);
    acceptor_.open(endpoint.protocol(), error);
    if (error) return error;
    acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    acceptor_.bind(endpoint, error);
    if (error) return error;
    acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (!error) port_ = acceptor_.local_endpoint(error).port();
    return error;
}

void Server::Core::start(Responder& responder) {
    responder_ = &responder;
    accept();
    for (unsigned i = 0; i < settings_.threads; ++i) {
        threads_.emplace_back([this] {
            runtime::lower_thread_priority();
            io_.run();
        });
    }
}

bool Server::Core::find_place() {
    if (sessions_.fetch_add(1) < settings_.connections_max) return true;
    session_ended();
    // The new connection takes the slot of the evicted one.
    return line_.evict_oldest();
}

void Server::Core::accept() {
    acceptor_.async_accept(asio::make_strand(io_), [this](error_code error, tcp::socket socket) {
        if (error == asio::error::operation_aborted) return;
        if (error) {
            // Probably out of file descriptors. Retrying immediately would be a busy loop.
            pause_.expires_after(accept_pause);
            pause_.async_wait([this](error_code stopped) {
                if (!stopped) accept();
            });
            return;
        }
        const bool spare = !runtime::is_reserved_for_files(socket.native_handle());
        if (spare && find_place()) {
            serve(std::move(socket));
        }  // else the socket closes as it goes out of scope
        accept();
    });
}

void Server::Core::serve(tcp::socket socket) {
    if (!settings_.tls) {
        return std::make_shared<Session<PlainStream>>(*this, std::move(socket))->start();
    }
    SSL_CTX* const native = settings_.tls->current()->native();
    SSL_CTX_up_ref(native);
    const auto context = std::make_shared<asio::ssl::context>(native);
    const auto session = std::make_shared<Session<TlsStream>>(*this, std::move(socket), *context);
    session->keep(context);
    session->start();
}

void Server::Core::stop() {
    io_.stop();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    error_code ignored;
    acceptor_.close(ignored);
}

Result<std::unique_ptr<Server>, std::string> Server::open(const ServerSettings& settings) {
    auto core = std::make_unique<Core>(settings);
    if (const error_code error = core->listen()) {
        return Unexpected{"cannot listen for HTTP on " + settings.address + ":" +
                          std::to_string(settings.port) + ": " + error.message()};
    }
    return std::unique_ptr<Server>(new Server(std::move(core)));
}

Server::Server(std::unique_ptr<Core> core) : core_(std::move(core)) {}
Server::~Server() { stop(); }
std::uint16_t Server::port() const { return core_->port(); }
void Server::start(Responder& responder) { core_->start(responder); }
void Server::stop() { core_->stop(); }

}  // namespace revenant::http
