// Connections: their properties, channels, heartbeats and refused logins.

import com.rabbitmq.client.*;
import java.io.IOException;
import java.util.*;
import java.util.concurrent.*;

final class ConnectionCases extends Peer {
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
}
