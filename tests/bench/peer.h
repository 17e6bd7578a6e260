// AMQP 0-9-1 connections of the load: a publisher of prepared messages, or a consumer that settles
// its deliveries.
#pragma once

#include "amqp.h"
#include "connection.h"
#include "consuming.h"
#include "publishing.h"
#include "session.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace bench {

class Peer : public Connection {
  public:
    explicit Peer(Session session) : Connection(std::move(session).take_socket()) {}

    void ask_depth(const std::string& queue) override;

  protected:
    size_t handle(std::string_view input) override;
    virtual void on_method(MethodId id, std::string_view arguments);
    virtual void on_header(std::string_view /*payload*/) {}
    virtual void on_body(std::string_view /*payload*/) {}

  private:
    void handle(const Frame& frame);
};

class Publisher : public Peer, public Publishing {
  public:
    // Sends `count` copies of the message.
    Publisher(Session session, PreparedMessage message, uint64_t count);

    Connection& connection() override { return *this; }
    // Makes all messages expire at this time: the expiration is the remaining time when a message
    // is sent.
    void expire_all_at(uint64_t deadline_ns) { deadline_ns_ = deadline_ns; }

    bool all_sent() const { return sent_bytes_ == count() * message_.bytes.size(); }

    Flushed flush() override;

    // Fixed width, so that expire_all_at() can write the remaining time in place.
    static constexpr std::string_view expiration_placeholder = "0000000";

  protected:
    void on_method(MethodId id, std::string_view arguments) override;

  private:
    void write_remaining_time();

    PreparedMessage message_;
    std::string block_;  // many copies of the message, for large writes
    uint64_t sent_bytes_ = 0;
    uint64_t deadline_ns_ = 0;
};

// Publishes single messages whose body starts with a number, for latency measurements.
class StampedPublisher : public Peer {
  public:
    StampedPublisher(Session session, PreparedMessage message);
    void publish(uint64_t stamp);
    // Sets an individual expiration. The message must have been prepared with one of five digits.
    void publish(uint64_t stamp, uint64_t ttl_ms);

  private:
    PreparedMessage message_;
};

class Consumer : public Peer, public Consuming {
  public:
    // Consumes from the queue on start(); without a queue, the session already consumes.
    Consumer(Session session, uint64_t settle_every, std::string queue = {});
    Connection& connection() override { return *this; }
    void start() override;

    // Called with the first body frame of each delivery.
    std::function<void(std::string_view body)> on_first_body;

    // The body size of the delivery passed to decide(), or of the last one.
    uint64_t body_bytes() const { return body_bytes_; }

  protected:
    void on_method(MethodId id, std::string_view arguments) override;
    void on_header(std::string_view payload) override;
    void on_body(std::string_view payload) override;

  private:
    void settle(uint64_t first, uint64_t last, Outcome outcome) override;

    std::string queue_;
    uint64_t delivery_tag_ = 0;
    uint64_t body_bytes_ = 0;
    uint64_t body_bytes_left_ = 0;
    bool body_started_ = false;
};

}  // namespace bench
