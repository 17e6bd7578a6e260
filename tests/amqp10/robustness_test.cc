// Malformed input: a complete session with bytes changed, removed or duplicated, or truncated
// anywhere. The engine must stay consistent, and the output must be well-formed.
#include "tests/support/peer10.h"

#include <algorithm>
#include <random>

namespace revenant::amqp10 {
namespace {

using namespace std::string_literals;
using protocol::Protocol;

class Robustness10 : public testing::TestWithParam<Distance> {
  protected:
    // The frames of a client that uses most features.
    static std::vector<std::string> frames() {
        const std::string response = "\0guest\0guest"s;
        SaslInit init;
        init.mechanism = "PLAIN";
        init.initial_response = response;
        Open open;
        open.container_id = "robust";
        open.max_frame_size = 512;
        const std::string to_q = target_of("/queues/q");
        const std::string from_q = source_of("/queues/q");
        const std::string anywhere = target_of(std::nullopt);
        const std::string accepted = encoded(Accepted{});
        const std::string annotations =
            encoded(Datum::map({{Datum::symbol("x-why"), Datum::string("so")}}));
        const std::string modified =
            encoded(Modified{.delivery_failed = true, .message_annotations = annotations});
        std::vector<std::string> all = {
            std::string(sasl_greeting),
            sasl_frame(init),
            std::string(amqp_greeting),
            frame10(0, open),
            frame10(0, Begin{.incoming_window = 100, .outgoing_window = 100}),
            frame10(0,
                    Attach{.name = "s", .handle = 0, .target = to_q, .initial_delivery_count = 0}),
            frame10(
                0,
                Attach{.name = "a", .handle = 1, .target = anywhere, .initial_delivery_count = 0}),
            frame10(0, Attach{.name = "r", .handle = 2, .role = true, .source = from_q}),
        };
        for (std::uint32_t id = 0; id < 4; ++id) {
            const std::string message = id % 2 == 0 ? MessageBytes(std::string(700, 'b')).bytes()
                                                    : MessageBytes("m").to("/queues/q").bytes();
            all.push_back(frame10(0, Transfer{.handle = id % 2, .delivery_id = id}, message));
        }
        all.push_back(frame10(0, Flow{.next_incoming_id = 0,
                                      .incoming_window = 100,
                                      .handle = 2,
                                      .delivery_count = 0,
                                      .link_credit = 3}));
        all.push_back(
            frame10(0, Disposition{.role = true, .first = 0, .settled = true, .state = accepted}));
        all.push_back(frame10(
            0,
            Disposition{.role = true, .first = 1, .last = 2, .settled = false, .state = modified}));
        all.push_back(frame10(0, Flow{.next_incoming_id = 0,
                                      .incoming_window = 100,
                                      .handle = 2,
                                      .delivery_count = 0,
                                      .link_credit = 10,
                                      .drain = true}));
        all.push_back(frame10(0, Detach{.handle = 0, .closed = true}));
        all.push_back(frame10(0, End{}));
        all.push_back(frame10(0, Close{}));
        return all;
    }
    static std::string joined(const std::vector<std::string>& frames) {
        std::string bytes;
        for (const std::string& frame : frames) bytes += frame;
        return bytes;
    }
    // Returns what is wrong after a client has sent these bytes and disconnected.
    static std::string fault_after(const std::string& bytes) {
        World world;
        world.connect({GetParam(), PeerLocation::loopback, Protocol::amqp091});
        declare_queue(world);
        const std::size_t wire =
            world.connect({GetParam(), PeerLocation::loopback, Protocol::amqp10});
        world.feed(wire, bytes);
        world.carry();
        if (std::string fault = world.fault(); !fault.empty()) return fault;
        for (const std::string& line : transcript(world.wire(wire).received())) {
            if (line.starts_with("fault") || line.starts_with("rest")) return line;
        }
        world.advance(seconds(30));
        for (std::size_t i = 0; i < world.wire_count(); ++i) world.disconnect(i);
        world.carry();
        return world.fault();
    }

