// IncomingLink: a link on which the client sends to an exchange or a queue, or to the address in
// each message. Transfers become publishes; confirms become outcomes.
#pragma once

#include "amqp10/links/link.h"
#include "amqp10/links/session.h"
#include "amqp10/message/address.h"
#include "protocol/connection_permissions.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace revenant::amqp10 {

struct IncomingMessage;

class IncomingLink final : public Link {
  public:
    IncomingLink(Session& session, const Attach& attach);

    void start() override;
    void on_flow(const Flow& flow) override;
    void on_transfer(const Transfer& transfer, std::string_view payload) override;
    void confirm(const engine::Confirm& effect) override;
    protocol::LinkInfo info() const override;
    std::optional<engine::Refusal> permission_refusal() override;

  private:
    // A message that has not arrived completely.
    struct PartialDelivery {
        std::uint32_t delivery_id = 0;
        bool settled = false;
        std::string tag;
        std::string bytes;  // of all transfers except the last
    };
    // A publish without an outcome yet.
    struct Pending {
        std::uint32_t delivery_id = 0;
        bool answered = false;
    };
    // The destination of a message.
    struct Destination {
        std::string exchange;
        std::string routing_key;
    };

    std::optional<Fault> choose_target();
    bool is_anonymous() const { return !destination_; }
    void on_done(engine::Done&& done) override;
    void on_effect(engine::Effect&& effect) override;
    void before_close() override;
    std::string queue_name() const override { return destination_->routing_key; }
    void attach();
    std::string target_of_reply() const;
    bool begin_message(const Transfer& transfer);
    void publish(std::string_view bytes);
    // Moves data out of `published`.
    void publish_to(const Destination& destination, IncomingMessage& published);
    Result<Destination, Fault> destination_of(const IncomingMessage& published) const;
    // Refuses a message. The link stays attached if possible.
    void refuse_message(Fault fault);
    void on_publish_refused(const engine::PublishRefused& effect);
    // Removes the pending delivery with that number and returns its id.
    std::optional<std::uint32_t> take_pending(std::uint64_t sequence);
    void settle(std::uint64_t sequence, PublishOutcome outcome);
    void reject(std::uint64_t sequence, const Fault& fault);
    void grant_credit();

    protocol::ConnectionPermissions permissions_;
    std::optional<Destination> destination_;
    bool temporary_ = false;  // the queue was created for the link and is deleted with it
    std::uint32_t delivery_count_ = 0;
    std::uint32_t credit_ = 0;
    std::optional<PartialDelivery> arriving_;
    std::deque<Pending> pending_;
    std::uint64_t next_sequence_ = 1;  // the number after the last in pending_
};

}  // namespace revenant::amqp10
