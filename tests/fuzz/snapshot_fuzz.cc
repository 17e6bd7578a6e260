// Virtual host snapshots: any bytes are decoded or refused, and a decoded state is written to the
// same bytes by two successive writers.
#include "amqp091/message/properties.h"
#include "base/check.h"
#include "engine/recovery/snapshot_codec.h"
#include "tests/support/repaired.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

using namespace revenant;
using namespace revenant::engine;

namespace {

constexpr std::uint64_t gap_max = 1024;

std::optional<DecodedSnapshot> decode(std::string_view bytes, State& state) {
    state.paging().formats = {&amqp091::message_format()};
    return decode_snapshot(bytes, state, gap_max);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    State state;
    const auto decoded = decode(repaired({reinterpret_cast<const char*>(data), size}), state);
    if (!decoded) return 0;
    const std::string written = encode_snapshot(state, decoded->stop);
    State again;
    CHECK(decode(written, again).has_value());
    CHECK(encode_snapshot(again, decoded->stop) == written);
    journal_ranges_in_use(state);
    state.mark_all_redelivered();
    return 0;
}
