// AMQP 0-9-1 cases, written as users of RabbitMQ's Java client write them.
// Usage: java Cases HOST PORT

import java.lang.invoke.MethodHandles;
import java.util.*;

public final class Cases extends Peer {
    // Each of them adds its cases to the list when it is initialized.
    static final List<Class<?>> GROUPS = List.of(ConnectionCases.class, ExchangeCases.class,
        QueueCases.class, PublisherCases.class, MessageCases.class, ConsumerCases.class,
        DeadLetterCases.class);

    public static void main(String[] arguments) throws Exception {
        host = arguments[0];
        port = Integer.parseInt(arguments[1]);
        for (Class<?> group : GROUPS) MethodHandles.lookup().ensureInitialized(group);
        System.out.println("1.." + CASES.size());
        boolean passed = true;
        for (Case test : CASES) passed &= run(test);
        System.exit(passed ? 0 : 1);
    }
}
