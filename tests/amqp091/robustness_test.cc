// Arbitrary bytes in arbitrary pieces that end anywhere must neither crash the broker nor corrupt
// the engine.
#include "tests/support/peer.h"

#include <random>

namespace revenant::amqp091 {
namespace {

using namespace std::string_literals;

// A session of two peers with all client methods and errors of both scopes. It is recorded once and
// replayed in many variations.
class Recording {
  public:
    explicit Recording(Distance distance) {
        first_ = std::make_unique<Peer>(world_, Connect{distance, PeerLocation::loopback});
        second_ = std::make_unique<Peer>(world_, Connect{distance, PeerLocation::loopback});
        first_->connect();
        second_->connect();
        declare();
        publish_and_consume();
        transact_and_reply();
        fail_and_close();
        first_->ignore_rest();
        second_->ignore_rest();
        world_.carry();
    }
    const std::vector<Step>& steps() const { return world_.steps(); }

  private:
    // Nothing is expected here, because only the sent bytes matter.
    void declare() {
        auto one = first_->channel(1);
        auto two = second_->channel(1);
        one.send(ChannelOpen{});
        two.send(ChannelOpen{});
        one.send(AccessRequest{});
        const std::string alternate = table({{"alternate-exchange", "amq.fanout"}});
        one.send(ExchangeDeclare{.exchange = "e", .type = "topic", .arguments = alternate});
        one.send(ExchangeDeclare{.exchange = "f", .type = "headers"});
        one.send(ExchangeDeclare{.exchange = "h", .type = "x-consistent-hash"});
        one.send(ExchangeBind{.destination = "f", .source = "e", .routing_key = "a.#"});
        one.send(QueueDeclare{.queue = "graves"});
        const std::string limits = table({{"x-dead-letter-exchange", ""},
                                          {"x-dead-letter-routing-key", "graves"},
                                          {"x-max-length", 20},
                                          {"x-message-ttl", 60000}});
        one.send(QueueDeclare{.queue = "q", .arguments = limits});
        const std::string levels = table({{"x-max-priority", 3}, {"x-overflow", "reject-publish"}});
        one.send(QueueDeclare{.queue = "p", .arguments = levels});
        two.send(QueueDeclare{.queue = "mine", .exclusive = true});
        two.send(QueueDeclare{.queue = "gone", .auto_delete = true});
        one.send(QueueBind{.queue = "q", .exchange = "e", .routing_key = "a.*"});
        one.send(QueueBind{.queue = "p", .exchange = "h", .routing_key = "3"});
        const std::string match = table({{"x-match", "any"}, {"colour", "red"}});
        one.send(QueueBind{.queue = "q", .exchange = "f", .arguments = match});
        world_.carry();
    }
    void publish_and_consume() {
        auto one = first_->channel(1);
        auto two = second_->channel(1);
        one.send(ConfirmSelect{});
        two.send(BasicQos{0, 3, false});
        two.send(BasicConsume{.queue = "q", .consumer_tag = "two"});
        two.send(BasicConsume{.queue = "gone", .consumer_tag = "short", .no_ack = true});
        for (int i = 0; i < 30; ++i) {
            one.publish("e", "a.b", "body " + std::to_string(i),
                        Properties().headers({{"colour", "red"}}).expiration("5000"));
            one.publish("h", std::to_string(i), "hashed",
                        Properties().priority(static_cast<std::uint8_t>(i % 5)));
        }
        world_.carry();
        two.ack(1);
        two.nack(2, false, true);
        two.reject(3, false);
        one.publish({.exchange = "f", .routing_key = "x", .mandatory = true},
                    std::string(20000, 'r'));
        one.publish("", "gone", "for the short one");
        world_.carry();
        two.send(BasicGet{.queue = "graves"});
        two.send(BasicCancel{.consumer_tag = "short"});
        two.send(BasicRecover{.requeue = true});
        world_.carry();
        world_.advance(seconds(6));
        two.send(QueuePurge{.queue = "graves"});
        world_.carry();
    }
    void transact_and_reply() {
        auto tx = first_->channel(2);
        tx.send(ChannelOpen{});
        tx.send(TxSelect{});
        tx.publish("", "q", "committed");
        tx.send(BasicGet{.queue = "q"});
        tx.send(BasicAck{1, false});
        tx.send(TxCommit{});
        tx.publish("", "q", "rolled back");
        tx.send(TxRollback{});
        world_.carry();
        tx.send(BasicConsume{.queue = "amq.rabbitmq.reply-to", .no_ack = true});
        tx.publish("", "mine", "question", Properties().reply_to("amq.rabbitmq.reply-to"));
        tx.send(TxCommit{});
        world_.carry();
        second_->channel(1).send(BasicGet{.queue = "mine", .no_ack = true});
        world_.raise_alarm("low on memory");
        first_->channel(1).publish("", "q", "held back");
        world_.carry();
        world_.raise_alarm("");
        world_.carry();
    }
    void fail_and_close() {
        auto failing = second_->channel(7);
        failing.send(ChannelOpen{});
        failing.send(QueueDeclare{.queue = "missing", .passive = true});
        failing.send(ChannelClose{200, "bye", 0, 0});
        world_.carry();
        failing.close_ok();
        failing.send(ChannelOpen{});
        failing.send(QueueDelete{.queue = "p"});
        failing.send(ExchangeDelete{.exchange = "f"});
        failing.send(QueueUnbind{.queue = "q", .exchange = "e", .routing_key = "a.*"});
        failing.send(BasicNack{99, true, true});
        world_.carry();
        first_->send(raw_frame(8, 0, ""));
        first_->send(0, ConnectionUpdateSecret{.new_secret = "s", .reason = "r"});
        first_->channel(1).send(BasicPublish{.routing_key = "q"});
        first_->send(header_frame(1, 10, "\0\0"s) + body_frame(1, "half"));
        second_->channel(1).send(BasicConsume{.queue = "q", .consumer_tag = "two"});
        first_->send(0, ConnectionClose{200, "bye", 0, 0});
        world_.carry();
        second_->send(0, ConnectionCloseOk{});
        world_.carry();
    }

