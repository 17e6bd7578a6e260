// Management: the node /management, which clients use through a pair of links with the same name to
// declare, bind and inspect queues and exchanges (section 7).
#pragma once

#include "amqp10/links/link.h"
#include "amqp10/management/management_operation.h"
#include "amqp10/management/management_request.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

namespace revenant::amqp10 {

// Whether this attach addresses /management.
bool is_management(const Attach& attach);
std::unique_ptr<Link> make_management_link(Session& session, const Attach& attach);

// One link of a pair.
class ManagementLink : public Link {
  public:
    using Link::Link;
    void start() override;

  protected:
    // The client's own address; the same in both links.
    std::string client_address() const;
    ManagementLink* other_half();
    virtual void attached() = 0;

  private:
    void on_done(engine::Done&&) override {}
};

// Receives requests and processes them one at a time.
class ManagementRequests final : public ManagementLink, private ManagementClient {
  public:
    ManagementRequests(Session& session, const Attach& attach);
    void on_flow(const Flow& flow) override;
    void on_transfer(const Transfer& transfer, std::string_view payload) override;
    void on_backlog_cleared() override { grant_credit(); }
    protocol::LinkInfo info() const override;
    bool awaits_deletion() const override { return work_.is_deleting(); }

  private:
    void answer(const ManagementRequest& request, const ManagementAnswer& given) override;
    void deny(const engine::Refusal& refusal) override;
    void send_to_engine(engine::Command&& command) override;
    void check_permissions_again() override;

    void attached() override;
    void on_done(engine::Done&& done) override;
    void on_refused(const engine::Refuse& refuse) override;

    void grant_credit();
    void next_request();
    // The number of responses not sent yet.
    std::uint32_t outstanding_responses() const;

    ManagementOperation work_;
    std::uint32_t delivery_count_ = 0;
    std::uint32_t credit_ = 0;
    std::deque<ManagementRequest> waiting_;
};

// Sends responses.
class ManagementResponses final : public ManagementLink {
  public:
    using ManagementLink::ManagementLink;
    void on_flow(const Flow& flow) override;
    // The client may revoke credit that is already used: serial numbers (amqp10 1.4).
    std::uint32_t credit() const {
        const auto left = static_cast<std::int32_t>(credit_until_ - delivery_count_);
        return left > 0 ? static_cast<std::uint32_t>(left) : 0;
    }
    void send_answer(std::string message);
    protocol::LinkInfo info() const override;

  private:
    void attached() override {}

    std::uint32_t delivery_count_ = 0;
    std::uint32_t credit_until_ = 0;
};

}  // namespace revenant::amqp10
