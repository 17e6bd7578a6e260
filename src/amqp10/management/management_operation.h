// ManagementOperation: executes one request to /management, step by step with the engine (amqp10
// 7.4 to 7.12). One request at a time.
#pragma once

#include "amqp10/management/management_request.h"
#include "engine/words/effect.h"
#include "protocol/connection_permissions.h"
#include "protocol/host.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace revenant::amqp10 {

// The connection of a request.
struct ManagementScope {
    protocol::Host& host;
    const protocol::ConnectionSettings& settings;
    std::string user;
    std::string vhost;
};

// The sender of a request.
class ManagementClient {
  public:
    virtual void answer(const ManagementRequest& request, const ManagementAnswer& given) = 0;
    // The client lacks a permission (amqp10 7.12).
    virtual void deny(const engine::Refusal& refusal) = 0;
    // Sends a command to the engine; on_done or on_refused receives the result.
    virtual void send_to_engine(engine::Command&& command) = 0;
    // The client has renewed its credentials (amqp10 7.11).
    virtual void check_permissions_again() = 0;

  protected:
    ~ManagementClient() = default;
};

class ManagementOperation {
  public:
    // `channel` is the client's engine channel.
    ManagementOperation(ManagementClient& client, ManagementScope scope, ChannelId channel);

    void begin(ManagementRequest request);
    // Whether the engine has not yet answered all commands of the request.
    bool is_busy() const { return step_ != Step::none; }
    bool is_deleting() const { return step_ == Step::delete_queue; }
    void on_done(engine::Done&& done);
    void on_refused(const engine::Refusal& refusal);

  private:
    void answer(const ManagementAnswer& answer);
    void refuse(int status, std::string_view text);
    void refuse_line_break(const std::string& name);
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
    void answer_bindings(const engine::BindingsAnswer& listed);
    void unbind_listed(const engine::BindingsAnswer& listed);
    // The ends of a binding named in a request.
    struct NamedEnds {
        const std::string* source;
        const std::string* key;
        const std::string* queue;
        const std::string* exchange;
    };
    // Responds with 400 and the complaint if something is missing.
    bool read_ends(const NamedEnds& named, std::string_view complaint);
    bool read_ends_in_path(std::string_view complaint);
    bool may_bind();

    ManagementClient& client_;
    const ManagementScope scope_;
    const ChannelId channel_;
    protocol::ConnectionPermissions permissions_;

    enum class Step : std::uint8_t {
        none,
        declare_queue,
        describe_queue,
        delete_queue,
        purge_queue,
        declare_exchange,
        without_content,  // responds with 204
        list_bindings,
        find_binding,
    };
    void ask_for_bindings(Step next);

    Step step_ = Step::none;
    int created_status_ = 200;
    ManagementRequest current_;
    std::string source_;
    engine::DestinationKind destination_kind_ = engine::DestinationKind::queue;
    std::string destination_;
    std::string key_;
};

}  // namespace revenant::amqp10