    World world_;
    std::unique_ptr<Peer> first_;
    std::unique_ptr<Peer> second_;
};

std::string fault_at_the_end(World& world) {
    world.carry();
    if (std::string fault = world.fault(); !fault.empty()) return fault;
    for (std::size_t i = 0; i < world.wire_count(); ++i) world.disconnect(i);
    world.carry();
    return world.fault();
}

class ProtocolRobustness : public testing::TestWithParam<Distance> {};
INSTANTIATE_TEST_SUITE_P(Wire, ProtocolRobustness, testing::Values(Distance::near, Distance::far),
                         [](const auto& distance) { return distance_name(distance); });

// The session ends before, inside and after every frame.
TEST_P(ProtocolRobustness, EveryPrefixOfASessionLeavesTheEngineInOrder) {
    const Recording recording(GetParam());
    const std::vector<Step>& steps = recording.steps();
    std::size_t endings = 0;
    for (std::size_t last = 0; last < steps.size(); ++last) {
        std::vector<std::size_t> sizes{0};
        if (const Feed* feed = std::get_if<Feed>(&steps[last])) {
            sizes = {feed->bytes.size() / 2, feed->bytes.size() - 1, feed->bytes.size()};
        }
        for (const std::size_t size : sizes) {
            World world({}, /*keeps_record=*/last % 16 == 0);
            for (std::size_t i = 0; i < last; ++i) world.take(steps[i]);
            if (const Feed* feed = std::get_if<Feed>(&steps[last])) {
                world.feed(feed->wire, feed->bytes.substr(0, size));
            }
            // Ends both with mailbox items in transit and after they have arrived.
            if (endings % 2 == 0) world.carry();
            for (std::size_t i = 0; i < world.wire_count(); ++i) world.disconnect(i);
            world.carry();
            ASSERT_EQ(world.fault(), "")
                << "step " << last << " of " << steps.size() << ", " << size;
            endings += 1;
        }
    }
    EXPECT_GT(endings, 300U);
}

TEST_P(ProtocolRobustness, PiecesOfAnySizeGiveTheSameAnswers) {
    const Recording recording(GetParam());
    World whole;
    for (const Step& step : recording.steps()) whole.take(step);
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        std::mt19937_64 random(seed);
        World pieces;
        for (const Step& step : recording.steps()) {
            const Feed* const feed = std::get_if<Feed>(&step);
            if (feed == nullptr) {
                pieces.take(step);
                continue;
            }
            for (std::string_view left = feed->bytes; !left.empty();) {
                const std::size_t size = std::min<std::size_t>(1 + random() % 300, left.size());
                pieces.feed(feed->wire, left.substr(0, size));
                left.remove_prefix(size);
            }
        }
        for (std::size_t i = 0; i < whole.wire_count(); ++i) {
            ASSERT_EQ(difference(pieces.wire(i).received(), whole.wire(i).received()), "")
                << "seed " << seed;
        }
        ASSERT_EQ(fault_at_the_end(pieces), "") << "seed " << seed;
    }
}

// Connects a peer with two channels and returns its index.
std::size_t connect_by_hand(World& world, Distance distance) {
    Peer peer(world, Connect{distance, PeerLocation::loopback});
    peer.connect();
    auto one = peer.open_channel(1);
    one.declare("q", {{"x-max-length", 50}});
    one.publish("", "q", "body");
    one.consume("q", "tag");
    peer.open_channel(2);
    peer.ignore_rest();
    return peer.index();
}

TEST_P(ProtocolRobustness, GarbageNeverCrashes) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        std::mt19937_64 random(seed);
        World world({}, /*keeps_record=*/false);
        const std::size_t wire = connect_by_hand(world, GetParam());
        std::string garbage(1 + random() % 300, '\0');
        for (char& byte : garbage) byte = static_cast<char>(random());
        world.feed(wire, garbage);
        world.advance(seconds(40));
        ASSERT_EQ(fault_at_the_end(world), "") << "seed " << seed;
    }
}

