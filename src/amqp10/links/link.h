// Link: one direction between a client and a node of ours. It has a channel of the engine for
// itself: commands go in order, and what the engine refuses ends this link only.
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

// What a client's attach said, for as long as the link lives.
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
    bool recovers = false;  // it wants to go on with deliveries of an earlier link
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
    // What a listing shows of it; each kind of link adds what it counts.
    virtual protocol::LinkInfo info() const;

    // Asks for what the link needs. The answer to the attach follows when it is there.
    virtual void start() = 0;
    virtual void on_flow(const Flow& flow) = 0;
    virtual void on_transfer(const Transfer& transfer, std::string_view payload);
    // Too much waits in the session for the client's window; and no longer.
    virtual void on_backlogged() {}
    virtual void on_backlog_cleared() {}
    // The session lets go of it: the engine is told, and nothing more is said to the client.
    void close(bool detached);
    // The engine is gone with all its channels.
    void orphaned();
    // Tells the client that the queue was deleted (amqp10 4.4).
    void node_deleted();
    // It has asked for the deletion of a queue and owes the client the answer.
    virtual bool awaits_deletion() const { return false; }
    // Why the user may not use it any more, if so.
    virtual std::optional<engine::Refusal> permission_refusal() { return std::nullopt; }

    // The answer to an attach that has none yet, in the form of amqp10 5.1: a detach must follow.
    void attach_with_null_terminus();

    // --- effects ---
    bool deliver(engine::Deliver&& effect) override;
    void confirm(const engine::Confirm& effect) override;
    void request(engine::Effect&& effect) override;

  protected:
    // While it belongs to a session; nothing that comes later concerns the client.
    bool is_open() const { return session_ != nullptr; }
    // The client knows of it: nothing may be said about a link before its attach.
    bool is_attached() const { return attached_; }
    bool was_refused() const { return refused_; }
    Session& session() { return *session_; }
    Connection& connection() { return connection_; }
    const AttachParameters& attach_parameters() const { return attach_parameters_; }

    void open_channel(engine::ChannelUse use = engine::ChannelUse::any);
    // A command that the engine answers with Done or Refuse.
    template <typename Command>
    void ask(Command command) {
        expected_ += 1;
        send(engine::Command(std::move(command)));
    }
    void send(engine::Command&& command);
    // The client still listens. Once its connection closes, what happens to the link is no news.
    bool is_heard() const;

    // The answer to a command that was asked.
    virtual void on_done(engine::Done&& done) = 0;
    virtual void on_refused(const engine::Refuse& refuse);
    virtual void on_effect(engine::Effect&& effect);

    // The queue that it ends with.
    virtual std::string queue_name() const { return {}; }
    // The last chance to ask something of the engine.
    virtual void before_close() {}

    // Sends the attach that says yes; the terminuses are as encoded.
    struct Reply {
        std::string source;
        std::string target;
        std::uint8_t snd_settle_mode = settle_mode_mixed;
        std::optional<std::uint32_t> initial_delivery_count;
        std::optional<std::uint64_t> max_message_size;
        std::string properties;  // encoded
    };
    void write_attach(const Reply& reply);
    // What no link of ours can do (amqp10 5.4).
    std::optional<Fault> unsupported() const;
    std::string temporary_queue_name();
    // A queue of this connection alone, made for the link, under a name of our own (amqp10 4.6).
    // The answer may come before this returns. The session ends if the user may not.
    void declare_temporary_queue(const std::string& name);
    static std::string dynamic_node_properties();
    // Ends the link with an error; before it was attached, in the form of amqp10 5.1.
    void fail(Fault fault);

  private:
    Connection& connection_;
    Session* session_;
    AttachParameters attach_parameters_;
    ChannelId channel_;
    bool channel_open_ = false;
    bool attached_ = false;
    bool closing_ = false;
    bool refused_ = false;        // the engine has closed the channel by itself
    std::uint32_t expected_ = 0;  // answers under way, without that to the close
};

}  // namespace revenant::amqp10
