// Engine: the door to one virtual host. START READING HERE.
//
// A pure, single-threaded state machine: no I/O, no clock, no thread, no randomness, no logging.
// handle(command, now) works on one command as one turn: it decides, applies and records facts
// (event.h) and asks effects (effect.h) of the sink. Everything a command causes — a death, the
// overflow it brings about, the deliveries that follow — happens inside the same turn.
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
    // The recorder may be nullptr: then nothing is written down.
    Engine(EngineSettings settings, EffectSink& effects, Recorder* recorder);

    void handle(Command&& command, Timestamp now);
    // The same for the two commands that pass by the million.
    void publish(Publish&& command, Timestamp now);
    void settle(const Settle& command, Timestamp now);

    // Applies facts recorded earlier, before anybody is attached.
    void replay(const Event& event) {
        state_.apply(event);
        state_.free_retired_bindings();
    }
    // The state is that of before a restart: what depends on the present begins now.
    void finish_recovery(Timestamp now);
    // The wall clock was set: what is shown from now on follows it, deadlines do not.
    void set_wall_ahead(Duration by) { settings_.wall_ahead = by; }
    // The connection of this channel can take no more deliveries for now.
    void pause(ChannelId channel);

    // When the next Tick is due, which does a portion of what there is to do; `never` if nothing
    // waits.
    Timestamp next_deadline() const;

    // What is shown of a queue: without what has expired and is still to be removed.
    std::uint64_t ready_count(const Queue& queue) const;

    // The command that caused the most work lately; little work is not noted.
    struct Heaviest {
        std::size_t command = 0;  // its place among the commands
        std::size_t steps = 0;
        Timestamp at;
    };
    const Heaviest& heaviest() const { return heaviest_; }
    // The steps (portion.h) of all turns so far that took more than a few.
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
    Timestamp behind_at_;  // of the last turn, if expiry is behind
};

}  // namespace revenant::engine
