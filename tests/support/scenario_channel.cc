// Scenario: the channels of its clients.
#include "base/check.h"
#include "tests/support/scenario.h"

#include <gtest/gtest.h>

#include <utility>

namespace revenant::engine {

ScenarioChannel::ScenarioChannel(Scenario& scenario, ConnectionId connection)
    : scenario_(scenario), connection_(connection) {
    make_sure_it_is_open();
}

void ScenarioChannel::make_sure_it_is_open() {
    if (open_) return;
    EXPECT_FALSE(refusal_) << "unexpected refusal: " << refusal_->text;
    id_ = {++scenario_.last_channel_};
    scenario_.channels_by_id_[id_] = this;
    transactional_ = false;
    last_consumer_ = 0;
    last_publish_ = 0;
    last_confirm_ = 0;
    last_delivery_ = 0;
    consumers_.clear();
    starting_consumer_ = 0;
    reply_consumer_ = 0;
    open_ = true;
    scenario_.handle(OpenChannel{connection_, id_});
}

// Every command that expects an answer gets exactly one Done or Refuse (command.h).
template <typename Question>
void ScenarioChannel::ask(Question question) {
    make_sure_it_is_open();
    question.channel = id_;
    answers_.clear();
    scenario_.handle(std::move(question));
    // A command that takes several portions is answered when it is complete.
    for (int ticks = 0; answers_.empty() && open_ && ticks < 10'000; ++ticks) {
        if (!scenario_.has_work()) break;
        scenario_.tick();
    }
    EXPECT_EQ(answers_.size() + (open_ ? 0 : 1), 1U) << "answers to one command";
}

template <typename Answer>
Answer ScenarioChannel::answer() {
    if (answers_.empty()) return {};
    Answer* const found = std::get_if<Answer>(&answers_.front().answer);
    EXPECT_NE(found, nullptr) << "an answer of another kind";
    return found == nullptr ? Answer{} : std::move(*found);
}

void ScenarioChannel::declare_exchange(std::string name, std::string type,
                                       ExchangeOptions options) {
    ask(DeclareExchange{id_, std::move(name), std::move(type), options.passive, options.durable,
                        options.auto_delete, options.internal, std::move(options.arguments),
                        std::move(options.refusal_if_new)});
}

void ScenarioChannel::delete_exchange(std::string name, bool if_unused) {
    ask(DeleteExchange{id_, std::move(name), if_unused});
}

QueueAnswer ScenarioChannel::declare_queue(std::string name, QueueOptions options) {
    ask(DeclareQueue{id_, std::move(name), options.server_named, options.passive, options.durable,
                     options.exclusive, options.auto_delete, std::move(options.arguments),
                     std::move(options.refusal_if_new), options.queues_max});
    return answer<QueueAnswer>();
}

QueueAnswer ScenarioChannel::declare_queue(std::string name,
                                           std::initializer_list<Argument> given) {
    return declare_queue(std::move(name), QueueOptions{.arguments = arguments(given)});
}

std::uint64_t ScenarioChannel::delete_queue(std::string name, bool if_unused, bool if_empty) {
    ask(DeleteQueue{id_, std::move(name), if_unused, if_empty});
    return answer<CountAnswer>().message_count;
}

std::uint64_t ScenarioChannel::purge(std::string queue) {
    ask(PurgeQueue{id_, std::move(queue)});
    return answer<CountAnswer>().message_count;
}

std::uint64_t ScenarioChannel::discard_parked(std::string queue) {
    ask(DiscardParked{id_, std::move(queue)});
    return answer<CountAnswer>().message_count;
}

void ScenarioChannel::bind(std::string source, std::string destination, std::string key,
                           BindOptions options) {
    ask(Bind{id_, std::move(source), options.to, std::move(destination), std::move(key),
             std::move(options.arguments), std::move(options.refusal_if_topic)});
}

void ScenarioChannel::unbind(std::string source, std::string destination, std::string key,
                             BindOptions options) {
    ask(Unbind{id_, std::move(source), options.to, std::move(destination), std::move(key),
               std::move(options.arguments), std::move(options.refusal_if_topic)});
}

std::uint64_t ScenarioChannel::publish(std::string_view routing_key, std::string_view body,
                                       const PublishOptions& options) {
    make_sure_it_is_open();
    Publish command{id_,
                    make_test_message(routing_key, body, options),
                    options.mandatory,
                    options.confirm ? ++last_publish_ : 0,
                    options.refusal_if_topic,
                    options.refusal,
                    options.single_outcome};
    const std::uint64_t sequence = command.confirm_sequence;
    sole_outcome_ = options.single_outcome ? sequence : 0;
    answers_.clear();
    scenario_.handle(std::move(command));
    EXPECT_TRUE(answers_.empty()) << "a publish is not answered";
    const Channel* const channel = scenario_.engine_.attached().find_channel(id_);
    if (channel == nullptr || channel->closing) return sequence;  // the refusal is pending
    if (open_ && !transactional_) {
        EXPECT_EQ(last_confirm_, last_publish_) << "a publish without its confirm";
    }
    return sequence;
}

std::uint32_t ScenarioChannel::consume(std::string queue, ConsumeOptions options) {
    make_sure_it_is_open();
    const std::uint32_t consumer = ++last_consumer_;
    if (!options.reply_name.empty()) reply_consumer_ = consumer;
    starting_consumer_ = consumer;
    ask(Consume{id_, consumer, std::move(queue), "tag " + std::to_string(consumer), options.no_ack,
                options.exclusive, std::move(options.arguments), std::move(options.reply_name),
                options.uses_credit, options.on_timeout});
    return consumer;
}

void ScenarioChannel::set_credit(std::uint32_t consumer, std::uint64_t until,
                                 CreditOptions options) {
    scenario_.handle(SetCredit{id_, consumer, until, options.drain, options.echo});
}

void ScenarioChannel::check_target(std::string exchange, std::string queue) {
    ask(CheckTarget{id_, std::move(exchange), std::move(queue)});
}

QueueDescription ScenarioChannel::describe_queue(std::string name) {
    ask(DescribeQueue{id_, std::move(name)});
    return answer<QueueDescription>();
}

std::vector<BindingDescription> ScenarioChannel::list_bindings(ListBindings question) {
    question.channel = id_;
    ask(std::move(question));
    return answer<BindingsAnswer>().bindings;
}

void ScenarioChannel::cancel(std::uint32_t consumer) {
    ask(Cancel{id_, consumer});
    std::erase(consumers_, consumer);
}

std::optional<Delivery> ScenarioChannel::get(std::string queue, bool no_ack) {
    ask(Get{id_, std::move(queue), no_ack});
    GetAnswer got = answer<GetAnswer>();
    if (!got.message) return std::nullopt;
    return Delivery{0,
                    got.delivery.value,
                    got.redelivered,
                    got.messages_left,
                    std::move(got.message),
                    std::move(got.envelope),
                    got.counts};
}

void ScenarioChannel::qos(std::uint16_t prefetch_count, bool global) {
    ask(SetQos{id_, prefetch_count, global});
}

void ScenarioChannel::settle(std::uint64_t tag, Outcome outcome, bool multiple) {
    make_sure_it_is_open();
    answers_.clear();
    scenario_.handle(Settle{id_, {tag}, multiple, outcome});
    EXPECT_TRUE(answers_.empty()) << "a settlement is not answered";
}

void ScenarioChannel::settle(std::uint64_t tag, Outcome outcome, const OutcomeDetails& details) {
    scenario_.handle(Settle{
        id_, {tag}, false, outcome, Ref<const OutcomeDetails>::adopt(new OutcomeDetails(details))});
}

void ScenarioChannel::set_policy(Policy policy, PolicyScope scope) {
    ask(SetPolicy{id_, scope, std::move(policy)});
}

void ScenarioChannel::clear_policy(std::string name, PolicyScope scope) {
    ask(ClearPolicy{id_, scope, std::move(name)});
}

void ScenarioChannel::recover() { ask(Recover{id_}); }
void ScenarioChannel::select() {
    ask(SelectTransaction{id_});
    transactional_ = true;
}
void ScenarioChannel::commit() { ask(Commit{id_}); }
void ScenarioChannel::rollback() { ask(Rollback{id_}); }

void ScenarioChannel::close() {
    ask(CloseChannel{id_});
    open_ = false;
}

void ScenarioChannel::start_closing() {
    answers_.clear();
    scenario_.handle(CloseChannel{id_});
}

void ScenarioChannel::detach() {
    ask(CloseChannel{id_, /*detached=*/true});
    open_ = false;
}

void ScenarioChannel::pause() { scenario_.handle(PauseChannel{id_}); }
void ScenarioChannel::resume() { scenario_.handle(ResumeChannel{id_}); }

std::vector<std::string> ScenarioChannel::take_credit_states() {
    return std::exchange(credit_states_, {});
}

std::vector<PublishRefused> ScenarioChannel::take_publish_refusals() {
    return std::exchange(publish_refusals_, {});
}

std::vector<Delivery> ScenarioChannel::take_deliveries() { return std::exchange(deliveries_, {}); }

std::vector<std::string> ScenarioChannel::take_bodies() {
    std::vector<std::string> bodies;
    for (const Delivery& delivery : take_deliveries()) bodies.push_back(delivery.body());
    return bodies;
}

Delivery ScenarioChannel::take_delivery() {
    CHECK(!deliveries_.empty());
    Delivery first = std::move(deliveries_.front());
    deliveries_.erase(deliveries_.begin());
    return first;
}

std::vector<Confirm> ScenarioChannel::take_confirms() { return std::exchange(confirms_, {}); }
std::vector<std::string> ScenarioChannel::take_returns() { return std::exchange(returns_, {}); }
std::vector<std::uint32_t> ScenarioChannel::take_cancelled() {
    return std::exchange(cancelled_, {});
}
std::vector<std::uint64_t> ScenarioChannel::take_timed_out() {
    return std::exchange(timed_out_, {});
}
std::vector<std::string> ScenarioChannel::take_transcript() {
    return std::exchange(transcript_, {});
}

void ScenarioChannel::expect_refused(RefusalKind kind, std::string_view text) {
    const std::optional<Refusal> refusal = take_refusal();
    ASSERT_TRUE(refusal) << "expected: " << text;
    EXPECT_EQ(refusal->text, text);
    EXPECT_EQ(refusal->kind, kind) << text;
}

std::optional<Refusal> ScenarioChannel::take_refusal() {
    return std::exchange(refusal_, std::nullopt);
}

}  // namespace revenant::engine
