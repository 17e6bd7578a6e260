// Channel: replies of the engine, in the order of the methods they belong to.
#include "amqp091/channel.h"
#include "amqp091/codec/table.h"
#include "base/check.h"

#include <algorithm>
#include <utility>

namespace revenant::amqp091 {
namespace {

// The method that asked for this outcome.
std::uint16_t settlement_method(engine::Outcome outcome) {
    if (outcome.kind == engine::OutcomeKind::accepted) return BasicAck::method_id;
    return outcome.delivery_failed ? BasicReject::method_id : BasicNack::method_id;
}

}  // namespace

void Channel::expect(Reply reply, bool no_wait, std::string text) {
    // A cancel without wait still has to forget its tag; of the others nothing remains to be done.
    if (no_wait && reply != Reply::basic_cancel) reply = Reply::none;
    pending_.push_back({reply, class_id_, method_id_, std::move(text), 0, no_wait});
}

void Channel::reply_immediately(std::string frame) {
    if (pending_.empty()) {
        connection_.write_raw(frame);
        return;
    }
    pending_.push_back({Reply::ready, class_id_, method_id_, std::move(frame), 0, false});
}

void Channel::finish_ready_answers() {
    while (!pending_.empty() && pending_.front().reply == Reply::ready) {
        connection_.write_raw(pending_.front().text);
        pending_.pop_front();
    }
}

void Channel::request(engine::Effect&& effect) {
    // Whatever becomes of the channel, its connection must ask for more deliveries some day.
    if (std::holds_alternative<engine::DeliveriesPaused>(effect))
        return connection_.deliveries_paused();
    if (state_ == State::gone || state_ == State::closing) return;
    if (auto* done = std::get_if<engine::Done>(&effect)) {
        on_done(std::move(*done));
    } else if (const auto* refuse = std::get_if<engine::Refuse>(&effect)) {
        on_refuse(*refuse);
    } else if (const auto* returned = std::get_if<engine::ReturnUnroutable>(&effect)) {
        on_return(*returned);
    } else if (const auto* cancelled = std::get_if<engine::CancelConsumer>(&effect)) {
        on_cancel(*cancelled);
    }
}

void Channel::on_done(engine::Done&& done) {
    CHECK(!pending_.empty());
    const Pending pending = std::move(pending_.front());
    pending_.pop_front();
    write_answer(pending, done);
    finish_ready_answers();
}

void Channel::write_answer(const Pending& pending, engine::Done& done) {
    const auto count = [&] {
        const auto* answer = std::get_if<engine::CountAnswer>(&done.answer);
        return answer == nullptr ? 0 : shown_count(answer->message_count);
    };
    switch (pending.reply) {
        case Reply::none:
        case Reply::ready:
            return;
        case Reply::exchange_declare:
            return connection_.write(number_, ExchangeDeclareOk{});
        case Reply::exchange_delete:
            return connection_.write(number_, ExchangeDeleteOk{});
        case Reply::exchange_bind:
            return connection_.write(number_, ExchangeBindOk{});
        case Reply::exchange_unbind:
            return connection_.write(number_, ExchangeUnbindOk{});
        case Reply::queue_declare: {
            const auto& answer = std::get<engine::QueueAnswer>(done.answer);
            QueueDeclareOk ok;
            ok.queue = pending.text;
            ok.message_count = shown_count(answer.message_count);
            ok.consumer_count = shown_count(answer.consumer_count);
            return connection_.write(number_, ok);
        }
        case Reply::queue_bind:
            return connection_.write(number_, QueueBindOk{});
        case Reply::queue_unbind:
            return connection_.write(number_, QueueUnbindOk{});
        case Reply::queue_purge: {
            QueuePurgeOk ok;
            ok.message_count = count();
            return connection_.write(number_, ok);
        }
        case Reply::queue_delete: {
            QueueDeleteOk ok;
            ok.message_count = count();
            return connection_.write(number_, ok);
        }
        case Reply::basic_qos:
            return connection_.write(number_, BasicQosOk{});
        case Reply::basic_consume: {
            BasicConsumeOk ok;
            ok.consumer_tag = pending.text;
            return connection_.write(number_, ok);
        }
        case Reply::basic_cancel: {
            tags_.erase(pending.consumer);
            BasicCancelOk ok;
            ok.consumer_tag = pending.text;
            if (!pending.no_wait) connection_.write(number_, ok);
            return;
        }
        case Reply::basic_get:
            return write_get_answer(std::get<engine::GetAnswer>(done.answer));
        case Reply::basic_recover:
            return connection_.write(number_, BasicRecoverOk{});
        case Reply::tx_select:
            return connection_.write(number_, TxSelectOk{});
        case Reply::tx_commit:
            return connection_.write(number_, TxCommitOk{});
        case Reply::tx_rollback:
            return connection_.write(number_, TxRollbackOk{});
        case Reply::channel_close:
            write_confirms();
            connection_.write(number_, ChannelCloseOk{});
            state_ = State::gone;
            connection_.channel_gone(number_);
            return;
        case Reply::channel_failure:
            return send_close(failure_code_, pending.text, pending.class_id, pending.method_id);
    }
}

void Channel::write_get_answer(const engine::GetAnswer& answer) {
    if (!answer.message) return connection_.write(number_, BasicGetEmpty{});
    delivery_writer().write(answer);
    connection_.host().request_flush();
}

// The engine has let the channel go already; commands still under way are ignored there.
void Channel::on_refuse(const engine::Refuse& refuse) {
    // Both sides close at the same time; each close is answered (amqp091 4.4).
    if (state_ == State::leaving) client_closed_ = true;
    const ReplyCode code = reply_code(refuse.refusal.kind);
    const std::string& text = refuse.refusal.text;
    switch (refuse.command) {
        case engine::RefusedCommand::publish:
            return send_close(code, text, BasicPublish::class_id, BasicPublish::method_id);
        case engine::RefusedCommand::settlement:
            return send_close(code, text, BasicPublish::class_id,
                              settlement_method(refuse.outcome));
        case engine::RefusedCommand::answered: {
            CHECK(!pending_.empty());
            const Pending refused = pending_.front();
            return send_close(code, text, refused.class_id, refused.method_id);
        }
        case engine::RefusedCommand::none:
            return send_close(
                code, "delivery acknowledgement on channel " + std::to_string(number_) + ' ' + text,
                0, 0);
    }
}

}  // namespace revenant::amqp091
