#include "net/socket.h"

#include "amqp091/connection.h"
#include "amqp10/links/connection.h"
#include "base/check.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <sys/epoll.h>
#include <sys/random.h>
#include <utility>

namespace revenant::net {
namespace {

constexpr std::size_t parts_per_write = 256;
// One socket must not block the others of its reactor.
constexpr int writes_per_flush = 16;
constexpr std::size_t idle_buffer_bytes = 1024;
constexpr std::size_t greeting_bytes = 8;

// Passes commands directly to an engine whose home is this reactor.
class LocalEngineProxy final : public protocol::EngineProxy {
  public:
    LocalEngineProxy(std::shared_ptr<runtime::Vhost> vhost, runtime::Reactor& reactor,
                     protocol::Connection& connection)
        : vhost_(std::move(vhost)), reactor_(reactor), connection_(connection) {}
    void send(engine::Command&& command) override {
        vhost_->engine().handle(std::move(command), reactor_.now());
        // These commands are rare, and some take long.
        connection_.look_at_the_clock();
    }
    void publish(engine::Publish&& command) override {
        vhost_->engine().publish(std::move(command), reactor_.now());
        look_if_heavy();
    }
    void settle(const engine::Settle& command) override {
        vhost_->engine().settle(command, reactor_.now());
        look_if_heavy();
    }

  private:
    void look_if_heavy() {
        const std::uint64_t steps = vhost_->engine().heavy_steps() - heavy_steps_seen_;
        if (steps == 0) return;
        heavy_steps_seen_ += steps;
        connection_.spend(steps < steps_for_a_look ? frames_per_step * steps : UINT64_MAX);
    }

    static constexpr std::uint64_t frames_per_step = 2;
    static constexpr std::uint64_t steps_for_a_look = 500;

    std::shared_ptr<runtime::Vhost> vhost_;
    runtime::Reactor& reactor_;
    protocol::Connection& connection_;
    std::uint64_t heavy_steps_seen_ = 0;
};

// Passes commands to an engine on another reactor through its mailbox.
class RemoteEngineProxy final : public protocol::EngineProxy {
  public:
    RemoteEngineProxy(std::shared_ptr<runtime::Vhost> vhost, runtime::Reactor& reactor)
        : vhost_(std::move(vhost)), reactor_(reactor), home_(vhost_->home().index()) {}
    void send(engine::Command&& command) override {
        reactor_.send(home_, runtime::VhostCommand{vhost_, std::move(command)});
    }
    void publish(engine::Publish&& command) override {
        // Most bytes of a large message arrived in earlier turns.
        reactor_.note_sent(home_, command.message->memory_bytes());
        send(std::move(command));
    }
    void settle(const engine::Settle& command) override { send(engine::Settle(command)); }

  private:
    std::shared_ptr<runtime::Vhost> vhost_;
    runtime::Reactor& reactor_;
    std::uint8_t home_;
};

}  // namespace

Socket::Socket(Network& network, runtime::Reactor& reactor, int descriptor,
               std::unique_ptr<Stream> stream, std::string name, SocketPeer peer)
    : network_(network),
      reactor_(&reactor),
      descriptor_(descriptor),
      stream_(std::move(stream)),
      name_(std::move(name)),
      peer_(std::move(peer)),
      proxy_gate_(network.settings().sockets.proxy_protocol ? std::make_unique<ProxyHeaderReader>()
                                                            : nullptr),
      connected_at_(reactor.wall_now()),
      connection_(std::make_unique<amqp091::Connection>(network.settings().connection, *this,
                                                        reactor.now())) {}

Socket::~Socket() {
    connection_.reset();
    if (descriptor_ >= 0) ::close(descriptor_);
}

void Socket::register_with_reactor() {
    interest_ = EPOLLIN;
    watched_ = true;
    reactor_->watch(descriptor_, interest_, *this);
    reactor_->add_ticking(*this);
    network_.add(*reactor_, *this);
    if (const std::string& alarm = network_.alarm(*reactor_); !alarm.empty()) {
        connection_->set_alarm(alarm);
    }
}

// ------------------------------------------------------------------------- in

void Socket::ready(std::uint32_t events) {
    if (closed_) return;
    if ((events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP)) != 0 && !can_read()) {
        if (may_be_long()) return peer_left();
        if ((events & (EPOLLHUP | EPOLLERR)) != 0) return look_away();
    }
    const bool go_on_reading = (events & EPOLLOUT) != 0 && stream_->read_waits_for_write();
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 || go_on_reading) read();
    if (!closed_ && (events & EPOLLOUT) != 0) request_flush();
}

