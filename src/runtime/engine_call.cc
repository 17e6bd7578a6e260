#include "runtime/engine_call.h"

#include "runtime/reactor.h"

#include <cstddef>
#include <deque>
#include <utility>
#include <variant>

namespace revenant::runtime {
namespace {

// Commands of one call that wait for the disk at the same time.
constexpr std::size_t under_way_max = 256;

using Answer = Result<engine::Done, engine::Refusal>;

// Stays on the vhost's home reactor until its reply arrives, which is when the change is durable.
class EngineCall final : public engine::EffectSink,
                         public std::enable_shared_from_this<EngineCall> {
  public:
    EngineCall(Reactor& home, std::shared_ptr<Vhost> vhost)
        : home_(home), vhost_(std::move(vhost)) {}

    std::future<Answer> answer() { return promise_.get_future(); }

    void begin(const std::string& user, engine::Command&& command) {
        if (vhost_->is_deleted()) return promise_.set_value(vhost_is_gone(*vhost_));
        if (vhost_->is_disk_full()) return promise_.set_value(disk_is_full());
        self_ = shared_from_this();
        connection_ = {home_.register_sink(*this)};
        channel_ = {home_.register_sink(*this)};
        std::visit(
            [&](auto& one) {
                if constexpr (requires { one.channel; }) one.channel = channel_;
            },
            command);
        engine::Engine& engine = vhost_->engine();
        engine.handle(engine::OpenConnection{connection_, user}, home_.now());
        engine.handle(engine::OpenChannel{connection_, channel_}, home_.now());
        engine.handle(std::move(command), home_.now());
    }

    bool deliver(engine::Deliver&& /*effect*/) override { return true; }
    void confirm(const engine::Confirm& /*effect*/) override {}
    void request(engine::Effect&& effect) override {
        if (auto* done = std::get_if<engine::Done>(&effect)) {
            end(std::move(*done));
        } else if (auto* refuse = std::get_if<engine::Refuse>(&effect)) {
            end(Unexpected{std::move(refuse->refusal)});
        }
    }

  private:
    // The engine may be in the middle of a turn, so the connection is closed later.
    void end(Answer answer) {
        if (std::exchange(ended_, true)) return;
        home_.post([self = self_,
                    answer = std::make_shared<Answer>(std::move(answer))](Reactor& home) {
            self->vhost_->engine().handle(engine::CloseConnection{self->connection_}, home.now());
            home.release_sink(self->channel_.value);
            home.release_sink(self->connection_.value);
            self->promise_.set_value(std::move(*answer));
            self->self_.reset();
        });
    }

    Reactor& home_;
    std::shared_ptr<Vhost> vhost_;
    std::shared_ptr<EngineCall> self_;  // keeps the call alive if the caller has stopped waiting
    std::promise<Answer> promise_;
    ConnectionId connection_;
    ChannelId channel_;
    bool ended_ = false;
};

std::future<Answer> send(const std::shared_ptr<Vhost>& vhost, const std::string& user,
                         engine::Command command) {
    const auto call = std::make_shared<EngineCall>(vhost->home(), vhost);
    std::future<Answer> answer = call->answer();
    vhost->home().post(
        [call, user, command = std::make_shared<engine::Command>(std::move(command))](Reactor&) {
            call->begin(user, std::move(*command));
        });
    return answer;
}

}  // namespace

Result<engine::Done, engine::Refusal> execute(const std::shared_ptr<Vhost>& vhost,
                                              const std::string& user, engine::Command command) {
    return await_answer(send(vhost, user, std::move(command)), vhost.get());
}

std::vector<Result<engine::Done, engine::Refusal>> execute_all(
    const std::shared_ptr<Vhost>& vhost, const std::string& user,
    std::vector<engine::Command> commands) {
    std::vector<Answer> answers;
    std::deque<std::future<Answer>> under_way;
    for (engine::Command& command : commands) {
        if (under_way.size() == under_way_max) {
            answers.push_back(await_answer(std::move(under_way.front()), vhost.get()));
            under_way.pop_front();
        }
        under_way.push_back(send(vhost, user, std::move(command)));
    }
    for (auto& answer : under_way) answers.push_back(await_answer(std::move(answer), vhost.get()));
    return answers;
}

}  // namespace revenant::runtime
