// Publishers: confirms, returns and transactions.

import com.rabbitmq.client.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;

final class PublisherCases extends Peer {
    static { test("confirms_one_by_one", (connection, channel) -> {
        String queue = declareQueue(channel);
        for (int index = 0; index < 100; index++) {
            publish(channel, "", queue, "" + index, MessageProperties.PERSISTENT_TEXT_PLAIN);
        }
        equal(IntStream.range(0, 100).mapToObj(Integer::toString).collect(Collectors.toList()),
            bodiesIn(channel, queue));
    }); }

    static { test("confirms_of_a_burst", (connection, channel) -> {
        String queue = declareQueue(channel);
        int count = 5000;
        ConcurrentSkipListSet<Long> unconfirmed = new ConcurrentSkipListSet<>();
        CountDownLatch finished = new CountDownLatch(1);
        channel.confirmSelect();
        for (long tag = 1; tag <= count; tag++) unconfirmed.add(tag);
        channel.addConfirmListener((tag, multiple) -> {
            if (multiple) unconfirmed.headSet(tag, true).clear();
            else unconfirmed.remove(tag);
            if (unconfirmed.isEmpty()) finished.countDown();
        }, (tag, multiple) -> {});
        for (int index = 0; index < count; index++) {
            equal(index + 1L, channel.getNextPublishSeqNo());
            channel.basicPublish("", queue, MessageProperties.PERSISTENT_BASIC, bytes("" + index));
        }
        check(finished.await(30, TimeUnit.SECONDS), unconfirmed.size() + " are unconfirmed");
        equal((long) count, channel.messageCount(queue));
        BlockingQueue<Integer> received = new LinkedBlockingQueue<>();
        channel.basicConsume(queue, true, (tag, delivery) ->
            received.add(Integer.parseInt(text(delivery.getBody()))), tag -> {});
        for (int index = 0; index < count; index++) equal(index, take(received, "all arrive"));
    }); }

    static { test("reject_publish_is_nacked", (connection, channel) -> {
        String queue = declareQueue(channel, "queue",
            Map.of("x-max-length", 1, "x-overflow", "reject-publish"));
        publish(channel, "", queue, "fits");
        channel.basicPublish("", queue, null, bytes("does not fit"));
        check(!channel.waitForConfirms(PATIENCE_SECONDS * 1000), "the message was not nacked");
        equal(List.of("fits"), bodiesIn(channel, queue));
    }); }

    static { test("mandatory_return", (connection, channel) -> {
        List<Return> returned = new CopyOnWriteArrayList<>();
        channel.addReturnListener((Return message) -> returned.add(message));
        channel.confirmSelect();
        channel.basicPublish("amq.direct", nameOf("nobody"), true,
            new AMQP.BasicProperties.Builder().messageId("m1").build(), bytes("lost"));
        channel.waitForConfirmsOrDie(PATIENCE_SECONDS * 1000);
        equal(1, returned.size());
        Return message = returned.get(0);
        equal(312, message.getReplyCode());
        equal("NO_ROUTE", message.getReplyText());
        equal("amq.direct", message.getExchange());
        equal(nameOf("nobody"), message.getRoutingKey());
        equal("m1", message.getProperties().getMessageId());
        equal("lost", text(message.getBody()));
    }); }

    static { test("transaction_commit", (connection, channel) -> {
        String queue = declareQueue(channel);
        Channel observer = connection.createChannel();
        channel.txSelect();
        channel.basicPublish("", queue, null, bytes("1"));
        channel.basicPublish("", queue, null, bytes("2"));
        equal(0L, channel.messageCount(queue));
        channel.txCommit();
        equal(List.of("1", "2"), bodiesIn(observer, queue));
    }); }

    static { test("transaction_rollback", (connection, channel) -> {
        String queue = declareQueue(channel);
        Channel observer = connection.createChannel();
        publish(observer, "", queue, "kept");
        channel.txSelect();
        channel.basicPublish("", queue, null, bytes("discarded"));
        channel.basicAck(channel.basicGet(queue, false).getEnvelope().getDeliveryTag(), false);
        channel.txRollback();
        channel.close();
        equal(List.of("kept"), bodiesIn(observer, queue));
    }); }
}
