// Socket: one TCP connection and its AMQP connection. It belongs to one reactor at a time and may
// move once, when the vhost is known.
#pragma once

#include "net/network.h"
#include "net/proxy_header.h"
#include "net/socket_address.h"
#include "net/stream.h"
#include "protocol/connection.h"
#include "runtime/broker.h"
#include "runtime/reactor.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace revenant::net {

class Socket final : public runtime::Source,
                     public runtime::Flushable,
                     public runtime::Tickable,
                     public protocol::Host {
  public:
    Socket(Network& network, runtime::Reactor& reactor, int descriptor,
           std::unique_ptr<Stream> stream, std::string name, SocketPeer peer);
    ~Socket() override;
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    // Registers with the reactor on which it was created or to which it moved. Called on that
    // reactor's thread.
    void register_with_reactor();

    void ready(std::uint32_t events) override;
    void flush() override;
    void tick(Timestamp now) override;

    // protocol::Host
    const std::shared_ptr<const AccessTable>& access() override { return reactor_->access(); }
    PeerLocation peer_location() const override { return peer_.place; }
    bool is_login_throttled() override;
    void login_failed() override;
    void count_login(engine::ClientProtocol protocol, bool succeeded) override;
    std::optional<std::string> certificate_user() const override {
        return stream_->certificate_user();
    }
    protocol::VhostAnswer open_vhost(std::string_view vhost, std::string_view user) override;
    std::optional<std::string> admit_channel() override;
    void on_channel_closed() override;
    ChannelId register_channel(engine::EffectSink& sink) override;
    void release_channel(ChannelId channel) override;
    std::string random_name(std::string_view prefix) override;
    void request_flush() override;
    bool others_wait() override { return reactor_->slice_is_over(); }
    void log_line(std::string_view text) override;

    void set_alarm(std::string_view reason);
    void expect_close() { connection_->expect_close(); }
    void close_forced(std::string_view reason);

    const std::string& name() const { return name_; }
    std::optional<tls::TlsView> tls() const { return stream_->tls(); }
    const protocol::Connection& connection() const { return *connection_; }
    std::uint64_t received_bytes() const { return received_bytes_; }
    std::uint64_t sent_bytes() const { return sent_bytes_; }
    // The number of reads and writes.
    std::uint64_t received_count() const { return received_count_; }
    std::uint64_t sent_count() const { return sent_count_; }
    Timestamp connected_at() const { return connected_at_; }
    Roster<Socket>::Place& place() { return place_; }

  private:
    bool may_work() const;
    bool can_read() const;
    bool may_be_long() const;
    void look_away();
    void peer_left();
    void resume_deliveries();
    bool read_proxy_header();
    void read();
    void read_some();
    void choose_protocol(std::string_view greeting);
    std::size_t receive(std::string_view bytes);
    void process(std::string_view bytes);
    void process_pending();
    void after_processing();
    void send();
    void update_interest();
    void close();
    void move_to(runtime::Reactor& reactor);
    protocol::VhostAnswer enter_vhost();

    Network& network_;
    runtime::Reactor* reactor_;
    Roster<Socket>::Place place_;  // among the sockets of its reactor
    int descriptor_;
    std::unique_ptr<Stream> stream_;
    std::string name_;
    SocketPeer peer_;
    // Present until the header was read; nullptr if none is expected.
    std::unique_ptr<ProxyHeaderReader> proxy_gate_;
    std::uint32_t interest_ = 0;
    bool flush_queued_ = false;
    bool watched_ = false;     // by the reactor
    bool stalled_ = false;     // the vhost's reactor cannot take more commands at present
    bool work_waits_ = false;  // complete frames are pending; other sockets are served first
    bool closed_ = false;
    bool peer_gone_ = false;
    bool greeted_ = false;  // the protocol is known
    std::shared_ptr<runtime::Vhost> vhost_;
    runtime::Reactor* moving_to_ = nullptr;
    bool admitted_ = false;
    std::string admitted_vhost_;
    std::string admitted_user_;
    std::uint64_t channels_admitted_ = 0;
    std::unique_ptr<protocol::EngineProxy> port_;
    std::uint64_t connection_sink_ = 0;
    std::string pending_;  // an incomplete frame, or frames that wait for other sockets
    std::size_t pending_used_ = 0;
    std::uint64_t received_bytes_ = 0;
    std::uint64_t sent_bytes_ = 0;
    std::uint64_t received_count_ = 0;
    std::uint64_t sent_count_ = 0;
    Timestamp connected_at_;
    // Must be last: its destructor may use all other members.
    std::unique_ptr<protocol::Connection> connection_;
};

}  // namespace revenant::net
