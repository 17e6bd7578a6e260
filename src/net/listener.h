// Listener: accepts connections on one address and creates a Socket for each.
#pragma once

#include "base/result.h"
#include "net/network.h"
#include "runtime/reactor.h"

#include <cstdint>
#include <memory>
#include <string>

namespace revenant::net {

class Listener final : public runtime::Source, public runtime::Tickable {
  public:
    static Result<std::unique_ptr<Listener>, std::string> open(Network& network,
                                                               runtime::Reactor& reactor,
                                                               const ListenAddress& address);
    ~Listener() override;
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    std::uint16_t port() const { return address_.port; }
    // On the reactor's thread.
    void start();
    void stop();
    // Binds the same port again after stop(), before start(). May be called from any thread;
    // resolving a name takes time, so not from the reactor's. Returns false if the listener was not
    // stopped.
    Result<bool, std::string> open_again();
    void ready(std::uint32_t events) override;
    void tick(Timestamp now) override;

  private:
    Listener(Network& network, runtime::Reactor& reactor, int descriptor, ListenAddress address);

    Network& network_;
    runtime::Reactor& reactor_;
    int descriptor_;
    const ListenAddress address_;  // with the actual port
    bool watching_ = false;
    bool shortage_logged_ = false;  // since the last tick
};

}  // namespace revenant::net
