// Consumers: prefetch, get, requeueing, cancellation and direct reply-to.

import com.rabbitmq.client.*;
import java.util.*;
import java.util.concurrent.*;

final class ConsumerCases extends Peer {
    static { test("consume_with_prefetch", (connection, channel) -> {
        String queue = declareQueue(channel);
        int count = 20;
        int prefetch = 3;
        for (int index = 0; index < count; index++) publish(channel, "", queue, "" + index);
        Channel consumer = connection.createChannel();
        BlockingQueue<Delivery> received = new LinkedBlockingQueue<>();
        Deque<Delivery> unacked = new ArrayDeque<>();
        consumer.basicQos(prefetch);
        consumer.basicConsume(queue, (tag, delivery) -> received.add(delivery), tag -> {});
        for (int index = 0; index < count; ) {
            while (unacked.size() < prefetch && index < count) {
                Delivery delivery = take(received, "the window is full");
                equal("" + index++, text(delivery.getBody()));
                unacked.add(delivery);
            }
            // The prefetch limit is reached, so the other messages must still be in the queue.
            equal((long) count - index, channel.messageCount(queue));
            equal(0, received.size());
            consumer.basicAck(unacked.remove().getEnvelope().getDeliveryTag(), false);
        }
        consumer.basicAck(unacked.getLast().getEnvelope().getDeliveryTag(), true);
        consumer.close();
        equal(0L, channel.messageCount(queue));
    }); }

    static { test("get_and_empty_get", (connection, channel) -> {
        String queue = declareQueue(channel);
        check(channel.basicGet(queue, false) == null, "the queue should be empty");
        publish(channel, "", queue, "first");
        publish(channel, "", queue, "second");
        GetResponse got = channel.basicGet(queue, false);
        equal("first", text(got.getBody()));
        equal(1, got.getMessageCount());
        check(!got.getEnvelope().isRedeliver(), "it was not delivered before");
        channel.basicAck(got.getEnvelope().getDeliveryTag(), false);
        equal(List.of("second"), bodiesIn(channel, queue));
    }); }

    static { test("nack_requeues", (connection, channel) -> {
        String queue = declareQueue(channel);
        for (String body : List.of("1", "2", "3")) publish(channel, "", queue, body);
        channel.basicGet(queue, false);
        GetResponse second = channel.basicGet(queue, false);
        channel.basicNack(second.getEnvelope().getDeliveryTag(), true, true);
        for (String body : List.of("1", "2", "3")) {
            Delivery delivery = nextMessage(channel, queue);
            equal(body, text(delivery.getBody()));
            equal(!body.equals("3"), delivery.getEnvelope().isRedeliver());
        }
    }); }

    static { test("recover_requeues", (connection, channel) -> {
        String queue = declareQueue(channel);
        publish(channel, "", queue, "again");
        channel.basicGet(queue, false);
        channel.basicRecover(true);
        check(nextMessage(channel, queue).getEnvelope().isRedeliver(), "not marked redelivered");
    }); }

    static { test("client_cancels_consumer", (connection, channel) -> {
        String queue = declareQueue(channel);
        CountDownLatch cancelled = new CountDownLatch(1);
        String tag = channel.basicConsume(queue, new DefaultConsumer(channel) {
            @Override public void handleCancelOk(String consumerTag) {
                cancelled.countDown();
            }
        });
        equal(1L, channel.consumerCount(queue));
        channel.basicCancel(tag);
        check(cancelled.await(PATIENCE_SECONDS, TimeUnit.SECONDS), "no cancel-ok");
        equal(0L, channel.consumerCount(queue));
    }); }

    static { test("broker_cancels_consumer", (connection, channel) -> {
        String queue = declareQueue(channel);
        BlockingQueue<String> cancelled = new LinkedBlockingQueue<>();
        String tag = channel.basicConsume(queue, (consumerTag, delivery) -> {}, cancelled::add);
        connection.createChannel().queueDelete(queue);
        equal(tag, take(cancelled, "the consumer is cancelled"));
        check(channel.isOpen(), "the channel must stay open");
        checkUsable(connection);
    }); }

    static { test("unknown_delivery_tag_406", (connection, channel) -> {
        channel.basicAck(77, false);
        expectClose(406, "unknown delivery tag 77", () -> channel.queueDeclare());
        checkUsable(connection);
    }); }

    static { test("direct_reply_to", (connection, channel) -> {
        String queue = declareQueue(channel);
        RpcServer server = new RpcServer(connection.createChannel(), queue) {
            @Override public byte[] handleCall(byte[] request, AMQP.BasicProperties reply) {
                return bytes(text(request) + " pong");
            }
        };
        Thread serving = new Thread(() -> {
            try {
                server.mainloop();
            } catch (Exception error) {
                error.printStackTrace();
            }
        });
        serving.start();
        // RpcClient uses the pseudo queue amq.rabbitmq.reply-to by default.
        RpcClient client = new RpcClient(channel, "", queue, PATIENCE_SECONDS * 1000);
        equal("1 pong", client.stringCall("1"));
        equal("2 pong", client.stringCall("2"));
        client.close();
        server.getChannel().close(); // This also ends the server's main loop.
        serving.join(PATIENCE_SECONDS * 1000);
        check(!serving.isAlive(), "the server does not stop");
    }); }

    static { test("single_active_consumer", (connection, channel) -> {
        String queue = declareQueue(channel, "queue", Map.of("x-single-active-consumer", true));
        BlockingQueue<String> received = new LinkedBlockingQueue<>();
        String first = channel.basicConsume(queue, true, (tag, delivery) ->
            received.add("first " + text(delivery.getBody())), tag -> {});
        channel.basicConsume(queue, true, (tag, delivery) ->
            received.add("second " + text(delivery.getBody())), tag -> {});
        for (String body : List.of("1", "2")) publish(channel, "", queue, body);
        equal("first 1", take(received, "a message arrives"));
        equal("first 2", take(received, "a message arrives"));
        channel.basicCancel(first);
        publish(channel, "", queue, "3");
        equal("second 3", take(received, "a message arrives"));
    }); }
}
