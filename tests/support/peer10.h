// Peer for AMQP 1.0: a client under the control of a test. It writes performatives, frames and
// bytes, and reads decoded replies in their order on each channel.
//
// The tests are WireTests (peer.h): they run near and far and are repeated in pieces. They also
// have an AMQP 0-9-1 channel, for topology and for messages between the protocols.
#pragma once

#include "amqp10/codec/performatives.gen.h"
#include "tests/support/bytes10.h"
#include "tests/support/frame_reader10.h"
#include "tests/support/peer.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace revenant::amqp10 {

using amqp091::Where;
using engine::Argument;
using protocol::Connect;
using protocol::Distance;
using protocol::Wire;
using protocol::World;

struct Login {
    std::string mechanism = "PLAIN";
    std::string user = "guest";
    std::string password = "guest";
    std::string container_id = "a test";
    std::optional<std::string> hostname;
    std::uint32_t max_frame_size = 131072;
    std::uint16_t channel_max = 65535;
    std::optional<std::uint32_t> idle_time_out;
};

class Peer;

// A session of a peer. Functions with a reply (begin, attach_…) send and expect the reply.
class PeerSession {
  public:
    PeerSession(Peer& peer, std::uint16_t channel) : peer_(&peer), channel_(channel) {}
    Peer& peer() { return *peer_; }
    std::uint16_t channel() const { return channel_; }

    template <typename Performative>
    void send(const Performative& performative, std::string_view payload = {});
    template <typename Performative>
    Performative expect(Where where = Where::here());
    void expect_nothing(Where where = Where::here());

    void begin(std::uint32_t incoming_window = 10000, Where where = Where::here());
    void end(Where where = Where::here());
    // The server ended the session; reply with end_ok().
    void expect_end(std::string_view condition, std::string_view description,
                    Where where = Where::here());
    void end_ok() { send(End{}); }

    // --- links ---
    void send_attach_sender(std::uint32_t handle, std::optional<std::string> address,
                            std::uint8_t settle_mode = mixed_mode);
    void send_attach_receiver(std::uint32_t handle, std::optional<std::string> address,
                              std::uint8_t settle_mode = unsettled_mode);
    // Attaches and expects the reply and its credit.
    void attach_sender(std::uint32_t handle, std::optional<std::string> address,
                       std::uint8_t settle_mode = mixed_mode, Where where = Where::here());
    void attach_receiver(std::uint32_t handle, const std::string& address, std::uint32_t credit = 0,
                         std::uint8_t settle_mode = unsettled_mode, Where where = Where::here());
    // A receiver of replies without a queue (amqp10 4.6).
    void send_attach_reply_receiver(std::uint32_t handle);
    // Returns the address for replies.
    std::string attach_reply_receiver(std::uint32_t handle, Where where = Where::here());
    // Expects an attach with a null terminus, then a detach.
    void expect_refused_attach(std::uint32_t handle, std::string_view condition,
                               std::string_view description, Where where = Where::here());
    void expect_detach(std::uint32_t handle, std::string_view condition,
                       std::string_view description, Where where = Where::here());
    void detach_ok(std::uint32_t handle) { send(Detach{.handle = handle, .closed = true}); }
    void detach(std::uint32_t handle, Where where = Where::here());

    // --- messages ---
    void transfer(std::uint32_t handle, std::uint32_t delivery_id, const std::string& message,
                  bool settled = false);
    // Sends unsettled and returns the outcome.
    template <typename Outcome>
    Outcome publish(std::uint32_t handle, std::uint32_t delivery_id, const std::string& message,
                    Where where = Where::here());
    // Credit, counted from the deliveries read so far.
    void credit(std::uint32_t handle, std::uint32_t credit, bool drain = false, bool echo = false);
    // Credit for a link without deliveries, while the session window is closed.
    void credit_behind_closed_window(std::uint32_t handle, std::uint32_t credit) {
        credit_within_window(handle, credit, 0);
    }
    // Credit for a link without deliveries, in a session with this window.
    void credit_within_window(std::uint32_t handle, std::uint32_t credit, std::uint32_t window);
    // The undecoded bytes of the message.
    TakenMessage expect_message_bytes(std::string& bytes, Where where = Where::here());
    TakenMessage expect_message(Where where = Where::here());
    TakenMessage expect_message(std::string_view body, Where where = Where::here());
    void settle(std::uint32_t first, std::uint32_t last, const std::string& state,
                bool settled = true);
    template <typename Outcome>
    void settle(const TakenMessage& message, const Outcome& outcome) {
        settle(message.delivery_id, message.delivery_id, encoded(outcome));
    }
    // The outcome of the client's own deliveries.
    template <typename Outcome>
    Outcome expect_outcome(std::uint32_t first, std::uint32_t last, Where where = Where::here());
    template <typename Outcome>
    Outcome expect_outcome(std::uint32_t delivery, Where where = Where::here()) {
        return expect_outcome<Outcome>(delivery, delivery, where);
    }
    void expect_rejected(std::uint32_t delivery, std::string_view condition,
                         std::string_view description, Where where = Where::here());

  private:
    Raw outcome_of(std::uint32_t first, std::uint32_t last, Where where);

    Peer* peer_;
    std::uint16_t channel_;
};

class Peer {
  public:
    Peer(World& world, const Connect& options);
    // Fails if there is unexpected input.
    ~Peer();
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;

