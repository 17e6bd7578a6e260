// The client of the cases: connections, declarations, messages and expected closes.

import com.rabbitmq.client.*;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;

abstract class Peer {
    interface Body {
        void run(Connection connection, Channel channel) throws Exception;
    }

    interface Call {
        void run() throws Exception;
    }

    record Case(String name, Body body) {}

    static final int PATIENCE_SECONDS = 10;
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
        channel.queueDelete(name); // An interrupted run may have left it.
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
        channel.basicQos(1); // The following messages stay in the queue.
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
}
