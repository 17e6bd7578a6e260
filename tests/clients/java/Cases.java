// AMQP 0-9-1 cases, written as users of RabbitMQ's Java client write them.
// Usage: java Cases HOST PORT

import com.rabbitmq.client.*;
import com.rabbitmq.client.impl.LongStringHelper;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;

public final class Cases {
    interface Body {
        void run(Connection connection, Channel channel) throws Exception;
    }

    interface Call {
        void run() throws Exception;
    }

    interface Prepare {
        void run(Channel channel) throws Exception;
    }

    record Case(String name, Body body) {}

    static final int PATIENCE_SECONDS = 10;
    static final int BODY_BYTES_MAX = 16 * 1024 * 1024;
    static final List<Case> CASES = new ArrayList<>();
    static final Deque<String> CREATED_QUEUES = new ArrayDeque<>();
    static final Deque<String> CREATED_EXCHANGES = new ArrayDeque<>();
    static String host;
    static int port;

    static void test(String name, Body body) {
        CASES.add(new Case(name, body));
    }

    static ConnectionFactory factory() {
        ConnectionFactory factory = new ConnectionFactory();
        factory.setHost(host);
        factory.setPort(port);
        factory.setAutomaticRecoveryEnabled(false);
        factory.setChannelRpcTimeout(PATIENCE_SECONDS * 1000);
        return factory;
    }

    static String nameOf(String suffix) {
        return "clients.java." + suffix;
    }

    static String declareQueue(Channel channel, String suffix, Map<String, Object> arguments)
            throws IOException {
        String name = nameOf(suffix);
        CREATED_QUEUES.add(name);
        channel.queueDelete(name); // An earlier run that was cut short may have left it behind.
        channel.queueDeclare(name, true, false, false, arguments);
        return name;
    }

    static String declareQueue(Channel channel) throws IOException {
        return declareQueue(channel, "queue", null);
    }

    static String declareExchange(Channel channel, BuiltinExchangeType type, String suffix,
            Map<String, Object> arguments) throws IOException {
        String name = nameOf(suffix);
        CREATED_EXCHANGES.add(name);
        channel.exchangeDelete(name);
        channel.exchangeDeclare(name, type, true, false, arguments);
        return name;
    }

    static String declareExchange(Channel channel, BuiltinExchangeType type) throws IOException {
        return declareExchange(channel, type, "exchange", null);
    }

    static Map<String, Object> deadLetterTo(String queue) {
        return Map.of("x-dead-letter-exchange", "", "x-dead-letter-routing-key", queue);
    }

    /** Publishes one message and waits for its confirm. */
    static void publish(Channel channel, String exchange, String key, String body,
            AMQP.BasicProperties properties) throws Exception {
        channel.confirmSelect();
        channel.basicPublish(exchange, key, properties, bytes(body));
        check(channel.waitForConfirms(PATIENCE_SECONDS * 1000), "the message was nacked");
    }

