#include "runtime/deferred_effects.h"

#include "base/check.h"

#include <utility>

namespace revenant::runtime {

void DeferredEffects::hold(const engine::Confirm& confirm, Lsn batch) {
    confirms_.push_back({confirm, batch});
    waiting_confirms_[confirm.channel.value].count += 1;
}

void DeferredEffects::hold(engine::Effect&& effect, Lsn batch) {
    const std::uint64_t to = engine::addressee(effect);
    answers_.push_back({std::move(effect), batch});
    waiting_answers_[to].count += 1;
}

std::uint64_t DeferredEffects::hold_behind(engine::Deliver&& delivery, std::uint64_t bytes) {
    const std::uint64_t to = delivery.channel.value;
    hold_behind(engine::Effect(std::move(delivery)));
    return waiting_answers_[to].delivery_bytes += bytes;
}

void DeferredEffects::count_down(Counts& counts, std::uint64_t addressee) {
    const auto found = counts.find(addressee);
    CHECK(found != counts.end() && found->second.count > 0);
    if (--found->second.count == 0) counts.erase(found);
}

}  // namespace revenant::runtime