    // --- out ---
    void send(std::string_view bytes);
    template <typename Performative>
    void send(std::uint16_t channel, const Performative& performative,
              std::string_view payload = {}) {
        send(frame10(channel, performative, payload));
    }
    // Output is collected until release() and then read by the server in one piece.
    void hold() { holding_ = true; }
    void release();

    // --- the handshake, complete and in parts ---
    void greet(Where where = Where::here());
    void send_init(const Login& login);
    void log_in(const Login& login, Where where = Where::here());
    void send_open(const Login& login);
    Peer& connect(const Login& login = {}, Where where = Where::here());
    PeerSession session(std::uint16_t channel = 0) { return {*this, channel}; }
    PeerSession begin(std::uint16_t channel = 0, std::uint32_t incoming_window = 10000,
                      Where where = Where::here());
    void close(Where where = Where::here());

    // --- in: pending input is delivered first ---
    template <typename Performative>
    Performative expect(std::uint16_t channel = 0, Where where = Where::here()) {
        const Arrival* const arrival = take(channel, Performative::descriptor_code, where);
        if (arrival == nullptr) return {};
        const auto read = Performative::decode(arrival->items());
        if (!read) ADD_FAILURE_AT(where.file, where.line) << "undecodable " << arrival->describe();
        return read ? *read : Performative{};
    }
    void expect_header(std::string_view header, Where where = Where::here());
    void expect_close(std::string_view condition, std::string_view description,
                      Where where = Where::here());
    void expect_nothing(Where where = Where::here());
    void expect_nothing_on(std::uint16_t channel, Where where);
    // The server closed the socket.
    void expect_socket_closed(Where where = Where::here());
    bool is_open();
    const Arrival* next(std::uint16_t channel);
    const Arrival* take(std::uint16_t channel, std::uint64_t code, Where where);
    std::size_t take_heartbeats();
    void ignore_rest() { ignoring_rest_ = true; }
    // The base for the client's credit.
    std::uint32_t deliveries_of(std::uint16_t channel, std::uint32_t handle) {
        return deliveries_[{channel, handle}];
    }
    void note_deliveries(std::uint16_t channel, std::uint32_t handle, std::uint32_t count) {
        deliveries_[{channel, handle}] += count;
    }
    std::uint32_t transfers_of(std::uint16_t channel) const;
    // The values of `active` in the flows of a link, in order. Such flows need not be expected
    // (amqp10 5.26).
    std::vector<bool> activity_of(std::uint16_t channel, std::uint32_t handle);

    World& world() { return world_; }
    Wire& wire() { return world_.wire(index_); }
    std::size_t index() const { return index_; }
    void disconnect() { world_.disconnect(index_); }

  private:
    void arrive();
    bool tells_only_activity(const Arrival& arrival);

    World& world_;
    std::size_t index_;
    std::string held_;
    bool holding_ = false;
    bool ignoring_rest_ = false;
    std::size_t read_ = 0;  // bytes of wire().received()
    FrameReader reader_;
    std::size_t heartbeats_ = 0;
    std::map<std::uint16_t, std::deque<Arrival>> inboxes_;
    std::deque<Arrival> taken_;  // keeps returned views valid
    std::map<std::pair<std::uint16_t, std::uint32_t>, std::uint32_t> deliveries_;
    std::map<std::uint16_t, std::uint32_t> transfers_;
    std::map<std::pair<std::uint16_t, std::uint32_t>, std::vector<bool>> activity_;
};

template <typename Performative>
void PeerSession::send(const Performative& performative, std::string_view payload) {
    peer_->send(channel_, performative, payload);
}

template <typename Performative>
Performative PeerSession::expect(Where where) {
    return peer_->expect<Performative>(channel_, where);
}

template <typename Outcome>
Outcome PeerSession::expect_outcome(std::uint32_t first, std::uint32_t last, Where where) {
    const Raw state = outcome_of(first, last, where);
    TypeReader in(state);
    const auto code = in.descriptor();
    const auto items = in.list();
    if (in.failed() || code != Outcome::descriptor_code || !items) {
        TypeReader whole(state);
        ADD_FAILURE_AT(where.file, where.line) << "another outcome: " << text_of(whole.datum());
        return {};
    }
    return Outcome::decode(*items).value_or(Outcome{});
}

template <typename Outcome>
Outcome PeerSession::publish(std::uint32_t handle, std::uint32_t delivery_id,
                             const std::string& message, Where where) {
    transfer(handle, delivery_id, message);
    return expect_outcome<Outcome>(delivery_id, where);
}

// An AMQP 1.0 test that runs near and far and is repeated afterwards.
class Wire10Test : public amqp091::WireTest {
  protected:
    void TearDown() override;

    // Not yet connected.
    Peer& new_peer10(PeerLocation place = PeerLocation::loopback);
    Peer& connect10(const Login& login = {}, Where where = Where::here());
    // The connected peer of a test that needs only one.
    Peer& peer10();
    // Its session 0, begun.
    PeerSession& session();
    // Declares over AMQP 0-9-1.
    void declare(std::string_view queue, std::initializer_list<Argument> arguments = {},
                 Where where = Where::here());
    void declare_quorum(std::string_view queue, std::initializer_list<Argument> arguments = {},
                        Where where = Where::here());

  private:
    std::vector<std::unique_ptr<Peer>> peers10_;
    Peer* peer10_ = nullptr;
    std::optional<PeerSession> session_;
};

using amqp091::distance_name;

}  // namespace revenant::amqp10
