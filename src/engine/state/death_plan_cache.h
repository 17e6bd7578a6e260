// CachedDeathPlan: messages of one queue that die in the same way within one millisecond, the
// resolution of the times that clients see, share one plan: one envelope and one routing decision.
// A burst of deaths then costs little more than moving references, even if each is caused by its
// own command.
#pragma once

#include "base/ids.h"
#include "engine/words/counters.h"
#include "message/death.h"
#include "message/message.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace revenant::engine {

class Queue;

// A message that is dying now.
struct DyingMessage {
    const MessageRef& message;
    const EnvelopeRef& envelope;
    std::uint32_t delivery_count = 0;
    bool has_died() const { return envelope && envelope->has_died(); }  // before
};

struct DeathPlan {
    EnvelopeRef envelope;
    std::vector<Queue*> targets;  // without those that would close a cycle
    Ending ending_without_target = Ending::no_dlx;
    DeathStrategy strategy = DeathStrategy::disabled;
    bool by_key_only = true;  // another message with the same keys would have the same targets
    // Set if there is no plan because the message cannot be read.
    std::string unreadable;
    bool is_shareable(const Message& made_for) const {
        return by_key_only && made_for.extra_keys() == nullptr;
    }
};

class CachedDeathPlan {
  public:
    // A plan is valid for this queue, reason, millisecond and topology version only.
    struct PlanKey {
        QueueId source;
        DeathReason reason = DeathReason::rejected;
        Timestamp died_at;
        std::uint64_t topology_version = 0;
        friend bool operator==(const PlanKey&, const PlanKey&) = default;
    };

    const DeathPlan& plan() const { return plan_; }
    bool covers(const PlanKey& moment, const DyingMessage& dying) const {
        return shareable_ && moment == moment_ && dying.delivery_count == delivery_count_ &&
               dying.envelope == envelope_ && dying.message->extra_keys() == nullptr &&
               dying.message->exchange() == exchange_ &&
               dying.message->routing_key() == routing_key_ && dying.message->ttl_ms() == ttl_ms_;
    }
    void set(const PlanKey& moment, const DyingMessage& dying, DeathPlan plan) {
        moment_ = moment;
        plan_ = std::move(plan);
        shareable_ = plan_.is_shareable(*dying.message);
        envelope_ = dying.envelope;
        exchange_ = dying.message->exchange();
        routing_key_ = dying.message->routing_key();
        ttl_ms_ = dying.message->ttl_ms();
        delivery_count_ = dying.delivery_count;
    }

  private:
    PlanKey moment_;
    DeathPlan plan_;
    bool shareable_ = false;
    // Properties of the message that the plan was made for.
    EnvelopeRef envelope_;
    std::string exchange_;
    std::string routing_key_;
    std::optional<std::int64_t> ttl_ms_;
    std::uint32_t delivery_count_ = 0;
};

// The latest death plans of a few queues.
class DeathPlanCache {
  public:
    CachedDeathPlan& of(QueueId source) { return lines_[source.value % lines_.size()]; }

  private:
    std::array<CachedDeathPlan, 8> lines_;
};

}  // namespace revenant::engine
