#include "engine/codec/event_codec.h"

#include "base/check.h"
#include "engine/codec/event_fields.h"

#include <algorithm>
#include <utility>

namespace revenant::engine {
namespace {

enum class MessagePlace : std::uint8_t { here = 0, elsewhere = 1 };

// Any larger number is the distance to the envelope.
constexpr std::uint64_t envelope_here = 0;
constexpr std::uint64_t no_envelope = 1;

}  // namespace

// ------------------------------------------------------------------------- writing

class EventWriteArchive final : public WriteArchiveOf<EventWriteArchive> {
  public:
    EventWriteArchive(EventWriter& writer, const EventWriter::Place& place)
        : WriteArchiveOf(place.out),
          writer_(writer),
          start_{place.position.value - place.out.size()} {
        if (place.batch == writer_.batch_) return;
        writer_.batch_ = place.batch;
        writer_.known_.clear();
        writer_.oldest_ = 0;
    }

    void message(const MessageRef& message) { write_message(*message); }
    void write_message(const Message& message) {
        if (const auto stored_at = message.stored_at()) {
            bytes().u8(static_cast<std::uint8_t>(MessagePlace::elsewhere));
            bytes().varint(stored_at->value);
            return;
        }
        bytes().u8(static_cast<std::uint8_t>(MessagePlace::here));
        message.set_stored_at(here());
        encode_message(message, bytes().target());
    }

    void envelope(const EnvelopeRef& envelope) {
        if (!envelope) return bytes().varint(no_envelope);
        for (const auto& known : writer_.known_) {
            if (!(known.envelope == envelope)) continue;
            bytes().varint(here().value - known.at.value);
            return;
        }
        const Lsn at = here();
        bytes().varint(envelope_here);
        (*this)(*envelope);
        remember({envelope, at});
    }

  private:
    Lsn here() { return {start_.value + bytes().size()}; }
    void remember(EventWriter::KnownEnvelope known) {
        if (writer_.known_.size() < EventWriter::known_envelopes_max) {
            writer_.known_.push_back(std::move(known));
            return;
        }
        writer_.known_[writer_.oldest_] = std::move(known);
        writer_.oldest_ = (writer_.oldest_ + 1) % EventWriter::known_envelopes_max;
    }

    EventWriter& writer_;
    const Lsn start_;  // position of the first byte of the target
};

void EventWriter::write(Place place, const Event& event) {
    EventWriteArchive archive(*this, place);
    archive.bytes().u8(static_cast<std::uint8_t>(event.index()));
    std::visit([&](const auto& fact) { archive(fact); }, event);
}

namespace {

template <typename Fact>
constexpr std::uint8_t number_of() {
    return static_cast<std::uint8_t>(Event(Fact{}).index());
}

}  // namespace

void EventWriter::enqueued(Place place, const Message& message, const Placement& placement) {
    static const std::uint8_t number = number_of<Enqueued>();
    EventWriteArchive archive(*this, place);
    archive.bytes().u8(number);
    archive(placement);
    archive.write_message(message);
}

void EventWriter::removed(Place place, QueueId queue, Position position, Ending ending) {
    static const std::uint8_t number = number_of<Removed>();
    EventWriteArchive archive(*this, place);
    archive.bytes().u8(number);
    archive(queue);
    archive(position);
    archive(ending);
}

// ------------------------------------------------------------------------- reading

class EventReadArchive final : public ReadArchiveOf<EventReadArchive> {
  public:
    EventReadArchive(EventReader& reader, std::string_view bytes, Lsn position)
        : ReadArchiveOf(bytes), reader_(reader), end_{position.value + bytes.size()} {}

    void message(MessageRef& message) {
        if (static_cast<MessagePlace>(bytes().u8()) == MessagePlace::elsewhere) {
            message = find({bytes().varint()});
            if (!message) fail();
            return;
        }
        const Lsn at = here();
        const std::string_view stored = bytes().bytes(stored_size(bytes().rest()));
        message = decode_stub(stored, reader_.formats_, at);
        reader_.last_message_ = message;
        if (!message) fail();
    }
    void envelope(EnvelopeRef& envelope) {
        const Lsn at = here();
        const std::uint64_t back = bytes().varint();
        if (back == no_envelope) {
            envelope = {};
            return;
        }
        if (back == envelope_here) {
            auto* const read = new Envelope;
            envelope = EnvelopeRef::adopt(read);
            (*this)(*read);
            count_bytes_if_large(*read);
            reader_.known_.emplace_back(at, envelope);
            return;
        }
        const Lsn wanted{at.value - back};
        const auto& known = reader_.known_;
        const auto found =
            std::lower_bound(known.begin(), known.end(), wanted,
                             [](const auto& one, Lsn lsn) { return one.first < lsn; });
        if (found == known.end() || found->first != wanted) return fail();
        envelope = found->second;
    }

  private:
    Lsn here() { return {end_.value - bytes().remaining()}; }
    MessageRef find(Lsn at) {
        if (reader_.last_message_ && reader_.last_message_->stored_at() == at) {
            return reader_.last_message_;
        }
        return reader_.find_message_(at);
    }

    EventReader& reader_;
    const Lsn end_;
};

namespace {

template <std::size_t index = 0>
bool read_fact(EventReadArchive& archive, std::uint8_t number, Event& event) {
    if constexpr (index == std::variant_size_v<Event>) {
        return false;
    } else {
        if (number != index) return read_fact<index + 1>(archive, number, event);
        archive(event.emplace<index>());
        return !archive.failed();
    }
}

}  // namespace

bool EventReader::read(std::string_view bytes, Lsn position, Lsn batch, std::vector<Event>& facts) {
    if (batch != batch_) {
        batch_ = batch;
        known_.clear();
    }
    EventReadArchive archive(*this, bytes, position);
    while (!archive.at_end()) {
        Event event = ExchangeDeleted{};
        std::uint8_t number = 0;
        archive(number);
        if (!read_fact(archive, number, event)) return false;
        facts.push_back(std::move(event));
    }
    return true;
}

}  // namespace revenant::engine
