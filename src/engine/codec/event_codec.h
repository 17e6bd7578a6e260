// Facts as bytes for the journal, and back.
//
// A record is one byte that says what it is, then facts up to its end. The bytes of a message stand
// in the fact that first placed it in a durable queue; later facts refer to them. The envelope of a
// dead letter stands in the first fact of its batch that needs it; later ones of the same batch
// point back to it, so that a burst of deaths writes it once.
#pragma once

#include "base/ids.h"
#include "engine/codec/message_codec.h"
#include "engine/words/event.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace revenant::engine {

// The first byte of a record.
enum class RecordKind : std::uint8_t { events = 1, page = 2 };

class EventWriter {
  public:
    // `out` is a record that has begun; its next byte has this position, in the batch that begins
    // there.
    struct Place {
        std::string& out;
        Lsn position;
        Lsn batch;
    };
    void write(Place place, const Event& event);
    // The two that pass by the million.
    void enqueued(Place place, const Message& message, const Placement& placement);
    void removed(Place place, QueueId queue, Position position, Ending ending);

  private:
    friend class EventWriteArchive;
    struct KnownEnvelope {
        EnvelopeRef envelope;
        Lsn at;
    };
    static constexpr std::size_t known_envelopes_max = 8;
    Lsn batch_;
    std::vector<KnownEnvelope> known_;  // of this batch, the newest last
    std::size_t oldest_ = 0;
};

class EventReader {
  public:
    // `find_message` gives the stub of a message that an earlier batch holds.
    using FindMessage = std::function<MessageRef(Lsn)>;
    EventReader(MessageFormats formats, FindMessage find_message)
        : formats_(std::move(formats)), find_message_(std::move(find_message)) {}

    // A record of facts without its first byte. False if it is not what a writer of a known version
    // writes; `facts` are those before.
    bool read(std::string_view bytes, Lsn position, Lsn batch, std::vector<Event>& facts);

  private:
    friend class EventReadArchive;
    MessageFormats formats_;
    FindMessage find_message_;
    Lsn batch_;
    std::vector<std::pair<Lsn, EnvelopeRef>> known_;  // envelopes of this batch by position
    MessageRef last_message_;                         // a publish to several queues names it again
};

}  // namespace revenant::engine
