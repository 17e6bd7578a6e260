// One connection of the load, driven by the loop without blocking: a publisher of prepared messages
// or a consumer that settles what it gets. A peer owns its Session.
#pragma once

#include "amqp.h"
#include "session.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

enum class Flushed { all, blocked };

class Peer {
  public:
    explicit Peer(Session session);
    virtual ~Peer() = default;
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;
    Peer(Peer&&) = delete;
    Peer& operator=(Peer&&) = delete;

    int descriptor() const { return session_.descriptor(); }

    // Reads once and handles every whole frame. Throws Failure when the broker closes.
    void receive();
    // Writes as much as the socket takes, a bounded amount; `blocked` asks to be called when it is
    // writable.
    virtual Flushed flush();

    // Asks for the depth of a queue behind everything sent so far on this channel. As the channel
    // is ordered, the answer also says that the broker has handled all of it.
    void ask_depth(const std::string& queue);
    bool has_depth() const { return depth_.has_value(); }
    uint64_t depth() const { return depth_.value_or(0); }

  protected:
    virtual void on_method(MethodId id, std::string_view arguments);
    virtual void on_header(std::string_view /*payload*/) {}
    virtual void on_body(std::string_view /*payload*/) {}

    std::string& output() { return output_; }

  private:
    void handle(const Frame& frame);

    Session session_;
    std::vector<char> input_;
    size_t input_bytes_ = 0;
    std::string output_;
    size_t output_sent_ = 0;
    std::optional<uint64_t> depth_;
};

class Publisher : public Peer {
  public:
    // Sends `count` copies of the message, no more than allow() and the confirm window let go.
    Publisher(Session session, PreparedMessage message, uint64_t count);

    void limit_unconfirmed(uint64_t window);
    void allow(uint64_t messages) { allowed_ = messages; }
    // Every message expires at this moment: its expiration is what is left when it is sent.
    void expire_all_at(uint64_t deadline_ns) { deadline_ns_ = deadline_ns; }

    bool all_sent() const { return sent_bytes_ == count_ * message_.bytes.size(); }
    bool all_confirmed() const { return confirmed_count_ == count_; }
    uint64_t confirmed_count() const { return confirmed_count_; }
    uint64_t refused_count() const { return refused_count_; }

    Flushed flush() override;

    // Fixed width, so that expire_all_at() can write the remaining time in place.
    static constexpr std::string_view expiration_placeholder = "0000000";

  protected:
    void on_method(MethodId id, std::string_view arguments) override;

  private:
    void on_confirm(uint64_t tag, Reach reach, Outcome outcome);
    void write_remaining_time();

    PreparedMessage message_;
    std::string block_;  // Many copies of the message, so that one write carries many.
    uint64_t count_;
    uint64_t allowed_;
    uint64_t sent_bytes_ = 0;
    uint64_t deadline_ns_ = 0;

    uint64_t window_ = 0;  // 0: confirms are off.
    uint64_t confirmed_count_ = 0;
    uint64_t refused_count_ = 0;
    uint64_t lowest_unconfirmed_ = 1;
    std::vector<bool> confirmed_;
};

// Publishes single messages whose body starts with a number: the latency load.
class StampedPublisher : public Peer {
  public:
    StampedPublisher(Session session, PreparedMessage message);
    void publish(uint64_t stamp);
    // With an expiration of its own; the message must have been prepared with one of five digits.
    void publish(uint64_t stamp, uint64_t ttl_ms);

  private:
    PreparedMessage message_;
};

class Consumer : public Peer {
  public:
    // Settles after every `settle_every` deliveries, all of them with one frame.
    Consumer(Session session, uint64_t settle_every);

    // Decides what becomes of a delivery, by its ordinal from 0. Without it all are accepted.
    std::function<Outcome(uint64_t ordinal)> decide;
    // Sees the first body frame of each delivery.
    std::function<void(std::string_view body)> on_first_body;

    uint64_t delivered_count() const { return delivered_count_; }
    // Of the delivery that decide() is asked about, or of the last one.
    uint64_t body_bytes() const { return body_bytes_; }
    void settle_pending();

  protected:
    void on_method(MethodId id, std::string_view arguments) override;
    void on_header(std::string_view payload) override;
    void on_body(std::string_view payload) override;

  private:
    void on_delivered();

    uint64_t settle_every_;
    uint64_t delivered_count_ = 0;
    uint64_t delivery_tag_ = 0;
    uint64_t body_bytes_ = 0;
    uint64_t body_bytes_left_ = 0;
    bool body_started_ = false;
    uint64_t pending_count_ = 0;
    uint64_t pending_tag_ = 0;
    Outcome pending_outcome_ = Outcome::accepted;
};

}  // namespace bench
