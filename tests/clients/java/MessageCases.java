// Messages: bodies of all sizes, properties and headers.

import com.rabbitmq.client.*;
import com.rabbitmq.client.impl.LongStringHelper;
import java.math.BigDecimal;
import java.util.*;
import java.util.concurrent.*;

final class MessageCases extends Peer {
    static final int BODY_BYTES_MAX = 16 * 1024 * 1024;

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
}
