// OutgoingLink: a link on which the client receives from a queue: credit, deliveries and outcomes.
#pragma once

#include "amqp10/links/client_outcome.h"
#include "amqp10/links/link.h"

#include <cstdint>
#include <optional>
#include <string>

namespace revenant::amqp10 {

class OutgoingLink final : public Link {
  public:
    using Link::Link;

    void start() override;
    void on_flow(const Flow& flow) override;
    void on_backlogged() override;
    void on_backlog_cleared() override;
    bool deliver(engine::Deliver&& effect) override;
    protocol::LinkInfo info() const override;
    std::optional<engine::Refusal> permission_refusal() override;
    // The client has settled this delivery.
    void settle(std::uint64_t delivery, const ClientOutcome& outcome);

  private:
    // The source of its messages.
    enum class SourceKind : std::uint8_t {
        queue,
        temporary_queue,  // created for the link, deleted with it
        replies,          // direct reply-to, without a queue
    };

    std::optional<Fault> choose_origin();
    std::optional<Fault> choose_dynamic_origin();
    void consume();
    void on_done(engine::Done&& done) override;
    void on_refused(const engine::Refuse& refuse) override;
    void on_effect(engine::Effect&& effect) override;
    void before_close() override;
    std::string queue_name() const override { return queue_; }
    void on_credit_state(const engine::CreditState& state);
    void on_reply_credit(std::uint64_t until, const Flow& flow);
    std::string source_of_reply() const;
    std::string address() const;

    SourceKind origin_ = SourceKind::queue;
    std::string queue_;
    bool presettled_ = false;
    bool consuming_ = false;
    bool timed_out_ = false;          // whether any delivery has ever timed out
    std::optional<Flow> early_flow_;  // received before there was a consumer
    // Counts of the client: messages sent, and credit that was drained.
    std::uint64_t delivery_count_ = 0;
    std::uint64_t drained_ = 0;
    std::uint64_t credit_until_ = 0;        // in the engine's count, without drained credit
    std::uint64_t reply_credit_until_ = 0;  // credit for replies, in the client's count
};

}  // namespace revenant::amqp10
