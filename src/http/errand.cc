#include "http/errand.h"

#include "base/check.h"
#include "http/responses.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace revenant::http {
namespace {

constexpr std::size_t name_bytes_max = 255;  // a short string of AMQP
constexpr std::string_view default_exchange = "amq.default";

using Answer = std::optional<Result<engine::Done, engine::Refusal>>;

// Hears what the engine says to the passing connection and channel.
class Ear final : public engine::EffectSink {
  public:
    bool deliver(engine::Deliver&& /*effect*/) override { return true; }
    void confirm(const engine::Confirm& /*effect*/) override {}
    void request(engine::Effect&& effect) override {
        if (auto* done = std::get_if<engine::Done>(&effect)) {
            if (!answer) answer.emplace(std::move(*done));
        } else if (auto* refuse = std::get_if<engine::Refuse>(&effect)) {
            if (!answer) answer.emplace(Unexpected{std::move(refuse->refusal)});
        }
    }

    Answer answer;
};

Result<engine::Done, engine::Refusal> carry_out_at_home(runtime::Reactor& home,
                                                        engine::Engine& engine,
                                                        const std::string& user,
                                                        engine::Command&& command) {
    Ear ear;
    const ConnectionId connection{home.register_sink(ear)};
    const ChannelId channel{home.register_sink(ear)};
    std::visit(
        [&](auto& one) {
            if constexpr (requires { one.channel; }) one.channel = channel;
        },
        command);
    engine.handle(engine::OpenConnection{connection, user}, home.now());
    engine.handle(engine::OpenChannel{connection, channel}, home.now());
    engine.handle(std::move(command), home.now());
    Answer answer = std::move(ear.answer);
    engine.handle(engine::CloseConnection{connection}, home.now());
    home.release_sink(channel.value);
    home.release_sink(connection.value);
    CHECK(answer.has_value());
    return std::move(*answer);
}

}  // namespace

Result<engine::Done, engine::Refusal> carry_out(runtime::Broker& broker,
                                                const std::shared_ptr<runtime::Vhost>& vhost,
                                                const std::string& user, engine::Command command) {
    return broker.ask(vhost->home(), [&](runtime::Reactor& home) {
        return carry_out_at_home(home, vhost->engine(), user, std::move(command));
    });
}

Response access_refused() { return not_authorised("Access refused."); }

Response response_to(const engine::Refusal& refusal) {
    switch (refusal.kind) {
        case engine::RefusalKind::not_found:
            return error_response(404, "not_found", refusal.text);
        case engine::RefusalKind::access_refused:
        case engine::RefusalKind::not_allowed:
            return access_refused();
        case engine::RefusalKind::precondition_failed:
        case engine::RefusalKind::resource_locked:
        case engine::RefusalKind::not_implemented:
            break;
    }
    return bad_request(refusal.text);
}

bool Rights::queue(Permission permission, std::string_view name) const {
    return call_.access->allowed(call_.user->name, vhost_, permission, name);
}

bool Rights::exchange(Permission permission, std::string_view name) const {
    return call_.access->allowed(call_.user->name, vhost_, permission,
                                 name.empty() ? default_exchange : name);
}

std::optional<engine::Refusal> Rights::topic(Permission permission, std::string_view exchange,
                                             std::string_view routing_key) const {
    if (call_.access->topic_allowed(call_.user->name, vhost_, exchange, permission, routing_key)) {
        return std::nullopt;
    }
    return engine::Refusal{engine::RefusalKind::access_refused, "topic access refused"};
}

std::optional<std::string> amqp_name(std::string_view name) {
    if (name.size() > name_bytes_max) return std::nullopt;
    std::string clean(name);
    std::erase_if(clean, [](char c) { return c == '\r' || c == '\n'; });
    return clean;
}

std::optional<std::string> exchange_name(std::string_view name) {
    return name == default_exchange ? "" : amqp_name(name);
}

}  // namespace revenant::http
