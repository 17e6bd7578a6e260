// AMQP 1.0 connections of the load: a sender of prepared unsettled messages, and a receiver that
// settles its deliveries.
#pragma once

#include "amqp10_session.h"
#include "connection.h"
#include "consuming.h"
#include "publishing.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace bench {

class Peer10 : public Connection {
  public:
    explicit Peer10(Session10 session) : Connection(std::move(session).take_socket()) {}

    void ask_depth(const std::string& queue) override;

  protected:
    size_t handle(std::string_view input) override;
    virtual void on_flow(const revenant::amqp10::Flow& flow) = 0;
    virtual void on_disposition(const revenant::amqp10::Disposition& /*disposition*/) {}
    virtual void on_transfer(const revenant::amqp10::Transfer& /*transfer*/) {}

  private:
    void handle(const Performed& performed);
};

// The frames of one message. Delivery numbers are written into each copy.
struct PreparedTransfer {
    std::string bytes;
    size_t id_offset = 0;
    size_t tag_offset = 0;
    uint32_t frame_count = 0;
};

struct TransferShape {
    size_t body_bytes = 100;
    bool durable = false;
    uint32_t frame_bytes_max = frame10_bytes_max;
};

PreparedTransfer prepare_transfer(const TransferShape& shape);

class Publisher10 : public Peer10, public Publishing {
  public:
    Publisher10(Session10 session, PreparedTransfer message, uint64_t count);

    Connection& connection() override { return *this; }
    Flushed flush() override;

  protected:
    void on_flow(const revenant::amqp10::Flow& flow) override;
    void on_disposition(const revenant::amqp10::Disposition& disposition) override;

  private:
    // Includes the broker's credit and window.
    uint64_t send_limit() const;
    void append_message();

    PreparedTransfer message_;
    uint64_t sent_count_ = 0;
    // The number of messages that may be sent; zero until the broker's first flow.
    uint64_t credit_limit_ = 0;
    uint64_t frame_limit_ = 0;
};

class Consumer10 : public Peer10, public Consuming {
  public:
    // Grants the broker credit for `credit` messages and renews it when half is used.
    Consumer10(Session10 session, uint64_t settle_every, uint32_t credit);

    Connection& connection() override { return *this; }
    void start() override { grant_credit(/*echo=*/false); }
    void ask_depth(const std::string& queue) override;

  protected:
    void on_flow(const revenant::amqp10::Flow& flow) override;
    void on_transfer(const revenant::amqp10::Transfer& transfer) override;

  private:
    void settle(uint64_t first, uint64_t last, Outcome outcome) override;
    void grant_credit(bool echo);

    uint32_t credit_;
    uint32_t credit_left_ = 0;
    uint32_t received_frames_ = 0;
    uint32_t received_count_ = 0;
    uint32_t delivery_id_ = 0;
};

}  // namespace bench
