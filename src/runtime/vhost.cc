#include "runtime/vhost.h"

#include "base/check.h"

#include <utility>

namespace revenant::runtime {
namespace {

// Deliveries to a far channel are sent in portions of about this size; the next portion leaves when
// the other side has passed the last one on to its socket.
constexpr std::uint64_t far_portion_bytes = 256 * 1024;
constexpr std::uint64_t delivery_overhead_bytes = 128;
// Lines of channels that closed are swept when they are the larger part.
constexpr std::size_t far_channels_before_sweep = 64;

}  // namespace

Vhost::Vhost(engine::EngineSettings settings, Reactor& home, NoticeSink notice)
    : home_(home), notice_(std::move(notice)), engine_(std::move(settings), *this, nullptr) {}

bool Vhost::deliver(engine::Deliver&& effect) {
    const std::uint64_t id = effect.channel.value;
    const std::uint8_t reactor = Reactor::reactor_of(id);
    if (reactor == home_.index()) {
        engine::EffectSink* const sink = home_.find_sink(id);
        return sink == nullptr || sink->deliver(std::move(effect));
    }
    const ChannelId channel = effect.channel;
    if (far_bytes_.size() >= far_channels_before_sweep + 2 * engine_.attached().channel_count()) {
        erase_if(far_bytes_, [&](const auto& line) {
            return engine_.attached().find_channel(line.first) == nullptr;
        });
    }
    std::uint64_t& sent = far_bytes_[channel];
    sent += effect.message->body_size() + delivery_overhead_bytes;
    home_.send(reactor, engine::Effect(std::move(effect)));
    if (sent < far_portion_bytes) return true;
    far_bytes_.erase(channel);
    home_.send(reactor, engine::Effect(engine::DeliveriesPaused{channel}));
    return false;
}

void Vhost::confirm(const engine::Confirm& effect) {
    const std::uint64_t id = effect.channel.value;
    const std::uint8_t reactor = Reactor::reactor_of(id);
    if (reactor != home_.index()) {
        home_.send(reactor, engine::Effect(effect));
    } else if (engine::EffectSink* const sink = home_.find_sink(id)) {
        sink->confirm(effect);
    }
}

void Vhost::request(engine::Effect&& effect) {
    if (const auto* notice = std::get_if<engine::Notice>(&effect)) {
        if (notice_) notice_(*notice);
        return;
    }
    const std::uint64_t id = engine::addressee(effect);
    const std::uint8_t reactor = Reactor::reactor_of(id);
    if (reactor != home_.index()) {
        home_.send(reactor, std::move(effect));
    } else if (engine::EffectSink* const sink = home_.find_sink(id)) {
        sink->request(std::move(effect));
    }
}

}  // namespace revenant::runtime
