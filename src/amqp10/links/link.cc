#include "amqp10/links/link.h"

#include "amqp10/codec/descriptors.h"
#include "amqp10/codec/map_walk.h"
#include "amqp10/codec/raw_fields.h"
#include "amqp10/codec/value_conversion.h"
#include "amqp10/links/connection.h"
#include "amqp10/links/session.h"
#include "protocol/user_permissions.h"

#include <utility>

namespace revenant::amqp10 {

AttachParameters::AttachParameters(const Attach& attach)
    : name(attach.name),
      handle(attach.handle),
      client_receives(attach.role),
      snd_settle_mode(attach.snd_settle_mode),
      rcv_settle_mode(attach.rcv_settle_mode),
      source(attach.source),
      target(attach.target),
      initial_delivery_count(attach.initial_delivery_count.value_or(0)),
      max_message_size(attach.max_message_size),
      properties(attach.properties),
      recovers(attach.incomplete_unsettled || MapWalk::of_value(attach.unsettled).next()) {}

Link::Link(Session& session, const Attach& attach)
    : connection_(session.connection()),
      session_(&session),
      attach_parameters_(attach),
      channel_(connection_.host().register_channel(*this)) {}

protocol::LinkInfo Link::info() const {
    protocol::LinkInfo info;
    info.handle = attach_parameters_.handle;
    info.name = attach_parameters_.name;
    info.client_receives = attach_parameters_.client_receives;
    info.settle_mode = attach_parameters_.snd_settle_mode == settle_mode_unsettled
                           ? protocol::SettleMode::unsettled
                       : attach_parameters_.snd_settle_mode == settle_mode_settled
                           ? protocol::SettleMode::settled
                           : protocol::SettleMode::mixed;
    if (attach_parameters_.client_receives) {
        if (const auto source = composite_in<Source>(attach_parameters_.source)) {
            info.address = string_of(source->address);
        }
        if (attach_parameters_.max_message_size.value_or(0) != 0)
            info.max_message_size = attach_parameters_.max_message_size;
    } else {
        if (const auto target = composite_in<Target>(attach_parameters_.target)) {
            info.address = string_of(target->address);
        }
        info.max_message_size = connection_.settings().max_message_size;
    }
    return info;
}

Link::~Link() { connection_.host().release_channel(channel_); }

void Link::open_channel(engine::ChannelUse use) {
    channel_open_ = true;
    send(engine::OpenChannel{connection_.id(), channel_, use});
}

void Link::send(engine::Command&& command) {
    if (connection_.is_attached()) connection_.send(std::move(command));
}

bool Link::is_heard() const {
    return is_open() && connection_.is_attached() && !connection_.closes_soon();
}

void Link::close(bool detached) {
    // The last command may have immediate effects, which this link must not handle.
    session_ = nullptr;
    closing_ = true;
    before_close();
    if (channel_open_ && connection_.is_attached()) {
        send(engine::CloseChannel{channel_, detached});
    } else {
        connection_.link_closed(*this);
    }
}

void Link::orphaned() {
    session_ = nullptr;
    closing_ = true;
}

// ------------------------------------------------------------------------- effects

bool Link::deliver(engine::Deliver&&) { return true; }
void Link::confirm(const engine::Confirm&) {}
void Link::on_effect(engine::Effect&&) {}

void Link::on_transfer(const Transfer&, std::string_view) {
    session().fail(
        {condition::not_allowed, "transfer on a link on which the client is the receiver", {}});
}

void Link::request(engine::Effect&& effect) {
    const Connection::EffectScope scope(connection_);
    // Whatever the state of the link, its connection must resume deliveries later.
    if (std::holds_alternative<engine::DeliveriesPaused>(effect)) {
        return connection_.deliveries_paused();
    }
    const auto* const refuse = std::get_if<engine::Refuse>(&effect);
    if (refuse != nullptr) {
        // The engine does not answer earlier commands any more, except for a close.
        refused_ = true;
        expected_ = 0;
        if (is_heard()) on_refused(*refuse);
        return;
    }
    auto* const done = std::get_if<engine::Done>(&effect);
    if (done == nullptr) {
        if (is_heard()) on_effect(std::move(effect));
        return;
    }
    if (expected_ > 0) {
        expected_ -= 1;
        if (is_heard()) on_done(std::move(*done));
    } else if (closing_) {
        connection_.link_closed(*this);
    }
}

void Link::on_refused(const engine::Refuse& refuse) { fail(fault_of(refuse.refusal)); }

// ------------------------------------------------------------------------- attach and detach

std::optional<Fault> Link::unsupported() const {
    if (attach_parameters_.recovers)
        return Fault{condition::not_implemented, "Link recovery not supported", {}};
    if (attach_parameters_.rcv_settle_mode != 0 &&
        attach_parameters_.snd_settle_mode != settle_mode_settled) {
        return Fault{condition::not_implemented, "rcv-settle-mode second not supported", {}};
    }
    return std::nullopt;
}

std::string Link::temporary_queue_name() {
    constexpr std::size_t names_bytes_max = 150;
    const std::string& container = connection_.container_id();
    const bool are_names = is_string(container) && is_string(name());
    if (!are_names || container.size() + name().size() >= names_bytes_max) {
        return connection_.host().random_name("amq.dyn.gen-");
    }
    return connection_.host().random_name("amq.dyn-" + container + "-" + name() + "-");
}

std::string Link::dynamic_node_properties() {
    std::string encoded;
    TypeWriter(encoded).datum(Datum::map(
        {{Datum::symbol("lifetime-policy"),
          {Type::described, Data{Datum::symbol("amqp:delete-on-close:list"), Datum::list({})}}},
         {Datum::symbol("supported-dist-modes"), Datum::array({Datum::symbol("move")})}}));
    return encoded;
}

void Link::declare_temporary_queue(const std::string& name) {
    const protocol::UserPermissions permissions(*connection_.host().access(), connection_.user(),
                                                connection_.vhost());
    if (const auto refusal = permissions.refusal(Permission::configure, "queue", name)) {
        return session_->fail(fault_of(*refusal));
    }
    engine::DeclareQueue command;
    command.channel = channel_;
    command.name = name;
    command.server_named = true;
    command.durable = true;
    command.exclusive = true;
    permissions.add_vhost_settings(command, "classic");
    ask(std::move(command));
}

void Link::write_attach(const Reply& reply) {
    attached_ = true;
    Attach attach;
    attach.name = attach_parameters_.name;
    attach.handle = attach_parameters_.handle;
    attach.role = !attach_parameters_.client_receives;
    attach.snd_settle_mode = reply.snd_settle_mode;
    attach.rcv_settle_mode = attach_parameters_.rcv_settle_mode;
    attach.source = reply.source;
    attach.target = reply.target;
    attach.initial_delivery_count = reply.initial_delivery_count;
    attach.max_message_size = reply.max_message_size;
    attach.properties = reply.properties;
    connection_.write(session_->channel(), attach);
}

void Link::attach_with_null_terminus() {
    if (attached_) return;
    Reply refusal;
    if (attach_parameters_.client_receives) {
        refusal.target = attach_parameters_.target;
        refusal.initial_delivery_count = 0;
    } else {
        refusal.source = attach_parameters_.source;
    }
    refusal.snd_settle_mode = attach_parameters_.snd_settle_mode;
    write_attach(refusal);
}

void Link::node_deleted() {
    if (session_->ends_later(*this)) return;
    fail({condition::resource_deleted,
          "queue '" + queue_name() + "' in vhost '" + connection_.vhost() + "' was deleted",
          {}});
}

void Link::fail(Fault fault) {
    attach_with_null_terminus();
    session_->detach(*this, std::move(fault));
}

}  // namespace revenant::amqp10