bool Socket::may_work() const { return connection_->wants_input() && !stalled_; }

bool Socket::can_read() const { return may_work() && !work_waits_; }

// Whether reading may be paused indefinitely, because of an alarm, a client that does not read or a
// full disk. Meanwhile the connection would keep its resources.
bool Socket::may_be_long() const {
    return !connection_->wants_input() || (stalled_ && vhost_->is_disk_full());
}

// The kernel reports a disconnected peer repeatedly, whatever the interest set. Input that the peer
// sent before is read later, when possible.
void Socket::look_away() {
    reactor_->unwatch(descriptor_, *this);
    watched_ = false;
}

void Socket::peer_left() {
    peer_gone_ = true;
    connection_->on_connection_lost();
    close();
}

void Socket::read() {
    if (proxy_gate_ && !read_proxy_header()) return;
    if (can_read()) return read_some();
    update_interest();
}

// From here on, the connection has the addresses that the proxy named.
bool Socket::read_proxy_header() {
    switch (proxy_gate_->read(descriptor_)) {
        case ProxyHeaderReader::State::waiting:
            return false;
        case ProxyHeaderReader::State::refused:
            log_line("closed: " + proxy_gate_->fault());
            break;
        case ProxyHeaderReader::State::gone:
            break;
        case ProxyHeaderReader::State::passed:
            if (const auto& pair = proxy_gate_->header().pair) {
                name_ = show_address(pair->source) + " -> " + show_address(pair->destination);
                peer_ = peer_at(pair->source);
            }
            proxy_gate_.reset();
            return true;
    }
    peer_left();  // no close is sent to an unknown peer
    return false;
}

void Socket::read_some() {
    std::vector<char>& buffer = reactor_->read_buffer();
    const Stream::Outcome outcome = stream_->read(buffer);
    if (outcome.state == Stream::State::waiting) return update_interest();
    if (outcome.state == Stream::State::gone) return peer_left();
    received_bytes_ += outcome.bytes;
    received_count_ += 1;
    network_.count_received(*reactor_, outcome.bytes);
    reactor_->refresh_now();
    const std::string_view bytes(buffer.data(), outcome.bytes);
    if (pending_.empty()) {
        process(bytes);
    } else {
        pending_.append(bytes);
        process_pending();
    }
}

// The first bytes from a client select the protocol.
void Socket::choose_protocol(std::string_view greeting) {
    if (greeting.size() < greeting_bytes) return;
    greeted_ = true;
    if (!amqp10::is_greeting(greeting)) return;
    connection_ = std::make_unique<amqp10::Connection>(network_.settings().connection, *this,
                                                       reactor_->now());
    if (const std::string& alarm = network_.alarm(*reactor_); !alarm.empty()) {
        connection_->set_alarm(alarm);
    }
}

std::size_t Socket::receive(std::string_view bytes) {
    const std::size_t used = connection_->receive(bytes, reactor_->now());
    const bool is_far = vhost_ != nullptr && &vhost_->home() != reactor_;
    if (is_far) reactor_->note_sent(vhost_->home().index(), used);
    return used;
}

void Socket::process(std::string_view bytes) {
    if (!greeted_) choose_protocol(bytes);
    const std::size_t used = receive(bytes);
    pending_.assign(bytes.substr(used));
    pending_used_ = 0;
    after_processing();
}

void Socket::process_pending() {
    const std::string_view bytes = std::string_view(pending_).substr(pending_used_);
    if (!greeted_) choose_protocol(bytes);
    pending_used_ += receive(bytes);
    // Interrupted input is not moved to the front after every interruption.
    if (pending_used_ == pending_.size() || !connection_->is_interrupted()) {
        pending_.erase(0, std::exchange(pending_used_, 0));
    }
    after_processing();
}

