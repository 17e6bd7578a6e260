<?php
// Exchanges: bindings of every type, alternate exchanges, CC and BCC.

declare(strict_types=1);

use PhpAmqpLib\Wire\AMQPTable;

test('bind_direct', function ($_, $channel) {
    $exchange = declare_exchange($channel, 'direct');
    $queue = declare_queue($channel);
    $channel->queue_bind($queue, $exchange, 'wanted');
    publish($channel, $exchange, 'other', '1');
    publish($channel, $exchange, 'wanted', '2');
    $message = next_message($channel, $queue);
    equal([$exchange, 'wanted', '2'],
        [$message->getExchange(), $message->getRoutingKey(), $message->getBody()]);
});

test('bind_topic', function ($_, $channel) {
    $exchange = declare_exchange($channel, 'topic');
    $one_word = declare_queue($channel, 'one_word');
    $any_words = declare_queue($channel, 'any_words');
    $channel->queue_bind($one_word, $exchange, 'order.*.paid');
    $channel->queue_bind($any_words, $exchange, 'order.#');
    foreach (['order.eu.paid', 'order.eu.north.paid', 'order', 'invoice.eu.paid'] as $key) {
        publish($channel, $exchange, $key, $key);
    }
    equal(['order.eu.paid'], bodies_in($channel, $one_word));
    equal(['order.eu.paid', 'order.eu.north.paid', 'order'], bodies_in($channel, $any_words));
});

test('bind_fanout', function ($_, $channel) {
    $exchange = declare_exchange($channel, 'fanout');
    $suffixes = ['copy_1', 'copy_2', 'copy_3'];
    foreach ($suffixes as $suffix) {
        $channel->queue_bind(declare_queue($channel, $suffix), $exchange);
    }
    publish($channel, $exchange, 'ignored', 'news');
    foreach ($suffixes as $suffix) {
        equal(['news'], bodies_in($channel, name_of($suffix)));
    }
});

test('bind_headers', function ($_, $channel) {
    $exchange = declare_exchange($channel, 'headers');
    $both = declare_queue($channel, 'both');
    $either = declare_queue($channel, 'either');
    foreach (['all' => $both, 'any' => $either] as $match => $queue) {
        $channel->queue_bind($queue, $exchange, '', false,
            new AMQPTable(['x-match' => $match, 'kind' => 'pdf', 'pages' => 2]));
    }
    foreach ([['kind' => 'pdf', 'pages' => 2], ['kind' => 'pdf'], ['kind' => 'txt']] as $i => $headers) {
        publish($channel, $exchange, '', "$i", ['application_headers' => new AMQPTable($headers)]);
    }
    equal(['0'], bodies_in($channel, $both));
    equal(['0', '1'], bodies_in($channel, $either));
});

test('bind_exchange_to_exchange', function ($_, $channel) {
    $source = declare_exchange($channel, 'topic', 'source');
    $destination = declare_exchange($channel, 'fanout', 'destination');
    $queue = declare_queue($channel);
    $channel->exchange_bind($destination, $source, 'a.#');
    $channel->queue_bind($queue, $destination);
    publish($channel, $source, 'a.b', 'through');
    $channel->exchange_unbind($destination, $source, 'a.#');
    publish($channel, $source, 'a.b', 'cut off');
    equal(['through'], bodies_in($channel, $queue));
});

test('alternate_exchange', function ($_, $channel) {
    $fallback = declare_exchange($channel, 'fanout', 'fallback');
    $exchange = declare_exchange($channel, 'direct', 'exchange', ['alternate-exchange' => $fallback]);
    $queue = declare_queue($channel);
    $channel->queue_bind($queue, $fallback);
    publish($channel, $exchange, 'nobody', 'stray');
    equal(['stray'], bodies_in($channel, $queue));
});

test('cc_and_bcc', function ($_, $channel) {
    $to = declare_queue($channel, 'to');
    $copy = declare_queue($channel, 'cc');
    $blind = declare_queue($channel, 'bcc');
    publish($channel, '', $to, 'memo',
        ['application_headers' => new AMQPTable(['CC' => [$copy], 'BCC' => [$blind]])]);
    foreach ([$to, $copy, $blind] as $queue) {
        $message = $channel->basic_get($queue, true);
        equal([$to, ['CC' => [$copy]]], [$message->getRoutingKey(), headers_of($message)]);
    }
});

test('reserved_name_403', function ($connection, $channel) {
    expect_close(403, "contains reserved prefix 'amq.*'",
        fn () => $channel->exchange_declare('amq.clients.php_amqplib', 'direct'));
    check_usable($connection);
});
