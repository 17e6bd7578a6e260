// Confirms and transactions (amqp091, section 10).
#include "tests/support/peer.h"

namespace revenant::amqp091 {
namespace {

using Bodies = std::vector<std::string>;

class ProtocolConfirms : public WireTest {};
INSTANTIATE_TEST_SUITE_P(Wire, ProtocolConfirms, testing::Values(Distance::near, Distance::far),
                         distance_name);
class ProtocolTransactions : public WireTest {};
INSTANTIATE_TEST_SUITE_P(Wire, ProtocolTransactions, testing::Values(Distance::near, Distance::far),
                         distance_name);

// amqp091 10.1
TEST_P(ProtocolConfirms, SequenceNumbersBeginWithSelect) {
    channel().declare("q");
    channel().publish("", "q", "before");
    channel().select_confirms();
    channel().publish("", "q", "one");
    EXPECT_EQ(channel().expect<BasicAck>(), (BasicAck{1, false}));
    channel().publish("", "nowhere", "two");
    EXPECT_EQ(channel().expect<BasicAck>(), (BasicAck{2, false}));
    auto other = peer().open_channel(2);
    other.select_confirms();
    other.publish("", "q", "one of its own");
    EXPECT_EQ(other.expect<BasicAck>(), (BasicAck{1, false}));
}

// amqp091 10.1
TEST_P(ProtocolConfirms, SelectWithoutWaitingIsNotAnswered) {
    channel().send(ConfirmSelect{.no_wait = true});
    channel().publish("", "nowhere", "body");
    EXPECT_EQ(channel().expect<BasicAck>(), (BasicAck{1, false}));
}

// amqp091 10.2
TEST_P(ProtocolConfirms, OneRefusingQueueMakesANack) {
    channel().declare("open");
    channel().declare("full", {{"x-max-length", 0}, {"x-overflow", "reject-publish"}});
    channel().bind("open", "amq.fanout");
    channel().bind("full", "amq.fanout");
    channel().select_confirms();
    channel().publish("amq.fanout", "", "body");
    EXPECT_EQ(channel().expect<BasicNack>(), (BasicNack{1, false, false}));
    EXPECT_EQ(channel().drain("open"), Bodies{"body"});
}

// amqp091 10.2
TEST_P(ProtocolConfirms, AMessageOfADeletedQueueIsAcked) {
    channel().declare("q");
    channel().select_confirms();
    peer().hold();
    channel().publish("", "q", "body");
    channel().send(QueueDelete{.queue = "q"});
    peer().release();
    channel().expect<QueueDeleteOk>();
    EXPECT_EQ(channel().expect<BasicAck>(), (BasicAck{1, false}));
}

// amqp091 10.3
TEST_P(ProtocolConfirms, ManyConfirmsAreToldInOne) {
    channel().declare("q");
    channel().select_confirms();
    peer().hold();
    for (int i = 0; i < 10; ++i) channel().publish("", "q", "body");
    peer().release();
    EXPECT_EQ(channel().expect<BasicAck>(), (BasicAck{10, true}));
    channel().publish("", "q", "body");
    EXPECT_EQ(channel().expect<BasicAck>(), (BasicAck{11, false}));
}

// amqp091 10.3: an ack never covers a refused message, and a nack never an accepted one.
TEST_P(ProtocolConfirms, AcksAndNacksAreNotMixed) {
    channel().declare("q", {{"x-max-length", 3}, {"x-overflow", "reject-publish"}});
    channel().select_confirms();
    peer().hold();
    for (int i = 0; i < 3; ++i) channel().publish("", "q", "fits");
    for (int i = 0; i < 2; ++i) channel().publish("", "q", "refused");
    channel().publish("", "nowhere", "dropped");
    peer().release();
    EXPECT_EQ(channel().expect<BasicAck>(), (BasicAck{3, true}));
    EXPECT_EQ(channel().expect<BasicNack>(), (BasicNack{5, true, false}));
    EXPECT_EQ(channel().expect<BasicAck>(), (BasicAck{6, false}));
}

// amqp091 10.3: each channel has its own confirms.
TEST_P(ProtocolConfirms, EveryChannelHasItsOwnConfirms) {
    channel().declare("q");
    auto other = peer().open_channel(2);
    channel().select_confirms();
    other.select_confirms();
    peer().hold();
    for (int i = 0; i < 3; ++i) {
        channel().publish("", "q", "one");
        other.publish("", "q", "two");
    }
    peer().release();
    EXPECT_EQ(channel().expect<BasicAck>(), (BasicAck{3, true}));
    EXPECT_EQ(other.expect<BasicAck>(), (BasicAck{3, true}));
}

// amqp091 10.2, 9.10: messages accepted before an error are confirmed before the close.
TEST_P(ProtocolConfirms, ConfirmsPrecedeTheCloseOfAnError) {
    channel().declare("q");
    channel().select_confirms();
    peer().hold();
    channel().publish("", "q", "one");
    channel().publish("", "q", "two");
    channel().publish("missing", "q", "three");
    peer().release();
    EXPECT_EQ(channel().expect<BasicAck>(), (BasicAck{2, true}));
    channel().expect_close<BasicPublish>(404, "NOT_FOUND - no exchange 'missing' in vhost '/'");
}

// amqp091 10.2: confirms are also sent before a connection close.
TEST_P(ProtocolConfirms, ConfirmsPrecedeTheCloseOfAConnection) {
    channel().declare("q");
    channel().select_confirms();
    peer().hold();
    channel().publish("", "q", "one");
    channel().send(BasicQos{.prefetch_size = 1});
    peer().release();
    EXPECT_EQ(channel().expect<BasicAck>(), (BasicAck{1, false}));
    peer().expect_connection_close<BasicQos>(540, "NOT_IMPLEMENTED - prefetch_size!=0 (1)");
}

// amqp091 10.4
TEST_P(ProtocolConfirms, SelectingTwiceIsFine) {
    channel().select_confirms();
    channel().publish("", "nowhere", "one");
    EXPECT_EQ(channel().expect<BasicAck>(), (BasicAck{1, false}));
    channel().select_confirms();
    channel().publish("", "nowhere", "two");
    EXPECT_EQ(channel().expect<BasicAck>(), (BasicAck{2, false}));
}

// amqp091 10.4
TEST_P(ProtocolConfirms, AChannelHasOneModeOnly) {
    channel().select_confirms();
    channel().send(TxSelect{});
    channel().expect_close<TxSelect>(406,
                                     "PRECONDITION_FAILED - cannot switch from confirm to tx mode");
    channel().reopen();
    channel().select_transaction();
    channel().send(ConfirmSelect{});
    channel().expect_close<ConfirmSelect>(
        406, "PRECONDITION_FAILED - cannot switch from tx to confirm mode");
}

// amqp091 10.5
TEST_P(ProtocolTransactions, WithoutSelectThereIsNone) {
    channel().send(TxCommit{});
    channel().expect_close<TxCommit>(406, "PRECONDITION_FAILED - channel is not transactional");
    channel().reopen();
    channel().send(TxRollback{});
    channel().expect_close<TxRollback>(406, "PRECONDITION_FAILED - channel is not transactional");
}

// amqp091 10.5
TEST_P(ProtocolTransactions, PublishesWaitForTheCommit) {
    auto other = open_channel();
    channel().declare("q");
    channel().select_transaction();
    channel().publish("", "q", "one");
    channel().publish("", "q", "two");
    channel().expect_nothing();
    EXPECT_EQ(other.count("q"), 0U);
    channel().commit();
    EXPECT_EQ(other.drain("q"), (Bodies{"one", "two"}));
    channel().publish("", "q", "three");
    channel().rollback();
    channel().commit();
    EXPECT_EQ(other.count("q"), 0U);
}

// amqp091 10.5
TEST_P(ProtocolTransactions, SettlementsWaitForTheCommit) {
    channel().declare("q");
    for (const char* body : {"a", "b", "c"}) channel().publish("", "q", body);
    channel().select_transaction();
    for (int i = 0; i < 3; ++i) channel().get("q");
    channel().ack(1);
    channel().reject(2, true);
    channel().nack(3, false, false);
    EXPECT_EQ(channel().count("q"), 0U);
    channel().commit();
    EXPECT_EQ(channel().drain("q"), Bodies{"b"});
}

// amqp091 10.5: deliveries of a rolled back transaction are unacked again, not requeued.
TEST_P(ProtocolTransactions, ARollbackTakesSettlementsBack) {
    channel().declare("q");
    channel().publish("", "q", "body");
    channel().select_transaction();
    channel().get("q");
    channel().ack(1);
    channel().rollback();
    EXPECT_EQ(channel().count("q"), 0U);
    channel().ack(1);
    channel().commit();
    channel().close();
    channel().open();
    EXPECT_EQ(channel().count("q"), 0U);
}

// amqp091 10.5
TEST_P(ProtocolTransactions, DeliveryTagsAreCheckedAtOnce) {
    channel().declare("q");
    channel().publish("", "q", "body");
    channel().select_transaction();
    channel().get("q");
    channel().ack(1);
    channel().ack(1);
    channel().expect_close<BasicAck>(406, "PRECONDITION_FAILED - unknown delivery tag 1");
    channel().reopen();
    EXPECT_EQ(channel().count("q"), 1U) << "the transaction ends with its channel";
}

// amqp091 10.5
TEST_P(ProtocolTransactions, ARefusedPublishMakesThePartialCommit) {
    channel().declare("q", {{"x-max-length", 1}, {"x-overflow", "reject-publish"}});
    channel().select_transaction();
    channel().publish("", "q", "fits");
    channel().publish("", "q", "refused");
    channel().send(TxCommit{});
    channel().expect_close<TxCommit>(406, "PRECONDITION_FAILED - partial tx completion");
    channel().reopen();
    EXPECT_EQ(channel().drain("q"), Bodies{"fits"});
}

// amqp091 10.5
TEST_P(ProtocolTransactions, ReturnsComeBeforeCommitOk) {
    channel().select_transaction();
    channel().publish({.routing_key = "nowhere", .mandatory = true}, "body");
    channel().expect_nothing();
    channel().send(TxCommit{});
    EXPECT_EQ(channel().expect_return().body, "body");
    channel().expect<TxCommitOk>();
}

// amqp091 10.5: an invalid publish is refused immediately, not at commit.
TEST_P(ProtocolTransactions, AnImpossiblePublishIsRefusedAtOnce) {
    channel().select_transaction();
    channel().publish("missing", "k", "body");
    channel().expect_close<BasicPublish>(404, "NOT_FOUND - no exchange 'missing' in vhost '/'");
}

// amqp091 10.5: commands after a commit wait for it.
TEST_P(ProtocolTransactions, CommandsBehindACommitWaitForIt) {
    channel().declare("q");
    channel().select_transaction();
    peer().hold();
    channel().publish("", "q", "one");
    channel().send(TxCommit{});
    channel().publish("", "q", "two");
    channel().send(TxCommit{});
    channel().send(QueueDeclare{.queue = "q", .passive = true});
    peer().release();
    channel().expect<TxCommitOk>();
    channel().expect<TxCommitOk>();
    EXPECT_EQ(channel().expect<QueueDeclareOk>().message_count, 2U);
}

// amqp091 10.5: a second tx.select keeps the transaction.
TEST_P(ProtocolTransactions, SelectingTwiceIsFine) {
    channel().declare("q");
    channel().select_transaction();
    channel().publish("", "q", "body");
    channel().select_transaction();
    channel().commit();
    EXPECT_EQ(channel().drain("q"), Bodies{"body"});
}

// amqp091 10.5, 11.13: recover does not affect deliveries settled in a transaction.
TEST_P(ProtocolTransactions, RecoverLeavesWhatIsSettled) {
    channel().declare("q");
    channel().publish("", "q", "settled");
    channel().publish("", "q", "open");
    channel().select_transaction();
    channel().get("q");
    channel().get("q");
    channel().ack(1);
    channel().send(BasicRecover{.requeue = true});
    channel().expect<BasicRecoverOk>();
    EXPECT_EQ(channel().count("q"), 1U);
    channel().commit();
    EXPECT_EQ(channel().drain("q"), Bodies{"open"});
}

}  // namespace
}  // namespace revenant::amqp091