void Socket::after_processing() {
    work_waits_ = connection_->is_interrupted() && !pending_.empty();
    // An idle connection has no buffer.
    if (pending_.empty() && pending_.capacity() > idle_buffer_bytes) std::string().swap(pending_);
    if (moving_to_ != nullptr) {
        move_to(*std::exchange(moving_to_, nullptr));
        return;
    }
    if (connection_->finished()) request_flush();
    update_interest();
}

// ------------------------------------------------------------------------- out

void Socket::request_flush() {
    if (flush_queued_ || closed_) return;
    flush_queued_ = true;
    reactor_->flush_later(*this);
}

void Socket::flush() {
    flush_queued_ = false;
    if (closed_) return;
    connection_->before_flush();
    send();
    if (closed_) return;
    resume_deliveries();
    if (connection_->finished() && (connection_->output().empty() || peer_gone_)) {
        close();
        return;
    }
    // Must be last: it may move the socket to another reactor.
    if (work_waits_ && may_work()) return process_pending();
    if (stream_->has_buffered() && can_read()) return read_some();
    update_interest();
}

// Deliveries without acknowledgement are journaled as consumed, so they wait while the disk is
// behind.
void Socket::resume_deliveries() {
    if (vhost_ == nullptr || !vhost_->is_behind()) connection_->output_drained();
}

void Socket::send() {
    protocol::Output& output = connection_->output();
    for (int i = 0; i < writes_per_flush && !output.empty(); ++i) {
        thread_local std::array<std::string_view, parts_per_write> parts;
        const std::size_t count = output.gather(parts);
        const Stream::Outcome outcome = stream_->write(std::span(parts).first(count));
        if (outcome.state == Stream::State::waiting) return;
        if (outcome.state == Stream::State::gone) return peer_left();
        sent_bytes_ += outcome.bytes;
        sent_count_ += 1;
        network_.count_sent(*reactor_, outcome.bytes);
        output.consume(outcome.bytes);
    }
    output.shrink();
}

// Watches for input unless the connection is blocked or the disk is behind, and for output while
// some is unsent.
void Socket::update_interest() {
    if (closed_) return;
    const bool congested =
        vhost_ != nullptr && (reactor_->congested(vhost_->home().index()) || vhost_->is_behind());
    stalled_ = congested;
    if (work_waits_ && may_work()) request_flush();
    std::uint32_t wanted = 0;
    if (can_read()) {
        wanted |= stream_->read_waits_for_write() ? EPOLLOUT : EPOLLIN;
        // The descriptor does not report buffered bytes; the flush reads them.
        if (stream_->has_buffered()) request_flush();
    } else if (may_be_long()) {
        wanted |= EPOLLRDHUP;
    }
    // Output of this turn is sent at its end. Only output that was not accepted then waits for the
    // peer.
    if (!flush_queued_ && !connection_->output().empty()) wanted |= EPOLLOUT;
    if (!watched_) {
        if (wanted == 0) return;
        watched_ = true;
        interest_ = wanted;
        return reactor_->watch(descriptor_, interest_, *this);
    }
    if (wanted == interest_) return;
    interest_ = wanted;
    reactor_->rewatch(descriptor_, interest_, *this);
}

// ------------------------------------------------------------------------- time and end

void Socket::tick(Timestamp now) {
    if (closed_) return;
    connection_->tick(now);
    if (connection_->finished()) {
        request_flush();
        // The timeout has passed: output that cannot be sent now is dropped.
        peer_gone_ = true;
        return;
    }
    update_interest();
    if (!flush_queued_) resume_deliveries();
}

void Socket::close() {
    if (closed_) return;
    closed_ = true;
    reactor_->unwatch(descriptor_, *this);
    reactor_->remove_ticking(*this);
    reactor_->forget(*this);
    network_.remove(*reactor_, *this);
    if (connection_sink_ != 0) reactor_->release_sink(connection_sink_);
    if (admitted_) network_.broker().release_connection(admitted_vhost_, admitted_user_);
    // Channels that are still open are closed with the connection.
    network_.broker().release_channels(admitted_user_, std::exchange(channels_admitted_, 0));
    if (!peer_gone_) stream_->close_notify();
    ::close(std::exchange(descriptor_, -1));
    reactor_->dispose(std::unique_ptr<runtime::Source>(this));
}

