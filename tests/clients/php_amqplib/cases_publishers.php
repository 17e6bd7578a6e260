<?php
// Publishers: confirms, returns and transactions.

declare(strict_types=1);

use PhpAmqpLib\Message\AMQPMessage;

test('confirms_one_by_one', function ($_, $channel) {
    $queue = declare_queue($channel);
    for ($index = 0; $index < 100; $index++) {
        check(publish($channel, '', $queue, "$index", ['delivery_mode' => 2]), 'nacked');
    }
    equal(array_map('strval', range(0, 99)), bodies_in($channel, $queue));
});

test('confirms_of_a_burst', function ($_, $channel) {
    $queue = declare_queue($channel);
    $count = 5000;
    $acked = 0;
    $channel->confirm_select();
    $channel->set_ack_handler(function () use (&$acked) {
        $acked++;
    });
    for ($index = 0; $index < $count; $index++) {
        $channel->batch_basic_publish(new AMQPMessage("$index", ['delivery_mode' => 2]), '', $queue);
        if ($index % 100 === 99) {
            $channel->publish_batch();
        }
    }
    $channel->wait_for_pending_acks(PATIENCE_SECONDS);
    equal($count, $acked);
    equal($count, ready_count($channel, $queue));
    $received = [];
    $channel->basic_consume($queue, '', false, true, false, false,
        function (AMQPMessage $message) use (&$received) {
            $received[] = (int) $message->getBody();
        });
    wait_until($channel, function () use (&$received, $count) {
        return count($received) === $count;
    }, 'all messages arrive');
    equal(range(0, $count - 1), $received);
});

test('reject_publish_is_nacked', function ($_, $channel) {
    $queue = declare_queue($channel, 'queue', ['x-max-length' => 1, 'x-overflow' => 'reject-publish']);
    equal(true, publish($channel, '', $queue, 'fits'));
    equal(false, publish($channel, '', $queue, 'does not fit'));
    equal(['fits'], bodies_in($channel, $queue));
});

test('mandatory_return', function ($_, $channel) {
    $returned = [];
    $channel->set_return_listener(function (...$arguments) use (&$returned) {
        $returned[] = $arguments;
    });
    publish($channel, 'amq.direct', name_of('nobody'), 'lost', ['message_id' => 'm1']);
    equal(1, count($returned));
    [$code, $text, $exchange, $key, $message] = $returned[0];
    equal([312, 'NO_ROUTE', 'amq.direct', name_of('nobody')], [$code, $text, $exchange, $key]);
    equal(['m1', 'lost'], [$message->get('message_id'), $message->getBody()]);
});

test('transaction_commit', function ($connection, $channel) {
    $queue = declare_queue($channel);
    $channel->tx_select();
    $channel->basic_publish(new AMQPMessage('1'), '', $queue);
    $channel->basic_publish(new AMQPMessage('2'), '', $queue);
    equal(0, ready_count($channel, $queue));
    $channel->tx_commit();
    equal(['1', '2'], bodies_in($connection->channel(), $queue));
});

test('transaction_rollback', function ($connection, $channel) {
    $queue = declare_queue($channel);
    $observer = $connection->channel();
    publish($observer, '', $queue, 'kept');
    $channel->tx_select();
    $channel->basic_publish(new AMQPMessage('discarded'), '', $queue);
    $channel->basic_get($queue)->ack();
    $channel->tx_rollback();
    $channel->close();
    equal(['kept'], bodies_in($observer, $queue));
});
