// DurableRecorder: writes the part of a virtual host's events that a restart needs. Transient
// messages and queues that are not durable are never journaled; a death that moves a message from
// or to them is written as its effect on the durable part.
#pragma once

#include "engine/codec/event_codec.h"
#include "engine/state/recorder.h"
#include "engine/state/state.h"
#include "engine/words/event.h"

#include <string>
#include <vector>

namespace revenant::engine {

// Collects records.
class RecordSink {
  public:
    virtual ~RecordSink() = default;
    virtual std::string& begin_record() = 0;
    virtual void end_record() = 0;
    virtual Lsn position() const = 0;        // of the next byte
    virtual Lsn batch_position() const = 0;  // of the batch that will contain it
};

class DurableRecorder final : public Recorder {
  public:
    explicit DurableRecorder(RecordSink& journal) : journal_(journal) {}
    // The state before each recorded event.
    void observe(State& state) { state_ = &state; }

    void record(const Event& event) override;
    void enqueued(const Queue& queue, const MessageRef& message,
                  const Placement& placement) override;
    void removed(const Queue& queue, Position position, Ending ending) override;
    void turn_ended() override;

    // Whether this turn has written anything: its replies then wait until that is durable.
    bool has_begun() const { return record_ != nullptr; }

  private:
    void project(const ExchangeDeclared& event);
    void project(const ExchangeDeleted& event);
    void project(const QueueDeclared& event);
    void project(const QueueDeleted& event);
    void project(const Purged& event);
    void project(const Bound& event);
    void project(const Unbound& event);
    void project(const Enqueued& event);
    void project(const Removed& event);
    void project(const Requeued& event);
    void project(const Delayed& event);
    void project(const DelayEnded& event);
    void project(const DeadLettered& event);
    void project(const RefusedAndDeadLettered& event);
    void project(const MovedToOutbox& event);
    void project(const Annotated& event);
    void project(const ForwardedFromOutbox& event);
    void project(const BlockDiscarded& event);
    void project(const PolicySet& event) { write(event); }
    void project(const PolicyCleared& event) { write(event); }
    void project(const CompatibilitySet& event) { write(event); }

    EventWriter::Place place();
    void write(const Event& event) { writer_.write(place(), event); }
    void place_letter(const MessageRef& message, const EnvelopeRef& envelope,
                      std::vector<Placement> targets);
    bool is_durable(QueueId queue, Position position);
    bool survives(std::string_view source, DestinationKind kind, std::string_view destination);
    std::vector<Placement> durable_targets(const std::vector<Placement>& targets,
                                           const Message& message);

    State* state_ = nullptr;
    RecordSink& journal_;
    EventWriter writer_;
    std::string* record_ = nullptr;  // the open record, if any
};

}  // namespace revenant::engine
