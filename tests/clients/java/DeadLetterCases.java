// Dead letters: rejected, expired and over the length limit, with their x-death header.

import com.rabbitmq.client.*;
import java.io.IOException;
import java.util.*;
import java.util.concurrent.*;

final class DeadLetterCases extends Peer {
    interface Prepare {
        void run(Channel channel) throws Exception;
    }

    static Map<String, Object> deadLetterTo(String queue) {
        return Map.of("x-dead-letter-exchange", "", "x-dead-letter-routing-key", queue);
    }

    static { test("reject_dead_letters", (connection, channel) -> {
        String exchangeOfDead = declareExchange(channel, BuiltinExchangeType.FANOUT, "dlx", null);
        String dead = declareQueue(channel, "dead", null);
        channel.queueBind(dead, exchangeOfDead, "");
        String exchange = declareExchange(channel, BuiltinExchangeType.DIRECT);
        String queue = declareQueue(channel, "queue",
            Map.of("x-dead-letter-exchange", exchangeOfDead));
        channel.queueBind(queue, exchange, "work");
        publish(channel, exchange, "work", "poison",
            new AMQP.BasicProperties.Builder().headers(Map.of("tenant", "blue")).build());
        channel.basicReject(
            channel.basicGet(queue, false).getEnvelope().getDeliveryTag(), false);
        Delivery delivery = nextMessage(channel, dead);
        equal("poison", text(delivery.getBody()));
        equal(exchangeOfDead, delivery.getEnvelope().getExchange());
        equal("work", delivery.getEnvelope().getRoutingKey());
        equal("blue", delivery.getProperties().getHeaders().get("tenant").toString());
        checkDeath(delivery, queue, "rejected", exchange, List.of("work"));
    }); }

    static { test("expired_message_dead_letters", (connection, channel) -> {
        String dead = declareQueue(channel, "dead", null);
        String queue = declareQueue(channel, "queue", deadLetterTo(dead));
        publish(channel, "", queue, "late",
            new AMQP.BasicProperties.Builder().expiration("50").build());
        Delivery delivery = nextMessage(channel, dead);
        Map<?, ?> death = checkDeath(delivery, queue, "expired", "", List.of(queue));
        equal("50", death.get("original-expiration").toString());
        equal(null, delivery.getProperties().getExpiration());
    }); }

    static { test("overflow_dead_letters", (connection, channel) -> {
        String dead = declareQueue(channel, "dead", null);
        Map<String, Object> arguments = new HashMap<>(deadLetterTo(dead));
        arguments.put("x-max-length", 2);
        String queue = declareQueue(channel, "queue", arguments);
        for (String body : List.of("1", "2", "3")) publish(channel, "", queue, body);
        Delivery delivery = nextMessage(channel, dead);
        equal("1", text(delivery.getBody()));
        checkDeath(delivery, queue, "maxlen", "", List.of(queue));
        equal(List.of("2", "3"), bodiesIn(channel, queue));
    }); }

    /** Publishes line by line, like a producer that reads from a terminal, and disconnects. */
    static void produce(String exchange, String key, List<String> lines, Prepare prepare)
            throws Exception {
        try (Connection connection = factory().newConnection()) {
            Channel channel = connection.createChannel();
            prepare.run(channel);
            for (String line : lines) channel.basicPublish(exchange, key, null, bytes(line));
            channel.close();
        }
    }

    static String transientExchange(Channel channel, String suffix) throws IOException {
        String name = nameOf(suffix);
        CREATED_EXCHANGES.add(name);
        channel.exchangeDeclare(name, BuiltinExchangeType.TOPIC);
        return name;
    }

    static String transientQueue(Channel channel, String suffix, Map<String, Object> arguments)
            throws IOException {
        String name = nameOf(suffix);
        CREATED_QUEUES.add(name);
        channel.queueDeclare(name, false, false, false, arguments);
        return name;
    }

    /** A queue bound to a topic exchange, and a second pair for its dead letters. */
    static void declareWithGrave(Channel channel, String prefix, Map<String, Object> limit)
            throws IOException {
        String graveExchange = transientExchange(channel, prefix + "dl.exchange.test");
        Map<String, Object> arguments = new HashMap<>(limit);
        arguments.put("x-dead-letter-exchange", graveExchange);
        arguments.put("x-dead-letter-routing-key", prefix + "dl.routing.key");
        String grave = transientQueue(channel, prefix + "dl.queue.test", null);
        channel.queueBind(grave, graveExchange, "#." + prefix + "dl.routing.key");
        String queue = transientQueue(channel, prefix + "queue.test", arguments);
        String exchange = transientExchange(channel, prefix + "exchange.test");
        channel.queueBind(queue, exchange, "#." + prefix + "routing.key");
    }

