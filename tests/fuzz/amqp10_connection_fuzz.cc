// AMQP 1.0 connections: arbitrary bytes, before and after a handshake, into a complete broker
// without sockets (fuzzed_connections.h).
//
// A script is a list of steps: performatives from a small vocabulary, and well-formed frames with
// random content.
#include "amqp091/connection.h"
#include "amqp10/codec/descriptors.h"
#include "amqp10/codec/frame.h"
#include "amqp10/codec/performatives.gen.h"
#include "amqp10/codec/type_writer.h"
#include "auth/password.h"
#include "catalog/catalog.h"
#include "engine/engine.h"
#include "message/value.h"
#include "pattern/pattern.h"
#include "protocol/connection.h"
#include "tests/support/frame_reader10.h"
#include "tests/support/fuzzed_connections.h"
#include "tests/support/world.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace revenant;
using namespace revenant::amqp10;
using protocol::add_world_step;
using protocol::Feed;
using protocol::Protocol;
using protocol::Step;
using protocol::World;

namespace {

using namespace std::string_literals;
using Input = protocol::FuzzInput;

constexpr std::array<std::string_view, 9> addresses = {
    "/queues/q",        "/queues/r",        "/exchanges/amq.fanout",
    "/exchanges/e/key", "/management",      "/queues/missing",
    "/exchanges/nope",  "/exchanges/a/b/c", "odd"};

template <typename Performative>
std::string framed(std::uint16_t channel, const Performative& performative,
                   std::string_view payload = {}, FrameType type = FrameType::amqp) {
    std::string frame;
    const std::size_t begin = begin_frame(frame, type, channel);
    TypeWriter out(frame);
    performative.encode(out);
    frame.append(payload);
    end_frame(frame, begin);
    return frame;
}

std::string encoded(const Datum& datum) {
    std::string bytes;
    TypeWriter(bytes).datum(datum);
    return bytes;
}

template <typename Terminus>
std::string terminus(Input& input) {
    Terminus made;
    const std::string address = encoded(Datum::string(input.one_of(addresses)));
    const std::string capability =
        encoded(Datum::symbol(input.flag() ? "temporary-queue" : "rabbitmq:volatile-queue"));
    switch (input.octet() % 8) {
        case 0:
            return {};
        case 1:
            made.dynamic = true;
            made.expiry_policy = "link-detach";
            made.capabilities = capability;
            break;
        case 2:
            break;
        default:
            made.address = address;
            break;
    }
    std::string bytes;
    TypeWriter out(bytes);
    made.encode(out);
    return bytes;
}

std::string attach(Input& input, std::uint16_t channel) {
    const std::string source = terminus<Source>(input);
    const std::string target = terminus<Target>(input);
    const std::string paired =
        encoded(Datum::map({{Datum::symbol("paired"), Datum::boolean(true)}}));
    Attach made;
    made.name = input.flag() ? "one" : "two";
    made.handle = input.octet() % 4;
    made.role = input.flag();
    made.snd_settle_mode = input.octet() % 3;
    made.rcv_settle_mode = input.octet() % 8 == 0 ? 1 : 0;
    made.source = source;
    made.target = target;
    if (!made.role || input.flag()) made.initial_delivery_count = input.octet();
    if (input.octet() % 8 == 0) made.max_message_size = input.octet() * 8;
    made.properties = paired;
    return framed(channel, made);
}

std::string section(std::uint64_t code, const Datum& content) {
    std::string bytes;
    TypeWriter out(bytes);
    out.descriptor(code);
    out.datum(content);
    return bytes;
}

std::string message(Input& input) {
    std::string bytes;
    TypeWriter out(bytes);
    const std::uint8_t chosen = input.octet();
    if ((chosen & 1) != 0) {
        Header header;
        header.durable = input.flag();
        header.ttl = input.octet();
        header.encode(out);
    }
    if ((chosen & 2) != 0) {
        bytes += section(descriptor::message_annotations,
                         Datum::map({{Datum::symbol(input.flag() ? "x-cc" : "x-a"),
                                      Datum::list({Datum::string("r")})}}));
    }
    if ((chosen & 4) != 0) {
        Properties properties;
        constexpr std::array<std::string_view, 8> verbs = {"GET", "PUT", "DELETE", "POST"};
        constexpr std::array<std::string_view, 10> paths = {"/queues/q",
                                                            "/queues/new",
                                                            "/queues/q/messages",
                                                            "/exchanges/e",
                                                            "/bindings",
                                                            "/bindings?src=e&dstq=q&key=k",
                                                            "/bindings/src=e;dstq=q;key=k;args=",
                                                            "/queues/r",
                                                            "/exchanges/e/k",
                                                            "odd"};
        properties.subject = input.one_of(verbs);
        properties.to = input.one_of(paths);
        properties.encode(out);
    }
    if ((chosen & 8) != 0) bytes += std::string(input.take(input.octet() % 32));
    if ((chosen & 16) != 0) {
        return bytes + section(descriptor::value,
                               Datum::map({{Datum::string("durable"), Datum::boolean(true)}}));
    }
    return bytes + section(descriptor::data, Datum::binary(std::string(input.octet() * 4, 'b')));
}

std::string transfer(Input& input, std::uint16_t channel) {
    Transfer made;
    made.handle = input.octet() % 4;
    if (input.octet() % 8 != 0) made.delivery_id = input.octet() % 8;
    if (input.flag()) made.settled = input.flag();
    made.more = input.octet() % 4 == 0;
    made.aborted = input.octet() % 16 == 0;
    return framed(channel, made, message(input));
}

std::string flow(Input& input, std::uint16_t channel) {
    Flow made;
    if (input.flag()) made.next_incoming_id = input.octet();
    made.incoming_window = input.flag() ? 1000 : input.octet() % 4;
    if (input.octet() % 4 != 0) made.handle = input.octet() % 4;
    made.delivery_count = input.octet() % 8;
    if (input.octet() % 4 != 0) made.link_credit = input.octet();
    made.drain = input.octet() % 4 == 0;
    made.echo = input.octet() % 4 == 0;
    return framed(channel, made);
}

std::string disposition(Input& input, std::uint16_t channel) {
    const std::string annotations =
        encoded(Datum::map({{Datum::symbol("x-why"), Datum::string("so")}}));
    std::string state;
    TypeWriter out(state);
    switch (input.octet() % 6) {
        case 0:
            Accepted{}.encode(out);
            break;
        case 1:
            Rejected{}.encode(out);
            break;
        case 2:
            Released{}.encode(out);
            break;
        case 3:
        case 4:
            Modified{.delivery_failed = input.flag(),
                     .undeliverable_here = input.flag(),
                     .message_annotations = annotations}
                .encode(out);
            break;
        default:
            break;
    }
    Disposition made;
    made.role = input.octet() % 8 != 0;
    made.first = input.octet() % 16;
    if (input.flag()) made.last = made.first + input.octet() % 16;
    made.settled = input.octet() % 4 != 0;
    made.state = state;
    return framed(channel, made);
}

std::string beginning_or_end(Input& input, std::uint16_t channel) {
    switch (input.octet() % 5) {
        case 0:
            return framed(
                channel,
                Begin{.incoming_window = input.octet(), .outgoing_window = 100, .handle_max = 3});
        case 1:
            return framed(channel, End{});
        case 2:
            return input.octet() % 8 == 0 ? framed(0, Close{}) : std::string();
        default:
            return framed(channel, Detach{.handle = input.octet() % std::uint32_t{4},
                                          .closed = input.flag()});
    }
}

// A well-formed frame with random content.
std::string any_frame(Input& input, std::uint16_t channel) {
    std::string frame;
    const std::size_t begin =
        begin_frame(frame, input.octet() % 8 == 0 ? FrameType::sasl : FrameType::amqp, channel);
    if (input.flag()) {
        TypeWriter(frame).descriptor(0x10 + input.octet() % 0x0e);
    }
    frame.append(input.take(input.octet()));
    end_frame(frame, begin);
    return frame;
}

std::string handshake(std::uint32_t frame_max) {
    std::string bytes("AMQP\x03\x01\x00\x00"s);
    SaslInit init;
    init.mechanism = "PLAIN";
    const std::string response = "\0guest\0guest"s;
    init.initial_response = response;
    bytes += framed(0, init, {}, FrameType::sasl);
    bytes += "AMQP\x00\x01\x00\x00"s;
    Open open;
    open.container_id = "fuzz";
    open.max_frame_size = frame_max;
    bytes += framed(0, open);
    for (const std::uint16_t channel : {std::uint16_t{0}, std::uint16_t{1}}) {
        bytes += framed(channel, Begin{.incoming_window = 100, .outgoing_window = 100});
    }
    return bytes;
}

std::string some_bytes(Input& input, std::uint8_t choice) {
    const auto channel = static_cast<std::uint16_t>(input.octet() % 3);
    switch (choice % 16) {
        case 0:
            return std::string(input.take(input.octet()));
        case 1:
        case 2:
            return any_frame(input, channel);
        case 3:
        case 4:
        case 5:
            return attach(input, channel);
        case 6:
        case 7:
        case 8:
            return transfer(input, channel);
        case 9:
        case 10:
            return flow(input, channel);
        case 11:
        case 12:
            return disposition(input, channel);
        default:
            return beginning_or_end(input, channel);
    }
}

std::vector<Step> script(Input& input, std::size_t steps_max) {
    std::vector<Step> steps;
    while (!input.empty() && steps.size() < steps_max) {
        const std::uint8_t choice = input.octet();
        if (choice % 16 >= 14) {
            add_world_step(input, steps);
        } else {
            const std::size_t wire = choice >> 7;
            steps.emplace_back(Feed{wire, some_bytes(input, choice)});
        }
    }
    return steps;
}

// Declares queues to send to and to receive from.
void add_topology(World& world) {
    engine::Engine& engine = world.engine();
    const ConnectionId connection{1000};
    const ChannelId channel{1001};
    engine.handle(engine::OpenConnection{connection, "guest"}, world.now());
    engine.handle(engine::OpenChannel{connection, channel}, world.now());
    for (const char* name : {"q", "r"}) {
        engine::DeclareQueue command;
        command.channel = channel;
        command.name = name;
        command.durable = true;
        if (name[0] == 'r') {
            command.arguments.push_back({"x-queue-type", Value::string("quorum")});
            command.arguments.push_back({"x-dead-letter-exchange", Value::string("")});
            command.arguments.push_back({"x-dead-letter-routing-key", Value::string("q")});
        }
        engine.handle(std::move(command), world.now());
    }
    engine.handle(engine::CloseConnection{connection}, world.now());
}

// The first client has small frames, so that messages are split.
const protocol::FuzzedProtocol amqp10_connections{
    .protocol = Protocol::amqp10,
    .prepare = add_topology,
    .handshake = [](std::size_t wire) { return handshake(wire == 0 ? 512 : 8192); },
    .script = script,
    .cut_matters = [](const std::vector<Step>&) { return false; },
    .transcript = transcript,
    .difference = difference,
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    protocol::fuzz_connections(amqp10_connections, {reinterpret_cast<const char*>(data), size});
    return 0;
}
