<?php
// Queues: refused declarations, exclusive queues and priorities.

declare(strict_types=1);

test('missing_queue_404', function ($connection, $channel) {
    $queue = name_of('missing');
    expect_close(404, "no queue '$queue' in vhost '/'", fn () => $channel->queue_declare($queue, true));
    check_usable($connection);
});

test('inequivalent_argument_406', function ($connection, $channel) {
    $queue = declare_queue($channel, 'queue', ['x-message-ttl' => 60000]);
    expect_close(406, "inequivalent arg 'x-message-ttl' for queue '$queue' in vhost '/'",
        fn () => $channel->queue_declare($queue, false, true, false, false));
    check_usable($connection);
});

test('exclusive_queue_405', function ($connection, $channel) {
    $queue = name_of('exclusive');
    $channel->queue_declare($queue, false, false, true);
    $second = connect();
    expect_close(405, "cannot obtain exclusive access to locked queue '$queue'",
        fn () => $second->channel()->queue_declare($queue, false, false, true));
    $connection->close();
    expect_close(404, 'no queue', fn () => $second->channel()->queue_declare($queue, true));
    $second->close();
});

test('priority_order', function ($_, $channel) {
    $queue = declare_queue($channel, 'queue', ['x-max-priority' => 5]);
    foreach ([1, 5, 3, 5, 0] as $priority) {
        publish($channel, '', $queue, "$priority", ['priority' => $priority]);
    }
    equal(['5', '5', '3', '1', '0'], bodies_in($channel, $queue));
});
