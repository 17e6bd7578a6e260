// Event records: any bytes are decoded or refused, decoded events are written to the same bytes by
// two successive writers, and events that fit a state can be applied to it.
#include "amqp091/message/properties.h"
#include "base/check.h"
#include "engine/codec/event_codec.h"
#include "engine/recovery/event_check.h"
#include "tests/support/repaired.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

using namespace revenant;
using namespace revenant::engine;

namespace {

const MessageFormats formats{&amqp091::message_format()};

// The messages of earlier batches: one at every even position.
MessageRef find_message(Lsn at) {
    if (at.value % 2 != 0) return {};
    MessageHead head;
    head.format = formats.front();
    head.persistent = true;
    return make_stub("", "q", {3, 2}, std::move(head), at);
}

std::string written(const std::vector<Event>& facts) {
    std::string bytes;
    EventWriter writer;
    for (const Event& fact : facts) writer.write({bytes, {1 + bytes.size()}, {0}}, fact);
    return bytes;
}

// A message stored in the record is referenced when it is written again.
void check_writing(const std::vector<Event>& facts) {
    std::map<Lsn, MessageRef> known;
    for (const Event& fact : facts) {
        const auto* const enqueued = std::get_if<Enqueued>(&fact);
        const auto* const refused = std::get_if<RefusedAndDeadLettered>(&fact);
        if (enqueued != nullptr) known[*enqueued->message->stored_at()] = enqueued->message;
        if (refused != nullptr) known[*refused->message->stored_at()] = refused->message;
    }
    const std::string bytes = written(facts);
    EventReader reader(formats, [&](Lsn at) { return known[at]; });
    std::vector<Event> again;
    CHECK(reader.read(bytes, {1}, {0}, again));
    CHECK(written(again) == bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string bytes = repaired({reinterpret_cast<const char*>(data), size});
    EventReader reader(formats, find_message);
    std::vector<Event> facts;
    const bool whole = reader.read(bytes, {1}, {0}, facts);
    if (whole) check_writing(facts);
    State state;
    state.paging().formats = formats;
    for (const Event& fact : facts) {
        if (!can_apply(state, fact, /*gap_max=*/1024)) break;
        state.apply(fact);
    }
    return 0;
}
