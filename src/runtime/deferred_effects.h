// DeferredEffects: effects held until the state they report is durable. The confirms of a channel
// keep their order, and so do its replies. A delivery does not wait for the disk, but it never
// overtakes a reply on its channel.
#pragma once

#include "base/ids.h"
#include "engine/words/effect.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>

namespace revenant::runtime {

class DeferredEffects {
  public:
    bool empty() const { return confirms_.empty() && answers_.empty(); }
    bool has_confirms_for(ChannelId channel) const {
        return !confirms_.empty() && waiting_confirms_.contains(channel.value);
    }
    std::uint64_t confirms_waiting() const { return confirms_.size(); }
    std::uint64_t confirms_waiting_for(ChannelId channel) const {
        const auto found = waiting_confirms_.find(channel.value);
        return found == waiting_confirms_.end() ? 0 : found->second.count;
    }
    // `addressee` is the id of a channel or connection.
    bool has_answers_for(std::uint64_t addressee) const {
        return !answers_.empty() && waiting_answers_.contains(addressee);
    }

    // Holds the effect until the batch that begins here is durable.
    void hold(const engine::Confirm& confirm, Lsn batch);
    void hold(engine::Effect&& effect, Lsn batch);
    // Holds an effect that needs no sync itself but must not overtake the effects already held.
    void hold_behind(const engine::Confirm& confirm) { hold(confirm, confirms_.back().batch); }
    void hold_behind(engine::Effect&& effect) { hold(std::move(effect), answers_.back().batch); }
    // Returns the total bytes of the deliveries held after replies on this channel.
    std::uint64_t hold_behind(engine::Deliver&& delivery, std::uint64_t bytes);

    // Sends, in order, all effects whose batch is before `durable`.
    template <typename Send>
    void release_confirms(Lsn durable, Send send) {
        while (!confirms_.empty() && confirms_.front().batch < durable) {
            const HeldConfirm held = confirms_.front();
            confirms_.pop_front();
            count_down(waiting_confirms_, held.confirm.channel.value);
            send(held.confirm);
        }
    }
    template <typename Send>
    void release_answers(Lsn durable, Send send) {
        while (!answers_.empty() && answers_.front().batch < durable) {
            HeldAnswer held = std::move(answers_.front());
            answers_.pop_front();
            count_down(waiting_answers_, engine::addressee(held.effect));
            send(std::move(held.effect));
        }
    }

  private:
    struct Waiting {
        std::uint64_t count = 0;
        std::uint64_t delivery_bytes = 0;
    };
    using Counts = boost::unordered_flat_map<std::uint64_t, Waiting>;  // by addressee
    static void count_down(Counts& counts, std::uint64_t addressee);

    struct HeldConfirm {
        engine::Confirm confirm;
        Lsn batch;
    };
    struct HeldAnswer {
        engine::Effect effect;
        Lsn batch;
    };
    std::deque<HeldConfirm> confirms_;
    std::deque<HeldAnswer> answers_;
    Counts waiting_confirms_;
    Counts waiting_answers_;
};

}  // namespace revenant::runtime
