<?php
// Messages: bodies of all sizes, properties and headers.

declare(strict_types=1);

use PhpAmqpLib\Wire\AMQPAbstractCollection;
use PhpAmqpLib\Wire\AMQPDecimal;
use PhpAmqpLib\Wire\AMQPTable;

const BODY_BYTES_MAX = 16 * 1024 * 1024;

test('large_bodies', function ($_, $channel) {
    $queue = declare_queue($channel);
    foreach ([BODY_BYTES_MAX - 7, BODY_BYTES_MAX] as $size) {
        $body = substr(str_repeat('0123456789abcdefg', intdiv($size, 17) + 1), 0, $size);
        publish($channel, '', $queue, $body);
        check(next_message($channel, $queue)->getBody() === $body, "$size bytes changed");
    }
});

test('too_large_body_406', function ($connection, $channel) {
    $queue = declare_queue($channel);
    expect_close(406, 'message size 16777217 is larger than configured max size 16777216',
        fn () => publish($channel, '', $queue, str_repeat('x', BODY_BYTES_MAX + 1)));
    check_usable($connection);
});

test('empty_body', function ($_, $channel) {
    $queue = declare_queue($channel);
    publish($channel, '', $queue, '', ['message_id' => 'empty']);
    $message = next_message($channel, $queue);
    equal(['', 'empty'], [$message->getBody(), $message->get('message_id')]);
});

test('properties_echo', function ($_, $channel) {
    $queue = declare_queue($channel);
    $sent = ['content_type' => 'text/plain', 'content_encoding' => 'utf-8', 'delivery_mode' => 2,
        'priority' => 7, 'correlation_id' => 'c1', 'reply_to' => 'r1', 'expiration' => '600000',
        'message_id' => 'm1', 'timestamp' => 1700000000, 'type' => 'kind', 'user_id' => 'guest',
        'app_id' => 'app', 'cluster_id' => 'cluster'];
    publish($channel, '', $queue, 'x', $sent);
    equal($sent, next_message($channel, $queue)->get_properties());
});

test('header_types_echo', function ($_, $channel) {
    $queue = declare_queue($channel);
    $headers = new AMQPTable(['string' => 'café', 'true' => true, 'false' => false,
        'int32' => -123456, 'int64' => -(2 ** 40), 'void' => null,
        'time' => new DateTime('@1700000000'), 'table' => ['inner' => ['deep' => 1]],
        'array' => [1, 'two', true, null, ['three' => 3], [4]]]);
    $headers->set('int8', -5, AMQPAbstractCollection::T_INT_SHORTSHORT);
    $headers->set('uint8', 200, AMQPAbstractCollection::T_INT_SHORTSHORT_U);
    $headers->set('int16', -3000, AMQPAbstractCollection::T_INT_SHORT);
    $headers->set('uint16', 60000, AMQPAbstractCollection::T_INT_SHORT_U);
    $headers->set('bytes', "\x00\xff\x80", AMQPAbstractCollection::T_BYTES);
    $headers->set('decimal', new AMQPDecimal(314, 2), AMQPAbstractCollection::T_DECIMAL);
    publish($channel, '', $queue, 'x', ['application_headers' => $headers]);
    $sent = $headers->getNativeData();
    $received = headers_of(next_message($channel, $queue));
    ksort($sent);
    ksort($received);
    equal(var_export($sent, true), var_export($received, true));
});