// A well-formed frame with known ids and random content.
std::string plausible_frame(std::mt19937_64& random) {
    const auto channel = static_cast<std::uint16_t>(random() % 4);
    std::string payload;
    switch (random() % 6) {
        case 0:
            return raw_frame(8, channel, "");
        case 1:
            payload = std::string(random() % 20, 'b');
            return body_frame(channel, payload);
        case 2: {
            std::string properties(2 + random() % 30, '\0');
            for (char& byte : properties) byte = static_cast<char>(random());
            return header_frame(channel, random() % 40, random() % 2 == 0 ? "\0\0"s : properties);
        }
        default: {
            const std::uint32_t key = all_method_keys[random() % all_method_keys.size()];
            payload = {static_cast<char>(key >> 24), static_cast<char>(key >> 16),
                       static_cast<char>(key >> 8), static_cast<char>(key)};
            const std::size_t size = random() % 24;
            for (std::size_t i = 0; i < size; ++i) {
                payload.push_back(static_cast<char>(random() % 3 == 0 ? random() : random() % 3));
            }
            return raw_frame(1, channel, payload);
        }
    }
}

TEST_P(ProtocolRobustness, PlausibleFramesNeverCrash) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        std::mt19937_64 random(seed);
        World world({}, /*keeps_record=*/false);
        const std::size_t wire = connect_by_hand(world, GetParam());
        for (int i = 0; i < 20; ++i) {
            world.feed(wire, plausible_frame(random));
            if (random() % 3 == 0) world.carry();
        }
        world.advance(seconds(40));
        ASSERT_EQ(fault_at_the_end(world), "") << "seed " << seed;
    }
}

// A session with single bytes changed reaches deeper code than random bytes.
TEST_P(ProtocolRobustness, ADamagedSessionNeverCrashes) {
    const Recording recording(GetParam());
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        std::mt19937_64 random(seed);
        World world({}, /*keeps_record=*/false);
        for (const Step& step : recording.steps()) {
            const Feed* const feed = std::get_if<Feed>(&step);
            if (feed == nullptr || random() % 20 != 0) {
                world.take(step);
                continue;
            }
            std::string damaged = feed->bytes;
            damaged[random() % damaged.size()] = static_cast<char>(random());
            world.feed(feed->wire, damaged);
        }
        ASSERT_EQ(fault_at_the_end(world), "") << "seed " << seed;
    }
}

// Frames are left out or swapped: valid bytes at the wrong time.
TEST_P(ProtocolRobustness, AShuffledSessionNeverCrashes) {
    const Recording recording(GetParam());
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        std::mt19937_64 random(seed);
        World world({}, /*keeps_record=*/false);
        std::vector<Step> steps = recording.steps();
        for (std::size_t i = 20; i + 1 < steps.size(); ++i) {
            if (random() % 8 == 0) std::swap(steps[i], steps[i + 1]);
            if (random() % 30 == 0) steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(i));
        }
        for (const Step& step : steps) world.take(step);
        ASSERT_EQ(fault_at_the_end(world), "") << "seed " << seed;
    }
}

// Mailbox items are delivered one at a time, so that every command meets every state of the other
// side.
TEST(ProtocolRobustnessFar, LettersMayArriveAtAnyMoment) {
    const Recording recording(Distance::far);
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        std::mt19937_64 random(seed);
        World world({}, /*keeps_record=*/seed % 10 == 0);
        for (const Step& step : recording.steps()) {
            if (std::holds_alternative<Carry>(step) && random() % 2 == 0) {
                world.carry(random() % 2 == 0 ? Carry::What::commands : Carry::What::effects);
                continue;
            }
            world.take(step);
            if (random() % 4 == 0) world.carry(Carry::What::commands);
            if (random() % 4 == 0) world.carry(Carry::What::effects);
            if (random() % 200 == 0 && world.wire_count() == 2) world.disconnect(random() % 2);
        }
        ASSERT_EQ(fault_at_the_end(world), "") << "seed " << seed;
        for (std::size_t i = 0; i < world.wire_count(); ++i) {
            const auto told = transcript(world.wire(i).received());
            ASSERT_TRUE(told.empty() || !told.back().starts_with("fault"))
                << told.back() << ", seed " << seed;
        }
    }
}

}  // namespace
}  // namespace revenant::amqp091
