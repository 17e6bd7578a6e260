#include "http/api/messages/message_call.h"

#include "http/api/engine_call.h"

#include <future>
#include <utility>
#include <variant>

namespace revenant::http {
namespace {

// Messages fetched before the reactor continues with other work.
constexpr std::uint64_t fetched_at_once_max = 64;

// A connection with one channel on the home reactor of the virtual host. It closes after its
// answer.
template <typename Outcome>
class TemporaryConnection : public engine::EffectSink,
                            public std::enable_shared_from_this<TemporaryConnection<Outcome>> {
  public:
    using Answer = Result<Outcome, engine::Refusal>;

    explicit TemporaryConnection(std::shared_ptr<runtime::Vhost> vhost)
        : vhost_(std::move(vhost)) {}

    // Must not be called from a reactor thread.
    Answer run(const std::string& user) {
        std::future<Answer> answer = promise_.get_future();
        home().post([self = this->shared_from_this(), user](runtime::Reactor&) {
            if (self->vhost_->is_deleted()) {
                return self->promise_.set_value(vhost_is_gone(*self->vhost_));
            }
            if (self->vhost_->is_disk_full() && self->must_be_written()) {
                return self->promise_.set_value(disk_is_full());
            }
            self->open_connection(user);
            self->work();
        });
        return await_answer(std::move(answer), must_be_written() ? vhost_.get() : nullptr);
    }

    bool deliver(engine::Deliver&& /*effect*/) override { return true; }
    void confirm(const engine::Confirm& /*effect*/) override {}
    void request(engine::Effect&& effect) override {
        if (auto* refuse = std::get_if<engine::Refuse>(&effect)) {
            end(Unexpected{std::move(refuse->refusal)});
        } else {
            on_effect(std::move(effect));
        }
    }

  protected:
    // Whether the answer depends on a durable change.
    virtual bool must_be_written() const = 0;
    virtual void work() = 0;
    virtual void on_effect(engine::Effect&& effect) = 0;

    runtime::Reactor& home() { return vhost_->home(); }
    ChannelId channel() const { return channel_; }
    bool ended() const { return ended_; }
    void handle(engine::Command&& command) {
        vhost_->engine().handle(std::move(command), home().now());
    }
    // Posts the end to the reactor, because the engine may be in the middle of a turn.
    void end(Answer answer) {
        if (std::exchange(ended_, true)) return;
        home().post([self = self_, answer = std::make_shared<Answer>(std::move(answer))](
                        runtime::Reactor& there) {
            self->handle(engine::CloseConnection{self->connection_});
            there.release_sink(self->channel_.value);
            there.release_sink(self->connection_.value);
            self->promise_.set_value(std::move(*answer));
            self->self_.reset();
        });
    }

  private:
    void open_connection(const std::string& user) {
        self_ = this->shared_from_this();
        connection_ = {home().register_sink(*this)};
        channel_ = {home().register_sink(*this)};
        handle(engine::OpenConnection{connection_, user});
        handle(engine::OpenChannel{connection_, channel_});
    }

    std::shared_ptr<runtime::Vhost> vhost_;
    std::shared_ptr<TemporaryConnection> self_;  // the caller may have timed out and left
    std::promise<Answer> promise_;
    ConnectionId connection_;
    ChannelId channel_;
    bool ended_ = false;
};

class Publisher final : public TemporaryConnection<PublishOutcome> {
  public:
    Publisher(std::shared_ptr<runtime::Vhost> vhost, engine::Publish command)
        : TemporaryConnection(std::move(vhost)), command_(std::move(command)) {}

    void confirm(const engine::Confirm& effect) override {
        if (!effect.accepted) return end(PublishOutcome::rejected);
        end(returned_ ? PublishOutcome::unroutable : PublishOutcome::routed);
    }

  private:
    bool must_be_written() const override { return true; }
    void work() override {
        command_.channel = channel();
        command_.mandatory = true;
        command_.confirm_sequence = 1;
        handle(std::move(command_));
    }
    void on_effect(engine::Effect&& effect) override {
        if (std::holds_alternative<engine::ReturnUnroutable>(effect)) returned_ = true;
    }

    engine::Publish command_;
    bool returned_ = false;
};

class Fetcher final : public TemporaryConnection<std::vector<engine::GetAnswer>> {
  public:
    Fetcher(std::shared_ptr<runtime::Vhost> vhost, FetchRequest wish)
        : TemporaryConnection(std::move(vhost)), wish_(std::move(wish)) {}

  private:
    bool must_be_written() const override { return false; }
    // Fetches one message at a time, because each answer says whether the queue is empty.
    void work() override {
        for (std::uint64_t i = 0; i < fetched_at_once_max; ++i) {
            if (ended() || awaiting_) return;
            if (empty_ || fetched_.size() >= wish_.count || bytes_ >= fetched_bytes_max) {
                return finish();
            }
            awaiting_ = true;
            working_ = true;
            handle(engine::Get{channel(), wish_.queue, wish_.no_ack});
            working_ = false;
        }
        continue_later();
    }
    void on_effect(engine::Effect&& effect) override {
        auto* const done = std::get_if<engine::Done>(&effect);
        auto* const got = done == nullptr ? nullptr : std::get_if<engine::GetAnswer>(&done->answer);
        if (got == nullptr) return;
        awaiting_ = false;
        empty_ = !got->message;
        if (!empty_) {
            bytes_ += got->message->memory_bytes();
            fetched_.push_back(std::move(*got));
        }
        if (!working_) continue_later();
    }
    void continue_later() {
        home().post([self = shared_from_this()](runtime::Reactor&) {
            static_cast<Fetcher&>(*self).work();
        });
    }
    void finish() {
        if (!wish_.no_ack && !fetched_.empty()) {
            handle(engine::Settle{channel(), DeliveryId{0}, true, wish_.outcome});
        }
        end(std::move(fetched_));
    }

    FetchRequest wish_;
    std::vector<engine::GetAnswer> fetched_;
    std::uint64_t bytes_ = 0;
    bool awaiting_ = false;
    bool working_ = false;  // inside a turn of the engine
    bool empty_ = false;
};

}  // namespace

Result<PublishOutcome, engine::Refusal> publish_one(const std::shared_ptr<runtime::Vhost>& vhost,
                                                    const std::string& user,
                                                    engine::Publish command) {
    return std::make_shared<Publisher>(vhost, std::move(command))->run(user);
}

Result<std::vector<engine::GetAnswer>, engine::Refusal> fetch_some(
    const std::shared_ptr<runtime::Vhost>& vhost, const std::string& user, FetchRequest wish) {
    return std::make_shared<Fetcher>(vhost, std::move(wish))->run(user);
}

}  // namespace revenant::http
