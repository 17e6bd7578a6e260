// Pending work of a connection: a client that sends before its vhost is open, and commands that
// arise while effects are processed (amqp10/links/connection.h).
#include "tests/support/peer10.h"

namespace revenant::amqp10 {
namespace {

class Waiting10 : public Wire10Test {
  protected:
    // Bytes of a client that does not wait for the broker's open.
    static std::string eager_frames(std::size_t links) {
        std::string bytes = frame10(0, Begin{.incoming_window = 100, .outgoing_window = 100});
        const std::string source = source_of("/queues/q");
        for (std::uint32_t handle = 0; handle < links; ++handle) {
            const std::string name = "link " + std::to_string(handle);
            bytes +=
                frame10(0, Attach{.name = name, .handle = handle, .role = true, .source = source});
        }
        return bytes;
    }
    // The next message of the queue "large" ends the session, because it exceeds the size limit of
    // this link.
    static void attach_narrow_receiver(PeerSession& on, std::uint32_t handle) {
        const std::string source = source_of("/queues/large");
        on.send(Attach{.name = "narrow",
                       .handle = handle,
                       .role = true,
                       .source = source,
                       .max_message_size = 100});
        on.expect<Attach>();
        on.credit(handle, 1);
    }
    std::size_t channels_of_the_engine() { return world().engine().attached().channel_count(); }
};
INSTANTIATE_TEST_SUITE_P(Wire, Waiting10, testing::Values(Distance::near, Distance::far),
                         distance_name);

// Nothing is read until the vhost is open, so the client's socket fills up.
TEST_P(Waiting10, NothingIsReadBeforeTheVhostIsReady) {
    constexpr std::size_t links = 200;
    declare("q");
    Peer& client = new_peer10();
    client.log_in({});
    client.send_open({});
    const std::string frames = eager_frames(links);
    if (GetParam() == Distance::far) {
        protocol::Connection& moving = client.wire().connection();
        EXPECT_FALSE(moving.wants_input());
        EXPECT_EQ(moving.receive(frames, world().now()), 0U);
        EXPECT_EQ(moving.info().state, "opening");
        EXPECT_EQ(channels_of_the_engine(), 1U) << "the one of 0-9-1";
    }
    client.send(frames);
    client.expect<Open>();
    client.expect<Begin>();
    for (std::uint32_t handle = 0; handle < links; ++handle) {
        EXPECT_EQ(client.expect<Attach>().handle, handle);
    }
    EXPECT_EQ(channels_of_the_engine(), 1 + links);
}

// Every link is reported once, however many there are, even if the client sends nothing more.
TEST_P(Waiting10, AllLinksMayEndWhileTheEngineSpeaks) {
    constexpr std::uint32_t links = 256;
    declare("q");
    for (std::uint32_t handle = 0; handle < links; ++handle) {
        session().attach_receiver(handle, "/queues/q");
    }
    EXPECT_EQ(channels_of_the_engine(), 1U + links);
    channel().send(amqp091::QueueDelete{.queue = "q"});
    channel().expect<amqp091::QueueDeleteOk>();
    for (std::uint32_t i = 0; i < links; ++i) {
        session().expect_detach(i, "amqp:resource-deleted", "queue 'q' in vhost '/' was deleted");
    }
    EXPECT_EQ(channels_of_the_engine(), 1U);
    session().expect_nothing();
}

// On the home reactor, the client continues before the end of its session has reached the engine.
// The requeued message must precede the publish: it fills the queue.
TEST_P(Waiting10, APublishComesBehindWhatWaits) {
    depends_on_distance();
    declare("full", {{"x-max-length", 1}, {"x-overflow", "reject-publish"}});
    declare("large");
    PeerSession sender = peer10().begin(1);
    sender.attach_sender(0, "/queues/full");
    sender.publish<Accepted>(0, 0, MessageBytes("first"));
    session().attach_receiver(0, "/queues/full", 1);
    session().expect_message("first");
    attach_narrow_receiver(session(), 1);

    channel().publish("", "large", std::string(2000, 'x'));
    sender.transfer(0, 1, MessageBytes("second"));
    session().expect<End>();
    if (GetParam() == Distance::near) {
        sender.expect_rejected(1, "amqp:resource-limit-exceeded",
                               "queue 'full' exceeded maximum length");
        EXPECT_EQ(channel().drain("full"), std::vector<std::string>{"first"});
    } else {
        sender.expect_outcome<Accepted>(1);
        EXPECT_EQ(channel().drain("full"), (std::vector<std::string>{"first", "second"}));
    }
}

}  // namespace
}  // namespace revenant::amqp10
