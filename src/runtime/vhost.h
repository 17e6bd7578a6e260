// Vhost: the engine of one virtual host on its home reactor, and the way its effects take to the
// channels, which may live on other reactors.
#pragma once

#include "engine/engine.h"
#include "runtime/reactor.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace revenant::runtime {

class Vhost final : public engine::EffectSink {
  public:
    using NoticeSink = std::function<void(const engine::Notice&)>;  // from any reactor's thread

    Vhost(engine::EngineSettings settings, Reactor& home, NoticeSink notice);

    const std::string& name() const { return engine_.settings().vhost; }
    Reactor& home() { return home_; }
    // On the home reactor's thread only.
    engine::Engine& engine() { return engine_; }

    bool deliver(engine::Deliver&& effect) override;
    void confirm(const engine::Confirm& effect) override;
    void request(engine::Effect&& effect) override;

  private:
    Reactor& home_;
    NoticeSink notice_;
    engine::Engine engine_;
    // Bytes sent to channels on other reactors since they last asked for more.
    boost::unordered_flat_map<ChannelId, std::uint64_t> far_bytes_;
};

}  // namespace revenant::runtime