  private:
    static void declare_queue(World& world) {
        using namespace amqp091;
        const std::string properties = table({{"product", "a test"}});
        std::string bytes = "AMQP\x00\x00\x09\x01"s;
        bytes += method_frame(0, ConnectionStartOk{.client_properties = properties,
                                                   .mechanism = "PLAIN",
                                                   .response = "\0guest\0guest"s,
                                                   .locale = "en_US"});
        bytes += method_frame(0, ConnectionTuneOk{10, 131072, 0});
        bytes += method_frame(0, ConnectionOpen{.virtual_host = "/"});
        bytes += method_frame(1, ChannelOpen{});
        bytes += method_frame(1, QueueDeclare{.queue = "q"});
        world.feed(0, bytes);
        world.carry();
    }
};
INSTANTIATE_TEST_SUITE_P(Wire, Robustness10, testing::Values(Distance::near, Distance::far),
                         distance_name);

TEST_P(Robustness10, TheWholeSessionIsFine) { EXPECT_EQ(fault_after(joined(frames())), ""); }

TEST_P(Robustness10, ASessionMayBeCutOffAnywhere) {
    const std::string whole = joined(frames());
    for (std::size_t size = 0; size < whole.size(); size += 13) {
        ASSERT_EQ(fault_after(whole.substr(0, size)), "") << size;
    }
}

TEST_P(Robustness10, EveryFrameMayBeLeftOutOrDoubled) {
    const std::vector<std::string> all = frames();
    for (std::size_t i = 0; i < all.size(); ++i) {
        std::vector<std::string> without = all;
        without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
        ASSERT_EQ(fault_after(joined(without)), "") << "without " << i;
        std::vector<std::string> doubled = all;
        doubled.insert(doubled.begin() + static_cast<std::ptrdiff_t>(i), all[i]);
        ASSERT_EQ(fault_after(joined(doubled)), "") << "doubled " << i;
    }
}

TEST_P(Robustness10, FramesMayComeInAnyOrder) {
    std::mt19937_64 random(7);
    constexpr std::size_t handshake = 4;
    for (int round = 0; round < 150; ++round) {
        std::vector<std::string> all = frames();
        std::shuffle(all.begin() + handshake, all.end(), random);
        ASSERT_EQ(fault_after(joined(all)), "") << "round " << round;
    }
}

TEST_P(Robustness10, AnyOctetMayBeAnother) {
    std::mt19937_64 random(42);
    const std::string whole = joined(frames());
    for (int round = 0; round < 400; ++round) {
        std::string bytes = whole;
        for (std::uint64_t changes = 1 + random() % 4; changes > 0; --changes) {
            bytes[random() % bytes.size()] = static_cast<char>(random());
        }
        ASSERT_EQ(fault_after(bytes), "") << "round " << round;
    }
}

// Frame sizes stay valid, so that the contents are processed.
TEST_P(Robustness10, AnyOctetWithinAFrameMayBeAnother) {
    std::mt19937_64 random(4711);
    constexpr std::size_t handshake = 4;
    for (int round = 0; round < 400; ++round) {
        std::vector<std::string> all = frames();
        for (std::uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
            std::string& frame = all[handshake + random() % (all.size() - handshake)];
            frame[8 + random() % (frame.size() - 8)] = static_cast<char>(random());
        }
        ASSERT_EQ(fault_after(joined(all)), "") << "round " << round;
    }
}

TEST_P(Robustness10, AnyFieldMayHoldAnything) {
    std::mt19937_64 random(99);
    const auto some_datum = [&random]() -> Datum {
        switch (random() % 9) {
            case 0:
                return Datum::null();
            case 1:
                return Datum::boolean(random() % 2 == 0);
            case 2:
                return Datum::uint(static_cast<std::uint32_t>(random() % 5));
            case 3:
                return Datum::uint(static_cast<std::uint32_t>(random()));
            case 4:
                return Datum::string("/queues/q");
            case 5:
                return Datum::binary("tag");
            case 6:
                return Datum::list({Datum::uint(1)});
            case 7:
                return Datum::map({{Datum::symbol("paired"), Datum::boolean(true)}});
            default:
                return Datum::ubyte(static_cast<std::uint8_t>(random() % 3));
        }
    };
    constexpr std::size_t handshake = 5;
    for (int round = 0; round < 300; ++round) {
        std::vector<std::string> all = frames();
        for (int i = 0; i < 8; ++i) {
            Data fields;
            for (std::uint64_t count = random() % 12; count > 0; --count) {
                fields.push_back(some_datum());
            }
            const std::string frame =
                frame10(FrameType::amqp, 0, described_list(0x10 + random() % 10, fields));
            const std::size_t at = handshake + random() % (all.size() - handshake);
            all.insert(all.begin() + static_cast<std::ptrdiff_t>(at), frame);
        }
        ASSERT_EQ(fault_after(joined(all)), "") << "round " << round;
    }
}

}  // namespace
}  // namespace revenant::amqp10
