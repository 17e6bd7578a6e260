<?php
// Consumers: prefetch, get, requeueing, cancellation and direct reply-to.

declare(strict_types=1);

use PhpAmqpLib\Exception\AMQPBasicCancelException;
use PhpAmqpLib\Message\AMQPMessage;

test('consume_with_prefetch', function ($connection, $channel) {
    $queue = declare_queue($channel);
    $count = 20;
    $prefetch = 3;
    for ($index = 0; $index < $count; $index++) {
        publish($channel, '', $queue, "$index");
    }
    $consumer = $connection->channel();
    $consumer->basic_qos(0, $prefetch, false);
    $received = [];
    $consumer->basic_consume($queue, '', false, false, false, false,
        function (AMQPMessage $message) use (&$received) {
            $received[] = $message;
        });
    $acked = 0;
    while (count($received) < $count) {
        $expected = min($count, $acked + $prefetch);
        wait_until($consumer, function () use (&$received, $expected) {
            return count($received) >= $expected;
        }, 'the window is full');
        // The prefetch limit is reached, so the other messages must still be in the queue.
        equal($count - $expected, ready_count($channel, $queue));
        equal($expected, count($received));
        $received[$acked++]->ack();
    }
    $received[$count - 1]->ack(true);
    equal(array_map('strval', range(0, $count - 1)),
        array_map(fn (AMQPMessage $message) => $message->getBody(), $received));
});

test('get_and_empty_get', function ($_, $channel) {
    $queue = declare_queue($channel);
    equal(null, $channel->basic_get($queue));
    publish($channel, '', $queue, 'first');
    publish($channel, '', $queue, 'second');
    $message = $channel->basic_get($queue);
    equal(['first', 1, false],
        [$message->getBody(), $message->getMessageCount(), $message->isRedelivered()]);
    $message->ack();
    equal(['second'], bodies_in($channel, $queue));
});

test('nack_requeues', function ($_, $channel) {
    $queue = declare_queue($channel);
    publish($channel, '', $queue, 'again');
    $message = $channel->basic_get($queue);
    equal(false, $message->isRedelivered());
    $message->nack(true);
    $message = next_message($channel, $queue);
    equal([true, 'again'], [$message->isRedelivered(), $message->getBody()]);
});

test('recover_requeues', function ($_, $channel) {
    $queue = declare_queue($channel);
    publish($channel, '', $queue, 'again');
    $channel->basic_get($queue);
    $channel->basic_recover(true);
    equal(true, next_message($channel, $queue)->isRedelivered());
});

test('client_cancels_consumer', function ($_, $channel) {
    $queue = declare_queue($channel);
    $tag = $channel->basic_consume($queue, '', false, false, false, false, fn () => null);
    equal(1, $channel->queue_declare($queue, true)[2]);
    $channel->basic_cancel($tag);
    equal(0, $channel->queue_declare($queue, true)[2]);
    equal(false, $channel->is_consuming());
});

test('broker_cancels_consumer', function ($connection, $channel) {
    $queue = declare_queue($channel);
    $channel->basic_consume($queue, 'doomed', false, false, false, false, fn () => null);
    $connection->channel()->queue_delete($queue);
    try {
        wait_until($channel, fn () => false, 'the consumer is cancelled');
    } catch (AMQPBasicCancelException $error) {
        equal('doomed', $error->consumerTag);
        check_usable($connection);
    }
});

test('direct_reply_to', function ($connection, $channel) {
    $queue = declare_queue($channel);
    $requester = $connection->channel();
    $reply = null;
    $requester->basic_consume('amq.rabbitmq.reply-to', '', false, true, false, false,
        function (AMQPMessage $message) use (&$reply) {
            $reply = $message;
        });
    $requester->basic_publish(new AMQPMessage('ping',
        ['reply_to' => 'amq.rabbitmq.reply-to', 'correlation_id' => 'call-1']), '', $queue);
    $request = next_message($channel, $queue);
    $channel->basic_publish(new AMQPMessage($request->getBody() . ' pong',
        ['correlation_id' => $request->get('correlation_id')]), '', $request->get('reply_to'));
    wait_until($requester, function () use (&$reply) {
        return $reply !== null;
    }, 'the reply arrives');
    equal(['ping pong', 'call-1'], [$reply->getBody(), $reply->get('correlation_id')]);
});
