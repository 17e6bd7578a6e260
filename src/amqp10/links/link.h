// Link: one direction between a client and an exchange or queue. Each link has its own engine
// channel: its commands are handled in order, and a refusal ends only this link.
#pragma once

#include "amqp10/codec/fault.h"
#include "amqp10/codec/performatives.gen.h"
#include "base/ids.h"
#include "engine/words/command.h"
#include "engine/words/effect.h"
#include "protocol/session_info.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace revenant::amqp10 {

class Connection;
class Session;

// The fields of the client's attach.
struct AttachParameters {
    explicit AttachParameters(const Attach& attach);
    std::string name;
    std::uint32_t handle = 0;
    bool client_receives = false;
    std::uint8_t snd_settle_mode = 2;
    std::uint8_t rcv_settle_mode = 0;
    std::string source;  // encoded
    std::string target;
    std::uint32_t initial_delivery_count = 0;
    std::optional<std::uint64_t> max_message_size;
    std::string properties;
    bool recovers = false;  // requests to resume deliveries of an earlier link
};

constexpr std::uint8_t settle_mode_unsettled = 0;
constexpr std::uint8_t settle_mode_settled = 1;
constexpr std::uint8_t settle_mode_mixed = 2;

class Link : public engine::EffectSink {
  public:
    Link(Session& session, const Attach& attach);
    ~Link() override;
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    std::uint32_t handle() const { return attach_parameters_.handle; }
    const std::string& name() const { return attach_parameters_.name; }
    ChannelId channel() const { return channel_; }
    bool client_receives() const { return attach_parameters_.client_receives; }
    // The data for listings. Each type of link adds its counts.
    virtual protocol::LinkInfo info() const;

    // Sends the first commands to the engine. The attach is answered when they are done.
    virtual void start() = 0;
    virtual void on_flow(const Flow& flow) = 0;
    virtual void on_transfer(const Transfer& transfer, std::string_view payload);
    // Too many transfers are waiting for the client's window, or no longer.
    virtual void on_backlogged() {}
    virtual void on_backlog_cleared() {}
    // The session releases the link. Notifies the engine but not the client.
    void close(bool detached);
    // The connection has lost the engine and all its channels.
    void orphaned();
    // Detaches the link because the queue was deleted (amqp10 4.4).
    void node_deleted();
    // The link has requested the deletion of a queue and has not yet replied to the client.
    virtual bool awaits_deletion() const { return false; }
    // Returns a refusal if the user no longer has permission for the link.
    virtual std::optional<engine::Refusal> permission_refusal() { return std::nullopt; }

    // Answers a pending attach in the form of amqp10 5.1, which requires a detach to follow.
    void attach_with_null_terminus();

    // --- effects ---
    bool deliver(engine::Deliver&& effect) override;
    void confirm(const engine::Confirm& effect) override;
    void request(engine::Effect&& effect) override;

  protected:
    // Whether the link belongs to a session. Later events are not sent to the client.
    bool is_open() const { return session_ != nullptr; }
    // Whether attach was sent. Nothing may be sent for a link before its attach.
    bool is_attached() const { return attached_; }
    bool was_refused() const { return refused_; }
    Session& session() { return *session_; }
    Connection& connection() { return connection_; }
    const AttachParameters& attach_parameters() const { return attach_parameters_; }

    void open_channel(engine::ChannelUse use = engine::ChannelUse::any);
    // Sends a command that the engine answers with Done or Refuse.
    template <typename Command>
    void ask(Command command) {
        expected_ += 1;
        send(engine::Command(std::move(command)));
    }
    void send(engine::Command&& command);
    // Whether the client is still notified. Once its connection closes, changes to the link are not
    // reported.
    bool is_heard() const;

    // Called when a command sent with ask() is done.
    virtual void on_done(engine::Done&& done) = 0;
    virtual void on_refused(const engine::Refuse& refuse);
    virtual void on_effect(engine::Effect&& effect);

    // The link ends with this queue.
    virtual std::string queue_name() const { return {}; }
    // The last opportunity to send commands to the engine.
    virtual void before_close() {}

    // Sends the attach that accepts the link. Source and target are encoded.
    struct Reply {
        std::string source;
        std::string target;
        std::uint8_t snd_settle_mode = settle_mode_mixed;
        std::optional<std::uint32_t> initial_delivery_count;
        std::optional<std::uint64_t> max_message_size;
        std::string properties;  // encoded
    };
    void write_attach(const Reply& reply);
    // The fault for features that no link supports (amqp10 5.4).
    std::optional<Fault> unsupported() const;
    std::string temporary_queue_name();
    // Declares an exclusive queue with a generated name for the link (amqp10 4.6). The result may
    // arrive before this returns. Ends the session if the user lacks permission.
    void declare_temporary_queue(const std::string& name);
    static std::string dynamic_node_properties();
    // Ends the link with an error; before the attach, in the form of amqp10 5.1.
    void fail(Fault fault);

  private:
    Connection& connection_;
    Session* session_;
    AttachParameters attach_parameters_;
    ChannelId channel_;
    bool channel_open_ = false;
    bool attached_ = false;
    bool closing_ = false;
    bool refused_ = false;        // the engine has closed the channel
    std::uint32_t expected_ = 0;  // answers outstanding, except for the close
};

}  // namespace revenant::amqp10
