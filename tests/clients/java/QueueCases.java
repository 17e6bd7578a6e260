// Queues: refused declarations, exclusive queues and priorities.

import com.rabbitmq.client.*;
import java.util.*;

final class QueueCases extends Peer {
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

    static { test("priority_order", (connection, channel) -> {
        String queue = declareQueue(channel, "queue", Map.of("x-max-priority", 5));
        for (int priority : new int[] {1, 5, 3, 5, 0}) {
            publish(channel, "", queue, "" + priority,
                new AMQP.BasicProperties.Builder().priority(priority).build());
        }
        equal(List.of("5", "5", "3", "1", "0"), bodiesIn(channel, queue));
    }); }
}
