// Events: encoding for the journal and decoding.
//
// A record is one byte for its kind, then events up to its end. The bytes of a message are in the
// event that first placed it in a durable queue; later events refer to them. The envelope of a dead
// letter is in the first event of its batch that needs it; later events of the same batch refer to
// it, so that a burst of deaths writes it once.
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
    // `out` is a started record whose next byte is at `position`, in the batch that starts at
    // `batch`.
    struct Place {
        std::string& out;
        Lsn position;
        Lsn batch;
    };
    void write(Place place, const Event& event);
    // Fast paths for the two most frequent events.
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
    std::vector<KnownEnvelope> known_;  // of this batch, newest last
    std::size_t oldest_ = 0;
};

class EventReader {
  public:
    // `find_message` returns the stub of a message in an earlier batch.
    using FindMessage = std::function<MessageRef(Lsn)>;
    EventReader(MessageFormats formats, FindMessage find_message)
        : formats_(std::move(formats)), find_message_(std::move(find_message)) {}

    // `bytes` is a record of events without its first byte. False if no known version writes such a
    // record; `facts` then contains the events before the error.
    bool read(std::string_view bytes, Lsn position, Lsn batch, std::vector<Event>& facts);

  private:
    friend class EventReadArchive;
    MessageFormats formats_;
    FindMessage find_message_;
    Lsn batch_;
    std::vector<std::pair<Lsn, EnvelopeRef>> known_;  // envelopes of this batch by position
    MessageRef last_message_;  // a publish to several queues refers to it again
};

}  // namespace revenant::engine
