#include "net/network.h"

#include "net/listener.h"
#include "net/socket.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace revenant::net {
namespace {

runtime::ConnectionView view(const Socket& socket) {
    protocol::ConnectionInfo info = socket.connection().info();
    runtime::ConnectionView shown;
    shown.id = info.id;
    shown.name = socket.name();
    shown.protocol = info.protocol;
    shown.user = std::move(info.user);
    shown.vhost = std::move(info.vhost);
    shown.state = std::move(info.state);
    shown.mechanism = std::move(info.mechanism);
    shown.client_properties = std::move(info.client_properties);
    for (const protocol::ChannelInfo& channel : info.channels) {
        shown.channels.push_back({channel.id, channel.number, channel.confirming});
    }
    shown.frame_max = info.frame_max;
    shown.channel_max = info.channel_max;
    shown.heartbeat_seconds = info.heartbeat_seconds;
    shown.container_id = std::move(info.container_id);
    shown.session_count = info.session_count;
    shown.received_bytes = socket.received_bytes();
    shown.sent_bytes = socket.sent_bytes();
    shown.received_count = socket.received_count();
    shown.sent_count = socket.sent_count();
    shown.unsent_bytes = socket.connection().output().unsent_bytes();
    shown.connected_at = socket.connected_at();
    if (auto tls = socket.tls()) {
        shown.tls =
            runtime::TlsInfo{tls->protocol,     tls->cipher,      tls->key_exchange, tls->hash,
                             tls->peer_subject, tls->peer_issuer, tls->peer_validity};
    }
    return shown;
}

// Maximum number of connections plus channels that a listing visits per turn.
constexpr std::size_t weight_max = 200;

std::vector<Socket*> all_of(const Roster<Socket>& sockets) {
    std::vector<Socket*> all;
    all.reserve(sockets.size());
    sockets.walk(0, SIZE_MAX, [&](Socket& socket) {
        all.push_back(&socket);
        return true;
    });
    return all;
}

// Calls visit(socket, view, items) for the next sockets. It must not close any of them.
template <typename Visit>
ListPart<runtime::ConnectionView> look_at_some(const Roster<Socket>& sockets, std::uint64_t after,
                                               Visit visit) {
    ListPart<runtime::ConnectionView> part;
    std::size_t weight = 0;
    const auto seen = sockets.walk(after, weight_max, [&](Socket& socket) {
        runtime::ConnectionView shown = view(socket);
        weight += 1 + shown.channels.size();
        visit(socket, std::move(shown), part.items);
        return weight < weight_max;
    });
    part.last = seen.last;
    part.newest = sockets.newest();
    part.all = seen.all;
    return part;
}

}  // namespace

Network::Network(NetworkSettings settings, runtime::Broker& broker,
                 std::function<void(std::string_view)> log_line)
    : settings_(std::move(settings)),
      broker_(broker),
      log_line_(std::move(log_line)),
      per_reactor_(broker.reactor_count()) {}

Network::~Network() = default;

Result<std::uint16_t, std::string> Network::listen(const ListenAddress& address) {
    REVENANT_TRY(auto listener, Listener::open(*this, broker_.reactor(0), address));
    const std::uint16_t actual = listener->port();
    Listener& started = *listener;
    const std::lock_guard lock(listeners_mutex_);
    listeners_.push_back(std::move(listener));
    broker_.ask(broker_.reactor(0), [&started](runtime::Reactor&) { started.start(); });
    return actual;
}

Result<void, std::string> Network::suspend_listeners(bool suspended) {
    const std::lock_guard lock(listeners_mutex_);
    if (suspended == suspended_) return {};
    if (closing_) return Unexpected{std::string("the node is shutting down")};
    if (suspended) {
        stop_listeners();
        suspended_ = true;
        return {};
    }
    for (auto& listener : listeners_) {
        REVENANT_TRY(const bool opened, listener->open_again());
        if (!opened) continue;
        broker_.ask(broker_.reactor(0), [&listener](runtime::Reactor&) { listener->start(); });
    }
    suspended_ = false;
    return {};
}

bool Network::listeners_are_suspended() {
    const std::lock_guard lock(listeners_mutex_);
    return suspended_;
}

void Network::stop_listeners() {
    broker_.ask(broker_.reactor(0), [this](runtime::Reactor&) {
        for (auto& listener : listeners_) listener->stop();
    });
}

