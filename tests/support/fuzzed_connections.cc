#include "tests/support/fuzzed_connections.h"

#include "base/check.h"
#include "engine/engine.h"

#include <cstdio>
#include <utility>

namespace revenant::protocol {
namespace {

constexpr std::size_t input_bytes_max = 4096;
constexpr std::size_t steps_max = 200;

void check_empty(const std::string& complaint) {
    if (!complaint.empty()) std::fprintf(stderr, "%s\n", complaint.c_str());
    CHECK(complaint.empty());
}

struct Start {
    Distance first;
    Distance second;
    bool with_handshake;
};

// Splits every feed into pieces of this size; 0: no splitting.
void take_in_pieces(World& world, const Step& step, std::size_t piece) {
    const Feed* const feed = std::get_if<Feed>(&step);
    if (feed == nullptr || piece == 0) return world.take(step);
    for (std::size_t at = 0; at < feed->bytes.size(); at += piece) {
        world.feed(feed->wire, std::string_view(feed->bytes).substr(at, piece));
    }
}

void run(const FuzzedProtocol& fuzzed, World& world, const Start& start,
         const std::vector<Step>& steps, std::size_t piece) {
    fuzzed.prepare(world);
    for (const Distance distance : {start.first, start.second}) {
        world.connect({distance, PeerLocation::loopback, fuzzed.protocol});
    }
    if (start.with_handshake) {
        for (const std::size_t wire : {0, 1}) world.feed(wire, fuzzed.handshake(wire));
        world.carry();
    }
    for (const Step& step : steps) take_in_pieces(world, step, piece);
    for (std::size_t i = 0; i < world.wire_count(); ++i) world.read(i, true);
    world.raise_alarm("");
    world.carry();
    check_empty(world.fault());
}

void check_answers(const FuzzedProtocol& fuzzed, World& whole, World& pieces, bool may_differ) {
    for (std::size_t i = 0; i < whole.wire_count(); ++i) {
        const std::string& received = whole.wire(i).received();
        for (const std::string& line : fuzzed.transcript(received)) {
            CHECK(!line.starts_with("fault") && !line.starts_with("rest"));
        }
        if (!may_differ) check_empty(fuzzed.difference(pieces.wire(i).received(), received));
    }
}

void check_nobody_stays(World& world) {
    for (std::size_t i = 0; i < world.wire_count(); ++i) world.disconnect(i);
    world.carry();
    check_empty(world.fault());
    CHECK(world.engine().attached().connection_count() == 0);
}

}  // namespace

void add_world_step(FuzzInput& input, std::vector<Step>& steps) {
    const std::size_t wire = input.octet() % 2;
    switch (input.octet() % 8) {
        case 0:
            return steps.emplace_back(Carry{Carry::What::commands}), void();
        case 1:
            return steps.emplace_back(Carry{Carry::What::effects}), void();
        case 2:
            return steps.emplace_back(Advance{milliseconds(input.octet() * 10)}), void();
        case 3:
            return steps.emplace_back(RaiseAlarm{input.flag() ? "low on memory & disk" : ""}),
                   void();
        case 4:
            return steps.emplace_back(Read{wire, input.flag()}), void();
        case 5:
            if (input.octet() % 8 == 0) steps.emplace_back(Disconnect{wire});
            return;
        case 6:
            if (input.octet() % 8 == 0) steps.emplace_back(CloseForced{wire, "by an operator"});
            return;
        default:
            return steps.emplace_back(Carry{Carry::What::all}), void();
    }
}

void fuzz_connections(const FuzzedProtocol& fuzzed, std::string_view bytes) {
    FuzzInput input(bytes.substr(0, input_bytes_max));
    const std::uint8_t choice = input.octet();
    const Start start{.first = (choice & 1) != 0 ? Distance::far : Distance::near,
                      .second = (choice & 2) != 0 ? Distance::far : Distance::near,
                      .with_handshake = (choice & 4) == 0};
    const bool raw = (choice & 8) != 0;
    const std::vector<Step> steps = raw ? std::vector<Step>{Feed{0, std::string(input.rest())}}
                                        : fuzzed.script(input, steps_max);
    World whole({}, /*keeps_record=*/(choice & 16) != 0);
    run(fuzzed, whole, start, steps, 0);
    World pieces({}, /*keeps_record=*/false);
    run(fuzzed, pieces, start, steps, 1 + (choice >> 5) * 9);
    check_answers(fuzzed, whole, pieces, fuzzed.cut_matters(steps));
    check_nobody_stays(whole);
}

}  // namespace revenant::protocol
