<?php
// Connections: their properties, channels, heartbeats and refused logins.

declare(strict_types=1);

use PhpAmqpLib\Exception\AMQPConnectionClosedException;
use PhpAmqpLib\Exception\AMQPTimeoutException;

test('connection_properties', function ($connection) {
    $properties = $connection->getServerProperties();
    check($properties['product'][1] === 'RabbitMQ', 'product');
    check((bool) preg_match('/^\d+\.\d+\.\d+/', $properties['version'][1]), 'version');
    $capabilities = $properties['capabilities'][1];
    foreach (['publisher_confirms', 'basic.nack', 'consumer_cancel_notify'] as $capability) {
        equal(true, (bool) $capabilities[$capability][1]);
    }
});

test('login_with_plain', function () {
    $connection = connect(login_method: 'PLAIN');
    check_usable($connection);
    $connection->close();
});

test('many_channels', function ($connection, $channel) {
    $queue = declare_queue($channel);
    $channels = array_map(fn () => $connection->channel(), range(1, 200));
    foreach ($channels as $index => $each) {
        publish($each, '', $queue, "$index");
    }
    foreach ($channels as $index => $each) {
        equal("$index", $each->basic_get($queue, true)->getBody());
        $each->close();
    }
});

test('heartbeat_keeps_idle_connection', function () {
    $connection = connect(heartbeat: 1);
    equal(1, $connection->getHeartbeat());
    $channel = $connection->channel();
    $idle_until = microtime(true) + 3.5;
    while (microtime(true) < $idle_until) {
        try {
            $channel->wait(null, false, 0.2);
        } catch (AMQPTimeoutException $error) {
            $connection->checkHeartBeat();
        }
    }
    check_usable($connection);
    $connection->close();
});

test('wrong_password_403', function () {
    foreach (['PLAIN', 'AMQPLAIN'] as $mechanism) {
        try {
            connect(password: 'wrong', login_method: $mechanism);
            throw new RuntimeException('the broker let us in');
        } catch (AMQPConnectionClosedException $error) {
            equal(403, $error->getCode());
            check(str_contains($error->getMessage(),
                "Login was refused using authentication mechanism $mechanism"), $error->getMessage());
        }
    }
});

test('unknown_vhost_530', function () {
    try {
        connect(vhost: 'no-such-vhost');
        throw new RuntimeException('the broker opened a vhost that does not exist');
    } catch (AMQPConnectionClosedException $error) {
        equal([530, 'NOT_ALLOWED - vhost no-such-vhost not found'],
            [$error->getCode(), substr($error->getMessage(), 0, 43)]);
    }
});