    static void publish(Channel channel, String exchange, String key, String body)
            throws Exception {
        publish(channel, exchange, key, body, null);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static String text(byte[] body) {
        return new String(body, StandardCharsets.UTF_8);
    }

    /** Waits for one message through a consumer and acknowledges it. */
    static Delivery nextMessage(Channel channel, String queue) throws Exception {
        BlockingQueue<Delivery> deliveries = new LinkedBlockingQueue<>();
        channel.basicQos(1); // The messages behind it stay in the queue.
        String tag = channel.basicConsume(queue, (consumerTag, delivery) ->
            deliveries.add(delivery), consumerTag -> {});
        Delivery delivery = take(deliveries, "a message arrives in " + queue);
        channel.basicCancel(tag);
        channel.basicAck(delivery.getEnvelope().getDeliveryTag(), false);
        return delivery;
    }

    static <T> T take(BlockingQueue<T> from, String what) throws InterruptedException {
        T item = from.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        check(item != null, "waited in vain until " + what);
        return item;
    }

    static List<String> bodiesIn(Channel channel, String queue) throws IOException {
        List<String> found = new ArrayList<>();
        for (GetResponse got; (got = channel.basicGet(queue, true)) != null;) {
            found.add(text(got.getBody()));
        }
        return found;
    }

    static void check(boolean condition, String otherwise) {
        if (!condition) throw new AssertionError(otherwise);
    }

    static void equal(Object expected, Object actual) {
        check(Objects.equals(expected, actual), "expected " + expected + ", got " + actual);
    }

    /** The call makes the broker close the channel with this code; the connection survives. */
    static void expectClose(int code, String text, Call call) throws Exception {
        ShutdownSignalException signal;
        try {
            call.run();
            throw new AssertionError("no channel close " + code);
        } catch (ShutdownSignalException error) {
            signal = error;
        } catch (IOException error) {
            signal = (ShutdownSignalException) error.getCause();
        }
        AMQP.Channel.Close close = (AMQP.Channel.Close) signal.getReason();
        equal(code, close.getReplyCode());
        check(close.getReplyText().contains(text), "reply text was " + close.getReplyText());
    }

    static void checkUsable(Connection connection) throws Exception {
        Channel channel = connection.createChannel();
        String queue = channel.queueDeclare().getQueue();
        check(queue.startsWith("amq.gen-"), queue);
        publish(channel, "", queue, "still alive");
        equal(List.of("still alive"), bodiesIn(channel, queue));
        channel.close();
    }

    static Map<?, ?> checkDeath(Delivery delivery, String queue, String reason, String exchange,
            List<String> routingKeys) {
        Map<String, Object> headers = delivery.getProperties().getHeaders();
        List<?> deaths = (List<?>) headers.get("x-death");
        equal(1, deaths.size());
        Map<?, ?> death = (Map<?, ?>) deaths.get(0);
        equal(queue, death.get("queue").toString());
        equal(reason, death.get("reason").toString());
        equal(exchange, death.get("exchange").toString());
        equal(1L, death.get("count"));
        equal(routingKeys, ((List<?>) death.get("routing-keys")).stream().map(Object::toString)
            .collect(Collectors.toList()));
        long age = System.currentTimeMillis() - ((Date) death.get("time")).getTime();
        check(Math.abs(age) < 60_000, "died " + age + " ms ago");
        equal(queue, headers.get("x-first-death-queue").toString());
        equal(reason, headers.get("x-first-death-reason").toString());
        equal(exchange, headers.get("x-first-death-exchange").toString());
        return death;
    }

    static { test("connection_properties", (connection, channel) -> {
        Map<String, Object> properties = connection.getServerProperties();
        check(properties.get("product").toString().equals("RabbitMQ"), "product");
        check(properties.get("version").toString().matches("\\d+\\.\\d+\\.\\d+.*"),
            "version " + properties.get("version"));
        Map<?, ?> capabilities = (Map<?, ?>) properties.get("capabilities");
        for (String capability : List.of("publisher_confirms", "basic.nack", "connection.blocked",
                "exchange_exchange_bindings", "consumer_cancel_notify", "consumer_priorities",
                "authentication_failure_close", "per_consumer_qos", "direct_reply_to")) {
            equal(true, capabilities.get(capability));
        }
        equal(131072, connection.getFrameMax());
        equal(2047, connection.getChannelMax());
    }); }

    static { test("bind_direct", (connection, channel) -> {
        String exchange = declareExchange(channel, BuiltinExchangeType.DIRECT);
        String queue = declareQueue(channel);
        channel.queueBind(queue, exchange, "wanted");
        publish(channel, exchange, "other", "1");
        publish(channel, exchange, "wanted", "2");
        Delivery delivery = nextMessage(channel, queue);
        equal("2", text(delivery.getBody()));
        equal(exchange, delivery.getEnvelope().getExchange());
        equal("wanted", delivery.getEnvelope().getRoutingKey());
    }); }

    static { test("bind_topic", (connection, channel) -> {
        String exchange = declareExchange(channel, BuiltinExchangeType.TOPIC);
        String oneWord = declareQueue(channel, "one_word", null);
        String anyWords = declareQueue(channel, "any_words", null);
        channel.queueBind(oneWord, exchange, "order.*.paid");
        channel.queueBind(anyWords, exchange, "order.#");
        for (String key : List.of("order.eu.paid", "order.eu.north.paid", "order", "invoice.eu")) {
            publish(channel, exchange, key, key);
        }
        equal(List.of("order.eu.paid"), bodiesIn(channel, oneWord));
        equal(List.of("order.eu.paid", "order.eu.north.paid", "order"),
            bodiesIn(channel, anyWords));
    }); }

    static { test("bind_fanout", (connection, channel) -> {
        String exchange = declareExchange(channel, BuiltinExchangeType.FANOUT);
        List<String> suffixes = List.of("copy_1", "copy_2", "copy_3");
        for (String suffix : suffixes) {
            channel.queueBind(declareQueue(channel, suffix, null), exchange, "");
        }
        publish(channel, exchange, "ignored", "news");
        for (String suffix : suffixes) {
            equal(List.of("news"), bodiesIn(channel, nameOf(suffix)));
        }
    }); }

    static { test("bind_headers", (connection, channel) -> {
        String exchange = declareExchange(channel, BuiltinExchangeType.HEADERS);
        String both = declareQueue(channel, "both", null);
        String either = declareQueue(channel, "either", null);
        channel.queueBind(both, exchange, "", Map.of("x-match", "all", "kind", "pdf", "pages", 2));
        channel.queueBind(either, exchange, "",
            Map.of("x-match", "any", "kind", "pdf", "pages", 2));
        List<Map<String, Object>> sent = List.of(Map.of("kind", "pdf", "pages", 2L),
            Map.of("kind", "pdf"), Map.of("kind", "txt"));
        for (int index = 0; index < sent.size(); index++) {
            publish(channel, exchange, "", "" + index,
                new AMQP.BasicProperties.Builder().headers(sent.get(index)).build());
        }
        equal(List.of("0"), bodiesIn(channel, both));
        equal(List.of("0", "1"), bodiesIn(channel, either));
    }); }

    static { test("bind_exchange_to_exchange", (connection, channel) -> {
        String source = declareExchange(channel, BuiltinExchangeType.TOPIC, "source", null);
        String target = declareExchange(channel, BuiltinExchangeType.FANOUT, "target", null);
        String queue = declareQueue(channel);
        channel.exchangeBind(target, source, "a.#");
        channel.queueBind(queue, target, "");
        publish(channel, source, "a.b", "through");
        channel.exchangeUnbind(target, source, "a.#");
        publish(channel, source, "a.b", "cut off");
        equal(List.of("through"), bodiesIn(channel, queue));
    }); }

    static { test("alternate_exchange", (connection, channel) -> {
        String fallback = declareExchange(channel, BuiltinExchangeType.FANOUT, "fallback", null);
        String exchange = declareExchange(channel, BuiltinExchangeType.DIRECT, "exchange",
            Map.of("alternate-exchange", fallback));
        String queue = declareQueue(channel);
        channel.queueBind(queue, fallback, "");
        publish(channel, exchange, "nobody", "stray");
        equal(List.of("stray"), bodiesIn(channel, queue));
    }); }

    static { test("cc_and_bcc", (connection, channel) -> {
        String to = declareQueue(channel, "to", null);
        String copy = declareQueue(channel, "cc", null);
        String blind = declareQueue(channel, "bcc", null);
        publish(channel, "", to, "memo", new AMQP.BasicProperties.Builder().headers(
            Map.of("CC", List.of(copy), "BCC", List.of(blind))).build());
        for (String queue : List.of(to, copy, blind)) {
            GetResponse got = channel.basicGet(queue, true);
            equal(to, got.getEnvelope().getRoutingKey());
            equal("{CC=[" + copy + "]}", got.getProps().getHeaders().toString());
        }
    }); }

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
            // The queue has given out all it may: the rest must still lie there.
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

    /** Publishes line by line, as a producer that reads its terminal would, and hangs up. */
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

    /** A queue bound to a topic exchange, and a second pair of them that takes its dead letters. */
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

    /** Takes without acknowledgement what arrives in the queue of the dead. */
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

    // The three examples of a tutorial about dead letters: what a consumer rejects, what nobody
    // takes for five seconds, what is more than five messages.

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

    static { test("missing_queue_404", (connection, channel) -> {
        String queue = nameOf("missing");
        expectClose(404, "no queue '" + queue + "' in vhost '/'",
            () -> channel.queueDeclarePassive(queue));
        check(!channel.isOpen(), "the channel must be closed");
        checkUsable(connection);
    }); }

    static { test("inequivalent_argument_406", (connection, channel) -> {
        String queue = declareQueue(channel);
        expectClose(406, "inequivalent arg 'durable' for queue '" + queue + "' in vhost '/'",
            () -> channel.queueDeclare(queue, false, false, false, null));
        checkUsable(connection);
    }); }

    static { test("reserved_name_403", (connection, channel) -> {
        expectClose(403, "contains reserved prefix 'amq.*'",
            () -> channel.exchangeDeclare("amq.clients.java", BuiltinExchangeType.DIRECT));
        checkUsable(connection);
    }); }

    static { test("unknown_delivery_tag_406", (connection, channel) -> {
        channel.basicAck(77, false);
        expectClose(406, "unknown delivery tag 77", () -> channel.queueDeclare());
        checkUsable(connection);
    }); }

    static { test("exclusive_queue_405", (connection, channel) -> {
        String queue = nameOf("exclusive");
        channel.queueDeclare(queue, false, true, false, null);
        try (Connection second = factory().newConnection()) {
            expectClose(405, "cannot obtain exclusive access to locked queue '" + queue + "'",
                () -> second.createChannel().queueDeclare(queue, false, true, false, null));
            connection.close();
            expectClose(404, "no queue", () -> second.createChannel().queueDeclarePassive(queue));
        }
    }); }

    static { test("large_bodies", (connection, channel) -> {
        String queue = declareQueue(channel);
        channel.confirmSelect();
        for (int size : new int[] {BODY_BYTES_MAX - 7, BODY_BYTES_MAX}) {
            byte[] body = new byte[size];
            new Random(size).nextBytes(body);
            channel.basicPublish("", queue, null, body);
            channel.waitForConfirmsOrDie(PATIENCE_SECONDS * 1000);
            check(Arrays.equals(body, nextMessage(channel, queue).getBody()), size + " changed");
        }
    }); }

    static { test("too_large_body_406", (connection, channel) -> {
        String queue = declareQueue(channel);
        BlockingQueue<ShutdownSignalException> signals = new LinkedBlockingQueue<>();
        channel.addShutdownListener(signals::add);
        try {
            channel.basicPublish("", queue, null, new byte[BODY_BYTES_MAX + 1]);
        } catch (AlreadyClosedException error) {
            // The broker may refuse the message while it is still being written.
        }
        expectClose(406, "message size 16777217 is larger than configured max size 16777216",
            () -> { throw take(signals, "the channel is closed"); });
        checkUsable(connection);
    }); }

    static { test("empty_body", (connection, channel) -> {
        String queue = declareQueue(channel);
        publish(channel, "", queue, "",
            new AMQP.BasicProperties.Builder().messageId("empty").build());
        Delivery delivery = nextMessage(channel, queue);
        equal(0, delivery.getBody().length);
        equal("empty", delivery.getProperties().getMessageId());
    }); }

    static { test("properties_echo", (connection, channel) -> {
        String queue = declareQueue(channel);
        AMQP.BasicProperties sent = new AMQP.BasicProperties("text/plain", "utf-8",
            Map.of("a", 1), 2, 7, "c1", "r1", "600000", "m1", new Date(1700000000000L), "kind",
            "guest", "app", "cluster");
        publish(channel, "", queue, "x", sent);
        equal(sent.toString(), nextMessage(channel, queue).getProperties().toString());
    }); }

    static { test("header_types_echo", (connection, channel) -> {
        String queue = declareQueue(channel);
        LongString string = LongStringHelper.asLongString("café");
        Map<String, Object> sent = new HashMap<>();
        sent.put("string", string);
        sent.put("true", true);
        sent.put("int8", (byte) -5);
        sent.put("int16", (short) -3000);
        sent.put("int32", -123456);
        sent.put("int64", -(1L << 40));
        sent.put("float", 0.5f);
        sent.put("double", 0.125);
        sent.put("decimal", new BigDecimal("3.14"));
        sent.put("timestamp", new Date(1700000000000L));
        sent.put("void", null);
        sent.put("table", Map.of("inner", Map.of("deep", 1)));
        sent.put("array", Arrays.asList(1, string, true, null, Map.of("three", 3), List.of(4L)));
        byte[] binary = {0, -1, -128};
        Map<String, Object> headers = new HashMap<>(sent);
        headers.put("bytes", binary);
        publish(channel, "", queue, "x",
            new AMQP.BasicProperties.Builder().headers(headers).build());
        Map<String, Object> received =
            new HashMap<>(nextMessage(channel, queue).getProperties().getHeaders());
        check(Arrays.equals(binary, (byte[]) received.remove("bytes")), "the bytes changed");
        equal(sent, received);
    }); }

    static { test("many_channels", (connection, channel) -> {
        String queue = declareQueue(channel);
        List<Channel> channels = new ArrayList<>();
        for (int index = 0; index < 200; index++) channels.add(connection.createChannel());
        for (int index = 0; index < 200; index++) {
            publish(channels.get(index), "", queue, "" + index);
        }
        for (int index = 0; index < 200; index++) {
            equal("" + index, text(channels.get(index).basicGet(queue, true).getBody()));
        }
        for (Channel each : channels) each.close();
    }); }

    static { test("heartbeat_keeps_idle_connection", (ignored, unused) -> {
        ConnectionFactory factory = factory();
        factory.setRequestedHeartbeat(1);
        try (Connection connection = factory.newConnection()) {
            equal(1, connection.getHeartbeat());
            CountDownLatch lost = new CountDownLatch(1);
            connection.addShutdownListener(signal -> lost.countDown());
            check(!lost.await(3500, TimeUnit.MILLISECONDS), "the idle connection was lost");
            checkUsable(connection);
        }
    }); }

    static { test("non_blocking_io", (ignored, unused) -> {
        ConnectionFactory factory = factory();
        factory.useNio();
        try (Connection connection = factory.newConnection("clients.java.nio")) {
            checkUsable(connection);
        }
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
        // RpcClient uses the pseudo queue amq.rabbitmq.reply-to unless told otherwise.
        RpcClient client = new RpcClient(channel, "", queue, PATIENCE_SECONDS * 1000);
        equal("1 pong", client.stringCall("1"));
        equal("2 pong", client.stringCall("2"));
        client.close();
        server.getChannel().close(); // This also ends the server's main loop.
        serving.join(PATIENCE_SECONDS * 1000);
        check(!serving.isAlive(), "the server does not stop");
    }); }

    static { test("wrong_password_403", (ignored, unused) -> {
        ConnectionFactory factory = factory();
        factory.setPassword("wrong");
        try {
            factory.newConnection();
            throw new AssertionError("the broker let us in");
        } catch (AuthenticationFailureException error) {
            check(error.getMessage().contains("ACCESS_REFUSED - Login was refused using "
                + "authentication mechanism PLAIN"), error.getMessage());
        }
    }); }

    static { test("unknown_vhost_530", (ignored, unused) -> {
        ConnectionFactory factory = factory();
        factory.setVirtualHost("no-such-vhost");
        try {
            factory.newConnection();
            throw new AssertionError("the broker opened a vhost that does not exist");
        } catch (IOException error) {
            check(error.getCause().getMessage().contains("vhost no-such-vhost not found"),
                error.getCause().getMessage());
        }
    }); }

    static { test("priority_order", (connection, channel) -> {
        String queue = declareQueue(channel, "queue", Map.of("x-max-priority", 5));
        for (int priority : new int[] {1, 5, 3, 5, 0}) {
            publish(channel, "", queue, "" + priority,
                new AMQP.BasicProperties.Builder().priority(priority).build());
        }
        equal(List.of("5", "5", "3", "1", "0"), bodiesIn(channel, queue));
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

    static void cleanUp() throws Exception {
        try (Connection connection = factory().newConnection()) {
            Channel channel = connection.createChannel();
            while (!CREATED_QUEUES.isEmpty()) channel.queueDelete(CREATED_QUEUES.remove());
            while (!CREATED_EXCHANGES.isEmpty()) channel.exchangeDelete(CREATED_EXCHANGES.remove());
        }
    }

    static boolean run(Case test) throws Exception {
        Connection connection = factory().newConnection();
        try {
            test.body().run(connection, connection.createChannel());
            System.out.println("ok " + test.name());
            return true;
        } catch (Throwable error) {
            error.printStackTrace();
            System.out.println("not ok " + test.name() + ": " + error);
            return false;
        } finally {
            connection.abort();
            cleanUp();
        }
    }

    public static void main(String[] arguments) throws Exception {
        host = arguments[0];
        port = Integer.parseInt(arguments[1]);
        System.out.println("1.." + CASES.size());
        boolean passed = true;
        for (Case test : CASES) passed &= run(test);
        System.exit(passed ? 0 : 1);
    }
}
