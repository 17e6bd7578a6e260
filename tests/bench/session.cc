#include "session.h"

#include "failure.h"

#include <unistd.h>

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <utility>

namespace bench {

namespace {

constexpr uint8_t passive_bit = 1;
constexpr uint8_t durable_bit = 2;

int connect_to(const Endpoint& endpoint) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(endpoint.port);
    if (inet_pton(AF_INET, endpoint.host.c_str(), &address.sin_addr) != 1) {
        throw Failure("--host takes an IPv4 address");
    }
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) throw Failure(std::string("socket: ") + std::strerror(errno));
    const timeval patience{endpoint.timeout.count(), 0};
    ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    const int on = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        const std::string reason = std::strerror(errno);
        ::close(descriptor);
        throw Failure("connect: " + reason);
    }
    return descriptor;
}

std::string declare_arguments(const std::string& queue, uint8_t bits, const Table& arguments) {
    return Writer().u16(0).short_string(queue).u8(bits).raw(arguments.encoded()).bytes();
}

}  // namespace

Session::Session(const Endpoint& endpoint) : descriptor_(connect_to(endpoint)) {
    Handshake handshake(endpoint.login);
    send(Handshake::greeting());
    while (!handshake.complete()) send(handshake.answer(receive()));
    frame_bytes_max_ = handshake.frame_bytes_max();
}

Session::~Session() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

Session::Session(Session&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      frame_bytes_max_(other.frame_bytes_max_),
      frame_bytes_(std::move(other.frame_bytes_)) {}

void Session::declare_exchange(const std::string& name, const std::string& type) {
    Writer arguments;
    arguments.u16(0).short_string(name).short_string(type).u8(durable_bit).raw(Table().encoded());
    call(exchange_declare, arguments.bytes(), exchange_declare_ok);
}

void Session::declare_queue(const std::string& name, Durability durability,
                            const Table& arguments) {
    const uint8_t bits = durability == Durability::durable ? durable_bit : 0;
    call(queue_declare, declare_arguments(name, bits, arguments), queue_declare_ok);
}

void Session::bind_queue(const std::string& queue, const std::string& exchange,
                         const std::string& key) {
    Writer arguments;
    arguments.u16(0).short_string(queue).short_string(exchange).short_string(key).u8(0);
    arguments.raw(Table().encoded());
    call(queue_bind, arguments.bytes(), queue_bind_ok);
}

void Session::delete_queue(const std::string& name) {
    call(queue_delete, Writer().u16(0).short_string(name).u8(0).bytes(), queue_delete_ok);
}

uint64_t Session::queue_depth(const std::string& name) {
    return depth_answer(
        call(queue_declare, declare_arguments(name, passive_bit, {}), queue_declare_ok));
}

void Session::select_confirms() { call(confirm_select, Writer().u8(0).bytes(), confirm_select_ok); }

void Session::set_prefetch(uint16_t count) {
    call(basic_qos, Writer().u32(0).u16(count).u8(0).bytes(), basic_qos_ok);
}

void Session::consume(const std::string& queue) {
    Writer arguments;
    arguments.u16(0).short_string(queue).short_string("").u8(0).raw(Table().encoded());
    call(basic_consume, arguments.bytes(), basic_consume_ok);
}

void Session::send(std::string_view bytes) const {
    while (!bytes.empty()) {
        const ssize_t count = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) throw Failure(std::string("send: ") + std::strerror(errno));
        bytes.remove_prefix(static_cast<size_t>(count));
    }
}

Frame Session::receive() {
    const auto fill = [this](size_t from, size_t size) {
        frame_bytes_.resize(from + size);
        while (size > 0) {
            const ssize_t count =
                ::recv(descriptor_, frame_bytes_.data() + from, size, MSG_WAITALL);
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) throw Failure(std::string("no answer: ") + std::strerror(errno));
            if (count == 0) throw Failure("the broker closed the connection");
            from += static_cast<size_t>(count);
            size -= static_cast<size_t>(count);
        }
    };
    fill(0, frame_head_bytes);
    fill(frame_head_bytes, load_u32(frame_bytes_.data() + 3) + 1);
    return *next_frame(frame_bytes_);
}

std::string Session::call(MethodId id, std::string_view arguments, MethodId expected) {
    send(method_frame(1, id, arguments));
    while (true) {
        const Frame frame = receive();
        if (frame.type != FrameType::method) continue;
        if (frame.method() == expected) return std::string(frame.arguments());
        if (frame.method() == connection_close || frame.method() == channel_close) {
            throw Failure("refused: " + close_reason(frame.arguments()));
        }
    }
}

std::string depth_question(const std::string& queue) {
    return method_frame(1, queue_declare, declare_arguments(queue, passive_bit, {}));
}

uint64_t depth_answer(std::string_view arguments) {
    if (arguments.empty()) throw Failure("the broker sent a short queue.declare-ok");
    const size_t name_bytes = static_cast<uint8_t>(arguments[0]);
    if (arguments.size() < 1 + name_bytes + 8)
        throw Failure("the broker sent a short queue.declare-ok");
    return load_u32(arguments.data() + 1 + name_bytes);
}

}  // namespace bench
