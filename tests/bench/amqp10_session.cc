#include "amqp10_session.h"

#include "amqp10/message/address.h"

#include <algorithm>
#include <variant>

namespace bench {

namespace amqp10 = revenant::amqp10;

namespace {

constexpr std::string_view sasl_header{"AMQP\x03\x01\x00\x00", 8};
constexpr std::string_view amqp_header{"AMQP\x00\x01\x00\x00", 8};
constexpr uint8_t unsettled = 0;
constexpr bool sending = false;
constexpr bool receiving = true;

template <typename Composite>
std::string encoded(const Composite& composite) {
    std::string bytes;
    amqp10::TypeWriter writer(bytes);
    composite.encode(writer);
    return bytes;
}

std::string encoded_address(const std::string& queue) {
    std::string bytes;
    amqp10::TypeWriter(bytes).string(amqp10::queue_address(queue));
    return bytes;
}

}  // namespace

Performed read_performative(std::string_view body) {
    amqp10::TypeReader reader(body);
    const auto code = reader.descriptor();
    const auto fields = reader.list();
    if (reader.failed() || !code || !fields) throw Failure("the broker sent a bad performative");
    return {*code, *fields, reader.rest()};
}

std::string reason_in(amqp10::Raw error) {
    if (error.empty()) return "no reason given";
    const Performed performed = read_performative(error);
    const auto fields = fields_of<amqp10::Error>(performed);
    return std::string(fields.condition) + " " + std::string(fields.description.value_or(""));
}

void check_end(const Performed& performed) {
    switch (performed.code) {
        case amqp10::Close::descriptor_code:
            throw Failure("the broker closed: " +
                          reason_in(fields_of<amqp10::Close>(performed).error));
        case amqp10::End::descriptor_code:
            throw Failure("the broker ended the session: " +
                          reason_in(fields_of<amqp10::End>(performed).error));
        case amqp10::Detach::descriptor_code:
            throw Failure("the broker detached the link: " +
                          reason_in(fields_of<amqp10::Detach>(performed).error));
        default:
            break;
    }
}

Session10::Session10(const Endpoint& endpoint) : socket_(endpoint) {
    exchange_headers(sasl_header);
    log_in(endpoint.login);
    exchange_headers(amqp_header);
    open(endpoint.login);
    begin();
}

void Session10::exchange_headers(std::string_view header) {
    socket_.send(header);
    std::string answer;
    socket_.receive(answer, header.size());
    if (answer != header) throw Failure("the broker does not speak AMQP 1.0");
}

void Session10::log_in(const Login& login) {
    wait_for<amqp10::SaslMechanisms>(amqp10::FrameType::sasl);
    const std::string response =
        std::string(1, '\0') + login.user + std::string(1, '\0') + login.password;
    amqp10::SaslInit init;
    init.mechanism = "PLAIN";
    init.initial_response = response;
    std::string frame;
    append_performative(frame, init, amqp10::FrameType::sasl);
    socket_.send(frame);
    if (wait_for<amqp10::SaslOutcome>(amqp10::FrameType::sasl).code != 0)
        throw Failure("login refused");
}

// Sets no idle time-out: a load generator may be busy for seconds and must not be sent heartbeats.
void Session10::open(const Login& login) {
    const std::string hostname = "vhost:" + login.vhost;
    amqp10::Open open;
    open.container_id = "bench_load";
    open.hostname = hostname;
    open.max_frame_size = frame10_bytes_max;
    std::string frame;
    append_performative(frame, open);
    socket_.send(frame);
    frame_bytes_max_ = std::min(frame10_bytes_max, wait_for<amqp10::Open>().max_frame_size);
}

void Session10::begin() {
    amqp10::Begin begin;
    begin.incoming_window = session_window;
    begin.outgoing_window = session_window;
    std::string frame;
    append_performative(frame, begin);
    socket_.send(frame);
    wait_for<amqp10::Begin>();
}

void Session10::attach_sender(const std::string& queue) {
    const std::string address = encoded_address(queue);
    amqp10::Target target;
    target.address = address;
    const std::string target_bytes = encoded(target);
    const std::string source_bytes = encoded(amqp10::Source{});
    amqp10::Attach wish;
    wish.name = "bench.sender";
    wish.role = sending;
    wish.source = source_bytes;
    wish.target = target_bytes;
    wish.initial_delivery_count = 0;
    attach(wish);
}

void Session10::attach_receiver(const std::string& queue) {
    const std::string address = encoded_address(queue);
    amqp10::Source source;
    source.address = address;
    const std::string source_bytes = encoded(source);
    const std::string target_bytes = encoded(amqp10::Target{});
    amqp10::Attach wish;
    wish.name = "bench.receiver";
    wish.role = receiving;
    wish.source = source_bytes;
    wish.target = target_bytes;
    attach(wish);
}

void Session10::attach(const amqp10::Attach& wish) {
    amqp10::Attach attach = wish;
    attach.handle = link_handle;
    attach.snd_settle_mode = unsettled;
    std::string frame;
    append_performative(frame, attach);
    socket_.send(frame);
    wait_for<amqp10::Attach>();
}

Performed Session10::receive(amqp10::FrameType type) {
    while (true) {
        frame_bytes_.clear();
        socket_.receive(frame_bytes_, amqp10::frame_header_bytes);
        const size_t size = amqp10::frame_size(frame_bytes_);
        if (size > frame10_bytes_max || size < frame_bytes_.size())
            throw Failure("the broker sent a frame of a bad size");
        socket_.receive(frame_bytes_, size - frame_bytes_.size());
        const auto outcome = amqp10::read_frame(frame_bytes_, frame10_bytes_max, type);
        const auto* const frame = std::get_if<amqp10::Frame>(&outcome);
        if (frame == nullptr) throw Failure("the broker sent a bad frame");
        if (!frame->body.empty()) return read_performative(frame->body);
    }
}

template <typename Performative>
Performative Session10::wait_for(amqp10::FrameType type) {
    while (true) {
        const Performed performed = receive(type);
        if (performed.code == Performative::descriptor_code)
            return fields_of<Performative>(performed);
        check_end(performed);
    }
}

}  // namespace bench
