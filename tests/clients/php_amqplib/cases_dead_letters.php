<?php
// Dead letters: rejected, expired and over the length limit, with their x-death header.

declare(strict_types=1);

use PhpAmqpLib\Wire\AMQPTable;

test('reject_dead_letters', function ($_, $channel) {
    $dead_letter_exchange = declare_exchange($channel, 'fanout', 'dlx');
    $dead = declare_queue($channel, 'dead');
    $channel->queue_bind($dead, $dead_letter_exchange);
    $exchange = declare_exchange($channel, 'direct');
    $queue = declare_queue($channel, 'queue', ['x-dead-letter-exchange' => $dead_letter_exchange]);
    $channel->queue_bind($queue, $exchange, 'work');
    publish($channel, $exchange, 'work', 'poison',
        ['application_headers' => new AMQPTable(['tenant' => 'blue'])]);
    $channel->basic_get($queue)->reject(false);
    $message = next_message($channel, $dead);
    equal([$dead_letter_exchange, 'work'], [$message->getExchange(), $message->getRoutingKey()]);
    equal(['poison', 'blue'], [$message->getBody(), headers_of($message)['tenant']]);
    check_death($message, $queue, 'rejected', $exchange, ['work']);
});

test('expired_message_dead_letters', function ($_, $channel) {
    $dead = declare_queue($channel, 'dead');
    $queue = declare_queue($channel, 'queue',
        ['x-dead-letter-exchange' => '', 'x-dead-letter-routing-key' => $dead]);
    publish($channel, '', $queue, 'late', ['expiration' => '50']);
    $message = next_message($channel, $dead);
    $death = check_death($message, $queue, 'expired', '', [$queue]);
    equal('50', $death['original-expiration']);
    equal(false, $message->has('expiration'));
});

test('overflow_dead_letters', function ($_, $channel) {
    $dead = declare_queue($channel, 'dead');
    $queue = declare_queue($channel, 'queue', ['x-max-length' => 2,
        'x-dead-letter-exchange' => '', 'x-dead-letter-routing-key' => $dead]);
    foreach (['1', '2', '3'] as $body) {
        publish($channel, '', $queue, $body);
    }
    $message = next_message($channel, $dead);
    equal('1', $message->getBody());
    check_death($message, $queue, 'maxlen', '', [$queue]);
    equal(['2', '3'], bodies_in($channel, $queue));
});
