#include "handshake.h"

#include "failure.h"

#include <algorithm>

namespace bench {

namespace {

constexpr uint32_t wanted_frame_bytes_max = 131072;

}  // namespace

std::string Handshake::answer(const Frame& frame) {
    if (frame.type == FrameType::heartbeat) return {};
    if (frame.type != FrameType::method)
        throw Failure("the broker sent content before the channel was open");
    const MethodId id = frame.method();
    if (id == connection_start) return start_ok();
    if (id == connection_tune) return tune_ok_and_open(frame.arguments());
    if (id == connection_open_ok)
        return method_frame(1, channel_open, Writer().short_string("").bytes());
    if (id == channel_open_ok) {
        complete_ = true;
        return {};
    }
    if (id == connection_close) throw Failure("login refused: " + close_reason(frame.arguments()));
    throw Failure("unexpected method " + std::to_string(id.class_id) + "." +
                  std::to_string(id.method_id) + " in the handshake");
}

std::string Handshake::start_ok() const {
    Table capabilities;
    capabilities.boolean("publisher_confirms", true).boolean("basic.nack", true);
    capabilities.boolean("consumer_cancel_notify", true)
        .boolean("authentication_failure_close", true);
    Table properties;
    properties.text("product", "bench_load").table("capabilities", capabilities);
    std::string response(1, '\0');
    response.append(login_.user).push_back('\0');
    response.append(login_.password);
    Writer arguments;
    arguments.raw(properties.encoded())
        .short_string("PLAIN")
        .long_string(response)
        .short_string("en_US");
    return method_frame(0, connection_start_ok, arguments.bytes());
}

std::string Handshake::tune_ok_and_open(std::string_view tune) {
    if (tune.size() < 8) throw Failure("the broker sent a short connection.tune");
    const uint16_t channel_max = load_u16(tune.data());
    const uint32_t offered = load_u32(tune.data() + 2);
    frame_bytes_max_ =
        offered == 0 ? wanted_frame_bytes_max : std::min(offered, wanted_frame_bytes_max);
    // Disables heartbeats: a load generator may be busy for seconds and must not be considered
    // dead.
    Writer tune_ok;
    tune_ok.u16(channel_max).u32(frame_bytes_max_).u16(0);
    Writer open;
    open.short_string(login_.vhost).short_string("").u8(0);
    return method_frame(0, connection_tune_ok, tune_ok.bytes()) +
           method_frame(0, connection_open, open.bytes());
}

}  // namespace bench
