// Engine: the interface to one virtual host. START READING HERE.
//
// A pure, single-threaded state machine: no I/O, no clock, no thread, no randomness, no logging.
// handle(command, now) processes one command as one turn: it decides, applies and records events
// (event.h), and issues effects (effect.h) to the sink. All consequences of a command — a death,
// the overflow that it causes, the deliveries that follow — are part of the same turn.
#pragma once

#include "base/time.h"
#include "engine/rules/turn.h"
#include "engine/rules/worklist.h"
#include "engine/state/attached.h"
#include "engine/state/state.h"
#include "engine/words/command.h"
#include "engine/words/effect.h"
#include "engine/words/event.h"

namespace revenant::engine {

class Engine {
  public:
    // The recorder may be nullptr: then nothing is recorded.
    Engine(EngineSettings settings, EffectSink& effects, Recorder* recorder);

    void handle(Command&& command, Timestamp now);
    // Fast paths for the two most frequent commands.
    void publish(Publish&& command, Timestamp now);
    void settle(const Settle& command, Timestamp now);

    // Applies an event recorded earlier; there must be no clients yet.
    void replay(const Event& event) {
        state_.apply(event);
        state_.free_retired_bindings();
    }
    // Called after the state was restored: starts timers and everything else that depends on the
    // time.
    void finish_recovery(Timestamp now);
    // The wall clock was set: displayed times follow it, deadlines do not.
    void set_wall_ahead(Duration by) { settings_.wall_ahead = by; }
    // The connection of this channel can take no more deliveries for now.
    void pause(ChannelId channel);

    // When the next Tick is due, which does a portion of the outstanding work; `never` if there is
    // none.
    Timestamp next_deadline() const;

    // The count to be displayed: excludes expired messages that are not removed yet.
    std::uint64_t ready_count(const Queue& queue) const;

    // The command that recently caused the most work; small amounts are not recorded.
    struct Heaviest {
        std::size_t command = 0;  // index in Command
        std::size_t steps = 0;
        Timestamp at;
    };
    const Heaviest& heaviest() const { return heaviest_; }
    // The total steps (portion.h) of all turns that took more than a few.
    std::uint64_t heavy_steps() const { return heavy_steps_; }

    State& state() { return state_; }
    Attached& attached() { return attached_; }
    const EngineSettings& settings() const { return settings_; }

  private:
    bool has_work() const;
    Turn begin(Timestamp now);
    void finish(Turn& turn, std::size_t command);
    void forward_all_letters(Turn& turn);
    static void refuse(Turn& turn, Refuse refuse);

    void run(Turn& turn, OpenConnection&& command);
    void run(Turn& turn, CloseConnection&& command);
    void run(Turn& turn, ResumeConnection&& command);
    void run(Turn& turn, PauseChannel&& command);
    void run(Turn& turn, ResumeChannel&& command);
    void run(Turn& turn, OpenChannel&& command);
    void run(Turn& turn, CloseChannel&& command);
    void run(Turn& turn, SetCompatibility&& command);
    void run(Turn& turn, Tick&& command);
    template <typename ChannelCommand>
    void run(Turn& turn, ChannelCommand&& command);

    EngineSettings settings_;
    EffectSink& effects_;
    Recorder* recorder_;
    State state_;
    Attached attached_;
    Worklist worklist_;
    Heaviest heaviest_;
    std::uint64_t heavy_steps_ = 0;
    Timestamp behind_at_;  // time of the last turn, if expiry has a backlog
};

}  // namespace revenant::engine