void Socket::set_alarm(std::string_view reason) {
    connection_->set_alarm(reason);
    update_interest();
}

void Socket::close_forced(std::string_view reason) {
    connection_->close_forced(reason, reactor_->now());
    request_flush();
}

// ------------------------------------------------------------------------- host

protocol::VhostAnswer Socket::open_vhost(std::string_view vhost, std::string_view user) {
    vhost_ = network_.broker().find_vhost(vhost);
    if (!vhost_) return protocol::VhostRefused{"vhost " + std::string(vhost) + " not found"};
    if (auto refusal = network_.broker().admit(vhost, user))
        return protocol::VhostRefused{*refusal};
    admitted_ = true;
    admitted_vhost_ = std::string(vhost);
    admitted_user_ = std::string(user);
    runtime::Reactor& place = network_.broker().place(*vhost_);
    if (&place == reactor_) return enter_vhost();
    moving_to_ = &place;
    return protocol::VhostOnOtherReactor{};
}

protocol::VhostAnswer Socket::enter_vhost() {
    // The vhost may have been deleted while the connection moved and could not be closed.
    if (vhost_->is_deleted()) {
        return protocol::VhostRefused{"vhost " + vhost_->name() + " not found"};
    }
    if (&vhost_->home() == reactor_) {
        port_ = std::make_unique<LocalEngineProxy>(vhost_, *reactor_, *connection_);
    } else {
        port_ = std::make_unique<RemoteEngineProxy>(vhost_, *reactor_);
    }
    connection_sink_ = reactor_->register_sink(*connection_);
    return protocol::VhostOpened{port_.get(), ConnectionId{connection_sink_}};
}

void Socket::move_to(runtime::Reactor& reactor) {
    reactor_->unwatch(descriptor_, *this);
    reactor_->remove_ticking(*this);
    reactor_->forget(*this);
    flush_queued_ = false;
    network_.remove(*reactor_, *this);
    reactor_ = &reactor;
    reactor.post([this](runtime::Reactor&) {
        register_with_reactor();
        connection_->vhost_opened(enter_vhost());
        process_pending();
    });
}

std::optional<std::string> Socket::admit_channel() {
    const User* const user = access()->find_user(admitted_user_);
    auto refusal = network_.broker().admit_channel(
        admitted_user_, user == nullptr ? Limit{} : user->limits.max_channels);
    if (!refusal) channels_admitted_ += 1;
    return refusal;
}

void Socket::on_channel_closed() {
    if (channels_admitted_ == 0) return;
    channels_admitted_ -= 1;
    network_.broker().release_channels(admitted_user_, 1);
}

ChannelId Socket::register_channel(engine::EffectSink& sink) {
    return ChannelId{reactor_->register_sink(sink)};
}

void Socket::release_channel(ChannelId channel) { reactor_->release_sink(channel.value); }

std::string Socket::random_name(std::string_view prefix) {
    static constexpr char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::array<unsigned char, 22> random{};
    CHECK(getrandom(random.data(), random.size(), 0) == static_cast<ssize_t>(random.size()));
    std::string name(prefix);
    for (const unsigned char octet : random) name += alphabet[octet % 64];
    return name;
}

bool Socket::is_login_throttled() {
    const auto& guard = network_.settings().login_throttle;
    return guard && guard->wait(peer_.address, reactor_->now()).us > 0;
}

void Socket::login_failed() {
    const auto& guard = network_.settings().login_throttle;
    if (guard) guard->failed(peer_.address, peer_.place, reactor_->now());
}

void Socket::count_login(engine::ClientProtocol protocol, bool succeeded) {
    if (const auto& logins = network_.settings().logins) logins->of(protocol).count(succeeded);
}

void Socket::log_line(std::string_view text) {
    network_.log_line("connection " + name_ + ": " + std::string(text));
}

}  // namespace revenant::net
