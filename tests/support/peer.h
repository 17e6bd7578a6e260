// Peer: an AMQP 0-9-1 client under the control of a test. It writes methods, frames and bytes, and
// reads decoded replies in their order on each channel.
//
// The received data is checked while it is read: frames are well formed and fit in frame_max,
// contents are complete and not interleaved on a channel, and nothing is sent on a closed channel.
// A frame that the test does not expect fails the test at its end.
//
// Each test runs near and far (world.h). Afterwards its steps are repeated: byte by byte, in pieces
// of random sizes, over the other distance, and truncated. The replies must be the same, and the
// engine consistent.
#pragma once

#include "amqp091/codec/frame.h"
#include "amqp091/codec/spec.gen.h"
#include "amqp091/message/content.h"
#include "tests/support/frame_reader.h"
#include "tests/support/scenario.h"
#include "tests/support/world.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace revenant::amqp091 {

using engine::Argument;
using protocol::Carry;
using protocol::Connect;
using protocol::Distance;
using protocol::Feed;
using protocol::Step;
using protocol::Wire;
using protocol::World;

// The location in a test, for failures that support code reports.
struct Where {
    const char* file;
    int line;
    static Where here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return {file, line};
    }
};

// --- raw bytes ---

std::string raw_frame(std::uint8_t type, std::uint16_t channel, std::string_view payload,
                      std::uint8_t end = frame_end);
template <typename Method>
std::string method_frame(std::uint16_t channel, const Method& method) {
    std::string frame;
    append_method(frame, channel, method);
    return frame;
}
std::string header_frame(std::uint16_t channel, std::uint64_t body_size,
                         std::string_view properties);
std::string body_frame(std::uint16_t channel, std::string_view body);
// A table without its length, as the methods of spec.gen.h contain it.
std::string table(const Table& fields);
std::string table(std::initializer_list<Argument> fields);

// The properties of a message, flags and list.
class Properties {
  public:
    Properties() = default;
    Properties& headers(std::initializer_list<Argument> fields) {
        return raw_headers(table(fields));
    }
    Properties& headers(const Table& fields) { return raw_headers(table(fields)); }
    Properties& raw_headers(std::string body);
    Properties& delivery_mode(std::uint8_t mode);
    Properties& priority(std::uint8_t priority);
    Properties& timestamp(std::uint64_t seconds);
    // Any property that is a short string.
    Properties& text(Property property, std::string value);
    Properties& expiration(std::string value) {
        return text(Property::expiration, std::move(value));
    }
    Properties& reply_to(std::string value) { return text(Property::reply_to, std::move(value)); }
    Properties& user_id(std::string value) { return text(Property::user_id, std::move(value)); }
    std::string encode() const;

  private:
    BasicProperties properties_;
    std::string headers_;
    std::map<Property, std::string> texts_;
};

// A received content with the fields of its basic.deliver, get-ok or return.
struct Received {
    std::string consumer_tag;
    std::uint64_t delivery_tag = 0;
    bool redelivered = false;
    std::string exchange;
    std::string routing_key;
    std::uint32_t message_count = 0;
    std::uint16_t reply_code = 0;
    std::string reply_text;
    std::string properties = std::string(2, '\0');  // flags and list
    std::string body;
    std::size_t body_frames = 0;

    BasicProperties decoded() const;
    Table headers() const;
};

class Peer;

// A channel of a peer. Functions for synchronous methods (declare, bind, consume …) send the method
// and expect its reply.
class PeerChannel {
  public:
    PeerChannel(Peer& peer, std::uint16_t number) : peer_(&peer), number_(number) {}
    std::uint16_t number() const { return number_; }
    Peer& peer() { return *peer_; }

    template <typename Method>
    void send(const Method& method);
    template <typename Method>
    Method expect(Where where = Where::here());
    void expect_nothing(Where where = Where::here());
    // The server closed this channel; reply with close_ok().
    void expect_close(std::uint16_t code, std::string_view text, std::uint16_t class_id,
                      std::uint16_t method_id, Where where = Where::here());
    template <typename Method>  // that failed
    void expect_close(std::uint16_t code, std::string_view text, Where where = Where::here()) {
        expect_close(code, text, Method::class_id, Method::method_id, where);
    }
    void close_ok() { send(ChannelCloseOk{}); }
    void open(Where where = Where::here());
    void close(Where where = Where::here());
    // After an error: sends close-ok and opens the channel again.
    void reopen(Where where = Where::here());

    void declare_exchange(std::string_view name, std::string_view type,
                          std::initializer_list<Argument> arguments = {},
                          Where where = Where::here());
    QueueDeclareOk declare(std::string_view queue, std::initializer_list<Argument> arguments = {},
                           Where where = Where::here());
    // The number of ready messages, from a passive declare.
    std::uint32_t count(std::string_view queue, Where where = Where::here());
    bool exists(std::string_view queue, Where where = Where::here());
    void bind(std::string_view queue, std::string_view exchange, std::string_view routing_key = "",
              std::initializer_list<Argument> arguments = {}, Where where = Where::here());

    void publish(std::string_view exchange, std::string_view routing_key, std::string_view body,
                 const Properties& properties = {});
    void publish(const BasicPublish& method, std::string_view body,
                 const Properties& properties = {});

