#include "engine/rules/transaction.h"

#include "engine/rules/publish.h"
#include "engine/rules/settle.h"

#include <span>
#include <utility>
#include <vector>

namespace revenant::engine {
namespace {

Unexpected<Refusal> not_transactional() {
    return Unexpected{Refusal{RefusalKind::precondition_failed, "channel is not transactional"}};
}

}  // namespace

Result<void, Refusal> count_in_transaction(Channel& channel, std::uint64_t bytes) {
    channel.transaction->bytes += bytes;
    if (channel.transaction->bytes <= transaction_bytes_max) return {};
    return Unexpected{Refusal{
        RefusalKind::precondition_failed,
        "transaction exceeds the limit of " + std::to_string(transaction_bytes_max) + " bytes"}};
}

void select_transaction(Turn& turn, const SelectTransaction& command) {
    Channel& channel = *turn.attached().find_channel(command.channel);
    if (!channel.transaction) channel.transaction = std::make_unique<Transaction>();
}

Result<void, Refusal> commit(Turn& turn, const Commit& command) {
    Channel& channel = *turn.attached().find_channel(command.channel);
    if (!channel.transaction) return not_transactional();
    const Transaction work = std::exchange(*channel.transaction, {});
    bool accepted = true;
    for (const Publish& publish : work.publishes) {
        if (!route_publish(turn, publish)) accepted = false;
    }
    // Consecutive settlements with the same outcome and details are processed together.
    const auto alike = [](const auto& one, const auto& next) {
        return one.outcome == next.outcome && one.details.get() == next.details.get();
    };
    std::vector<DeliveryId> run;
    for (std::size_t i = 0; i < work.settlements.size(); ++i) {
        const auto& held = work.settlements[i];
        run.push_back(held.delivery);
        const bool last = i + 1 == work.settlements.size();
        if (last || !alike(held, work.settlements[i + 1])) {
            settle_deliveries(turn, channel, run, {held.outcome, held.details.get()});
            run.clear();
        }
    }
    if (!accepted) {
        return Unexpected{Refusal{RefusalKind::precondition_failed, "partial tx completion"}};
    }
    return {};
}

Result<void, Refusal> rollback(Turn& turn, const Rollback& command) {
    Channel& channel = *turn.attached().find_channel(command.channel);
    if (!channel.transaction) return not_transactional();
    const Transaction work = std::exchange(*channel.transaction, {});
    for (const auto& held : work.settlements) {
        channel.unsettled.find(held.delivery)->state = Unsettled::State::waiting;
    }
    return {};
}

}  // namespace revenant::engine
