#include "runtime/promises.h"

#include "base/check.h"

#include <utility>

namespace revenant::runtime {

void Promises::hold(const engine::Confirm& confirm, Lsn batch) {
    confirms_.push_back({confirm, batch});
    waiting_confirms_[confirm.channel.value] += 1;
}

void Promises::hold(engine::Effect&& effect, Lsn batch) {
    const std::uint64_t to = engine::addressee(effect);
    answers_.push_back({std::move(effect), batch});
    waiting_answers_[to] += 1;
}

void Promises::count_down(Counts& counts, std::uint64_t addressee) {
    const auto found = counts.find(addressee);
    CHECK(found != counts.end() && found->second > 0);
    if (--found->second == 0) counts.erase(found);
}

}  // namespace revenant::runtime