    // Returns the tag.
    std::string consume(std::string_view queue, std::string_view tag = "",
                        Where where = Where::here());
    std::string consume(const BasicConsume& method, Where where = Where::here());
    void qos(std::uint16_t prefetch_count, bool global = false, Where where = Where::here());
    Received expect_delivery(Where where = Where::here());
    Received expect_delivery(std::string_view body, Where where = Where::here());
    Received expect_return(Where where = Where::here());
    // With basic.get; there must be a message.
    Received get(std::string_view queue, bool no_ack = false, Where where = Where::here());
    // Absent for get-empty.
    std::optional<Received> try_get(std::string_view queue, bool no_ack = false,
                                    Where where = Where::here());
    // Gets messages without acknowledgement until the queue is empty; returns their bodies.
    std::vector<std::string> drain(std::string_view queue, Where where = Where::here());
    void ack(std::uint64_t tag, bool multiple = false) { send(BasicAck{tag, multiple}); }
    void nack(std::uint64_t tag, bool multiple, bool requeue) {
        send(BasicNack{tag, multiple, requeue});
    }
    void reject(std::uint64_t tag, bool requeue) { send(BasicReject{tag, requeue}); }

    void select_confirms(Where where = Where::here());
    void select_transaction(Where where = Where::here());
    void commit(Where where = Where::here());
    void rollback(Where where = Where::here());

  private:
    Peer* peer_;
    std::uint16_t number_;
};

struct Login {
    std::string user = "guest";
    std::string password = "guest";
    std::string vhost = "/";
    std::uint16_t channel_max = 2047;
    std::uint32_t frame_max = 131072;
    std::uint16_t heartbeat = 0;
    // Client capabilities; by default those of RabbitMQ's own clients.
    std::vector<std::string> capabilities = {
        "authentication_failure_close", "basic.nack",
        "connection.blocked",           "consumer_cancel_notify",
        "exchange_exchange_bindings",   "publisher_confirms"};
};

class Peer {
  public:
    Peer(World& world, Connect options);
    // Fails if there is unexpected input.
    ~Peer();
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;

    // --- out ---
    void send(std::string_view bytes);
    template <typename Method>
    void send(std::uint16_t channel, const Method& method) {
        send(method_frame(channel, method));
    }
    // Output is collected until release() and then read by the server in one piece.
    void hold() { holding_ = true; }
    void release();

    // --- the handshake, complete and in parts ---
    void greet() { send(std::string_view{"AMQP\x00\x00\x09\x01", 8}); }
    std::string client_properties(const Login& login) const;
    void send_start_ok(const Login& login);
    // From the greeting to tune.
    void log_in(const Login& login = {}, Where where = Where::here());
    void send_tune_ok_and_open(const Login& login);
    Peer& connect(const Login& login = {}, Where where = Where::here());
    PeerChannel channel(std::uint16_t number = 1) { return {*this, number}; }
    PeerChannel open_channel(std::uint16_t number = 1, Where where = Where::here());
    void close(Where where = Where::here());

    // --- in: pending input is delivered first ---
    template <typename Method>
    Method expect(std::uint16_t channel = 0, Where where = Where::here()) {
        const Arrival* const arrival = take(channel, Method::key, where);
        if (arrival == nullptr) return {};
        const auto method = Method::decode(arrival->arguments);
        if (!method)
            ADD_FAILURE_AT(where.file, where.line) << "undecodable " << arrival->describe();
        return method ? *method : Method{};
    }
    void expect_connection_close(std::uint16_t code, std::string_view text, std::uint16_t class_id,
                                 std::uint16_t method_id, Where where = Where::here());
    template <typename Method>  // that failed
    void expect_connection_close(std::uint16_t code, std::string_view text,
                                 Where where = Where::here()) {
        expect_connection_close(code, text, Method::class_id, Method::method_id, where);
    }
    // Nothing was received on any channel.
    void expect_nothing(Where where = Where::here());
    // The server closed the socket.
    void expect_end(Where where = Where::here());
    bool is_open();
    // The next method on the channel, regardless of its kind; nullptr if there is none.
    const Arrival* next(std::uint16_t channel);
    const Arrival* take(std::uint16_t channel, std::uint32_t key, Where where);
    // Bytes that are not a frame: the greeting of a server that refuses the client's.
    std::string take_raw();
    std::size_t take_heartbeats();
    void ignore_rest() { ignoring_rest_ = true; }

    World& world() { return world_; }
    Wire& wire() { return world_.wire(index_); }
    std::size_t index() const { return index_; }
    void disconnect() { world_.disconnect(index_); }

  private:
    friend class PeerChannel;
    void arrive();

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
};

template <typename Method>
void PeerChannel::send(const Method& method) {
    peer_->send(number_, method);
}

template <typename Method>
Method PeerChannel::expect(Where where) {
    return peer_->expect<Method>(number_, where);
}

// A test that runs near and far and is repeated afterwards.
class WireTest : public testing::TestWithParam<Distance> {
  protected:
    void TearDown() override;

    // Must be changed before the first peer connects.
    ConnectionSettings& settings() {
        CHECK(world_ == nullptr);
        return settings_;
    }
    World& world();
    // Not yet connected.
    Peer& new_peer(PeerLocation place = PeerLocation::loopback);
    Peer& connect(const Login& login = {}, Where where = Where::here());
    // On its own connection.
    PeerChannel open_channel(const Login& login = {}, Where where = Where::here());
    // The connected peer of a test that needs only one.
    Peer& peer();
    // Its open channel 1.
    PeerChannel& channel();
    void add_user(std::string_view name, const Permissions& permissions,
                  std::vector<std::string> tags = {}, std::string_view vhost = "/");

    // The replies depend on when mailbox items arrive: near and far are not compared.
    void depends_on_distance() { compares_distances_ = false; }

  private:
    void check_repeats();
    void check_repeat(World& again, std::string_view how);

    ConnectionSettings settings_;
    bool compares_distances_ = true;
    std::unique_ptr<World> world_;
    std::vector<std::unique_ptr<Peer>> peers_;
    Peer* peer_ = nullptr;
    std::optional<PeerChannel> channel_;
};

std::string distance_name(const testing::TestParamInfo<Distance>& distance);

}  // namespace revenant::amqp091
