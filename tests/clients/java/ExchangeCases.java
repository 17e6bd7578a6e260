// Exchanges: bindings of every type, alternate exchanges, CC and BCC.

import com.rabbitmq.client.*;
import java.util.*;

final class ExchangeCases extends Peer {
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

    static { test("reserved_name_403", (connection, channel) -> {
        expectClose(403, "contains reserved prefix 'amq.*'",
            () -> channel.exchangeDeclare("amq.clients.java", BuiltinExchangeType.DIRECT));
        checkUsable(connection);
    }); }
}
