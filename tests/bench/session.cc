#include "session.h"

#include "failure.h"

namespace bench {

namespace {

constexpr uint8_t passive_bit = 1;
constexpr uint8_t durable_bit = 2;

std::string declare_arguments(const std::string& queue, uint8_t bits, const Table& arguments) {
    return Writer().u16(0).short_string(queue).u8(bits).raw(arguments.encoded()).bytes();
}

std::string consume_arguments(const std::string& queue) {
    return Writer()
        .u16(0)
        .short_string(queue)
        .short_string("")
        .u8(0)
        .raw(Table().encoded())
        .bytes();
}

}  // namespace

Session::Session(const Endpoint& endpoint) : socket_(endpoint) {
    Handshake handshake(endpoint.login);
    socket_.send(Handshake::greeting());
    while (!handshake.complete()) socket_.send(handshake.answer(receive()));
    frame_bytes_max_ = handshake.frame_bytes_max();
}

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
    call(basic_consume, consume_arguments(queue), basic_consume_ok);
}

Frame Session::receive() {
    frame_bytes_.clear();
    socket_.receive(frame_bytes_, frame_head_bytes);
    socket_.receive(frame_bytes_, load_u32(frame_bytes_.data() + 3) + 1);
    return *next_frame(frame_bytes_);
}

std::string Session::call(MethodId id, std::string_view arguments, MethodId expected) {
    socket_.send(method_frame(1, id, arguments));
    while (true) {
        const Frame frame = receive();
        if (frame.type != FrameType::method) continue;
        if (frame.method() == expected) return std::string(frame.arguments());
        if (frame.method() == connection_close || frame.method() == channel_close) {
            throw Failure("refused: " + close_reason(frame.arguments()));
        }
    }
}

std::string consume_question(const std::string& queue) {
    return method_frame(1, basic_consume, consume_arguments(queue));
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