void Network::shut_down(Duration patience) {
    {
        const std::lock_guard lock(listeners_mutex_);
        closing_ = true;
        stop_listeners();
    }
    for (std::size_t i = 0; i < broker_.reactor_count(); ++i) {
        broker_.ask(broker_.reactor(i), [this](runtime::Reactor& reactor) {
            for (Socket* const socket : all_of(per_reactor_[reactor.index()].sockets)) {
                socket->expect_close();
            }
        });
    }
    close_connections_if([](const runtime::ConnectionView&) { return true; },
                         "broker forced connection closure with reason 'shutdown'");
    constexpr auto pause = std::chrono::milliseconds(10);
    for (Duration waited{}; waited < patience; waited.us += 10'000) {
        if (connections().empty()) return;
        std::this_thread::sleep_for(pause);
    }
}

void Network::set_alarm(const std::string& reason) {
    for (std::size_t i = 0; i < broker_.reactor_count(); ++i) {
        broker_.reactor(i).post([this, reason](runtime::Reactor& reactor) {
            PerReactor& per_reactor = per_reactor_[reactor.index()];
            per_reactor.alarm = reason;
            for (Socket* const socket : all_of(per_reactor.sockets)) socket->set_alarm(reason);
        });
    }
}

void Network::close_connections_if(std::function<bool(const runtime::ConnectionView&)> chosen,
                                   const std::string& reason) {
    for (std::size_t i = 0; i < broker_.reactor_count(); ++i) {
        static_cast<void>(whole_list([&](std::uint64_t after) {
            return broker_.ask(broker_.reactor(i), [&, after](runtime::Reactor& reactor) {
                std::vector<Socket*> closing;
                auto some = look_at_some(per_reactor_[reactor.index()].sockets, after,
                                         [&](Socket& socket, const auto& shown, auto&) {
                                             if (chosen(shown)) closing.push_back(&socket);
                                         });
                for (Socket* const socket : closing) socket->close_forced(reason);
                return some;
            });
        }));
    }
}

bool Network::close_connection(std::string_view name, const std::string& reason) {
    bool found = false;
    close_connections_if(
        [&](const runtime::ConnectionView& connection) {
            const bool match = connection.name == name;
            found = found || match;
            return match;
        },
        reason);
    return found;
}

std::vector<runtime::ConnectionView> Network::connections() {
    std::vector<runtime::ConnectionView> all;
    for (std::size_t i = 0; i < broker_.reactor_count(); ++i) {
        auto some = whole_list([&](std::uint64_t after) {
            return broker_.ask(broker_.reactor(i), [&, after](runtime::Reactor& reactor) {
                return look_at_some(per_reactor_[reactor.index()].sockets, after,
                                    [](Socket&, auto&& shown, auto& items) {
                                        items.push_back(std::forward<decltype(shown)>(shown));
                                    });
            });
        });
        std::move(some.begin(), some.end(), std::back_inserter(all));
    }
    return all;
}

std::vector<protocol::SessionInfo> Network::sessions(std::string_view connection) {
    std::vector<protocol::SessionInfo> found;
    for (std::size_t i = 0; i < broker_.reactor_count() && found.empty(); ++i) {
        found = broker_.ask(broker_.reactor(i), [&](runtime::Reactor& reactor) {
            for (const Socket* const socket : all_of(per_reactor_[reactor.index()].sockets)) {
                if (socket->name() == connection) return socket->connection().sessions();
            }
            return std::vector<protocol::SessionInfo>{};
        });
    }
    return found;
}

runtime::NetworkTraffic Network::traffic() {
    runtime::NetworkTraffic all;
    for (std::size_t i = 0; i < broker_.reactor_count(); ++i) {
        const runtime::NetworkTraffic some = broker_.ask(
            broker_.reactor(i),
            [this](runtime::Reactor& reactor) { return per_reactor_[reactor.index()].traffic; });
        all.received_bytes += some.received_bytes;
        all.sent_bytes += some.sent_bytes;
        all.received_count += some.received_count;
        all.sent_count += some.sent_count;
    }
    return all;
}

void Network::count_received(runtime::Reactor& reactor, std::uint64_t bytes) {
    runtime::NetworkTraffic& traffic = per_reactor_[reactor.index()].traffic;
    traffic.received_bytes += bytes;
    traffic.received_count += 1;
}

void Network::count_sent(runtime::Reactor& reactor, std::uint64_t bytes) {
    runtime::NetworkTraffic& traffic = per_reactor_[reactor.index()].traffic;
    traffic.sent_bytes += bytes;
    traffic.sent_count += 1;
}

void Network::add(runtime::Reactor& reactor, Socket& socket) {
    per_reactor_[reactor.index()].sockets.enter(socket, socket.place());
}

void Network::remove(runtime::Reactor& /*reactor*/, Socket& socket) { socket.place().leave(); }

const std::string& Network::alarm(runtime::Reactor& reactor) const {
    return per_reactor_[reactor.index()].alarm;
}

}  // namespace revenant::net