    /** Consumes the dead-letter queue without acknowledgements. */
    static BlockingQueue<Delivery> mourn(Channel channel, String grave) throws IOException {
        BlockingQueue<Delivery> letters = new LinkedBlockingQueue<>();
        channel.basicConsume(nameOf(grave), true, (tag, letter) -> letters.add(letter), tag -> {});
        return letters;
    }

    static void checkLetter(Delivery letter, String body, String prefix, String queue,
            String reason, String exchange, String key) {
        equal(body, text(letter.getBody()));
        equal(nameOf(prefix + "dl.exchange.test"), letter.getEnvelope().getExchange());
        equal(prefix + "dl.routing.key", letter.getEnvelope().getRoutingKey());
        Map<?, ?> death =
            checkDeath(letter, nameOf(queue), reason, nameOf(exchange), List.of(key));
        check(!death.containsKey("original-expiration"), "no message had an expiration");
    }

    // The three examples of a tutorial about dead letters: rejected messages, messages that are not
    // consumed for five seconds, and messages beyond a length limit of five.

    static { test("tutorial_rejected_message_dead_letters", (connection, channel) -> {
        List<String> lines = List.of("one", "two", "three");
        produce(null, null, List.of(),
            producer -> transientExchange(producer, "normal.exchange.test"));
        String graveExchange = transientExchange(channel, "dl.exchange.test");
        Map<String, Object> arguments = new HashMap<>();
        arguments.put("x-dead-letter-exchange", graveExchange);
        arguments.put("x-dead-letter-routing-key", "dl.routing.key");
        String grave = transientQueue(channel, "dl.queue.test", null);
        channel.queueBind(grave, graveExchange, "#.dl.routing.key");
        String queue = transientQueue(channel, "normal.queue.test", arguments);
        channel.queueBind(queue, nameOf("normal.exchange.test"), "*.normal.routing.key");
        channel.basicConsume(queue, false, (tag, delivery) ->
            channel.basicReject(delivery.getEnvelope().getDeliveryTag(), false), tag -> {});
        try (Connection second = factory().newConnection()) {
            BlockingQueue<Delivery> letters = mourn(second.createChannel(), "dl.queue.test");
            produce(nameOf("normal.exchange.test"), "prefix.normal.routing.key", lines,
                producer -> transientExchange(producer, "normal.exchange.test"));
            for (String line : lines) {
                checkLetter(take(letters, "the rejected arrive"), line, "", "normal.queue.test",
                    "rejected", "normal.exchange.test", "prefix.normal.routing.key");
            }
        }
    }); }

    static { test("tutorial_expired_message_dead_letters", (connection, channel) -> {
        List<String> lines = List.of("one", "two");
        produce(nameOf("msg.ttl.exchange.test"), "msg.ttl.routing.key", lines,
            producer -> declareWithGrave(producer, "msg.ttl.", Map.of("x-message-ttl", 5000)));
        BlockingQueue<Delivery> letters =
            mourn(connection.createChannel(), "msg.ttl.dl.queue.test");
        for (String line : lines) {
            checkLetter(take(letters, "the expired arrive"), line, "msg.ttl.",
                "msg.ttl.queue.test", "expired", "msg.ttl.exchange.test", "msg.ttl.routing.key");
        }
        equal(0L, channel.messageCount(nameOf("msg.ttl.queue.test")));
    }); }

    static { test("tutorial_message_over_length_dead_letters", (connection, channel) -> {
        List<String> lines = List.of("1", "2", "3", "4", "5", "6", "7", "8");
        produce(nameOf("length.limit.exchange.test"), "length.limit.routing.key", lines,
            producer -> declareWithGrave(producer, "length.limit.", Map.of("x-max-length", 5)));
        BlockingQueue<Delivery> letters =
            mourn(connection.createChannel(), "length.limit.dl.queue.test");
        for (String line : lines.subList(0, 3)) {
            checkLetter(take(letters, "the oldest arrive"), line, "length.limit.",
                "length.limit.queue.test", "maxlen", "length.limit.exchange.test",
                "length.limit.routing.key");
        }
        equal(lines.subList(3, 8), bodiesIn(channel, nameOf("length.limit.queue.test")));
        equal(0, letters.size());
    }); }
}
