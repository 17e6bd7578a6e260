// Management: the node /management, which clients reach through a pair of links of one name, and
// declare, bind and look at things through it (section 7).
#pragma once

#include "amqp10/link.h"
#include "amqp10/management_request.h"
#include "protocol/rights.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace revenant::amqp10 {

// Does this attach name /management?
bool is_management(const Attach& attach);
std::unique_ptr<Link> make_management_link(Session& session, const Attach& attach);

// One half of a pair.
class ManagementLink : public Link {
  public:
    using Link::Link;
    void start() override;

  protected:
    // The address of the client at its own end; equal in both halves.
    std::string client_address() const;
    ManagementLink* other_half();
    virtual void attached() = 0;

  private:
    void on_done(engine::Done&&) override {}
};

// Requests come in here. They are worked on one after the other.
class ManagementRequests final : public ManagementLink {
  public:
    ManagementRequests(Session& session, const Attach& attach);
    void on_flow(const Flow& flow) override;
    void on_transfer(const Transfer& transfer, std::string_view payload) override;

  private:
    void attached() override;
    void on_done(engine::Done&& done) override;
    void on_refused(const engine::Refuse& refuse) override;

    void grant_credit();
    void next_request();
    void work();
    void answer(const ManagementAnswer& answer);
    bool require(Permission permission, std::string_view kind, std::string_view name);

    void declare_queue();
    void delete_queue();
    void purge_queue();
    void describe_queue();
    void declare_exchange();
    void delete_exchange();
    void bind();
    void list_bindings();
    void unbind();
    void unbind_listed(const engine::BindingsAnswer& listed);
    // What a binding of this request joins; answered with 400 if the request does not say.
    bool read_binding_ends(bool from_body);
    bool may_bind();
    // The refusal that goes along with a command.
    std::optional<engine::Refusal> noted(std::optional<engine::Refusal> refusal);
    // Answers that were not given yet.
    std::uint32_t owed() const;

    protocol::Rights rights_;
    std::uint32_t delivery_count_ = 0;
    std::uint32_t credit_ = 0;
    std::deque<ManagementRequest> waiting_;

    // The request being worked on.
    enum class Step : std::uint8_t {
        none,
        declare_queue,
        describe_queue,
        delete_queue,
        purge_queue,
        declare_exchange,
        without_content,  // answered by 204
        list_bindings,
        find_binding,
    };
    Step step_ = Step::none;
    int created_status_ = 200;
    // What the engine refuses in these words is a matter of permissions: it ends the session.
    std::string permission_text_;
    ManagementRequest current_;
    std::string source_;
    engine::DestinationKind destination_kind_ = engine::DestinationKind::queue;
    std::string destination_;
    std::string key_;
};

// Answers leave here.
class ManagementResponses final : public ManagementLink {
  public:
    using ManagementLink::ManagementLink;
    void on_flow(const Flow& flow) override;
    // The client may take back what was used already: serial numbers (1.4).
    std::uint32_t credit() const {
        const auto left = static_cast<std::int32_t>(credit_until_ - delivery_count_);
        return left > 0 ? static_cast<std::uint32_t>(left) : 0;
    }
    void send_answer(std::string message);

  private:
    void attached() override {}

    std::uint32_t delivery_count_ = 0;
    std::uint32_t credit_until_ = 0;
};

}  // namespace revenant::amqp10
