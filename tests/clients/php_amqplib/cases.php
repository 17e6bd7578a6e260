<?php
// AMQP 0-9-1 cases, written as users of php-amqplib write them. Usage: php cases.php HOST PORT

declare(strict_types=1);

require_once 'PhpAmqpLib/autoload.php';

use PhpAmqpLib\Channel\AMQPChannel;
use PhpAmqpLib\Connection\AMQPStreamConnection;
use PhpAmqpLib\Exception\AMQPBasicCancelException;
use PhpAmqpLib\Exception\AMQPConnectionClosedException;
use PhpAmqpLib\Exception\AMQPProtocolChannelException;
use PhpAmqpLib\Exception\AMQPTimeoutException;
use PhpAmqpLib\Message\AMQPMessage;
use PhpAmqpLib\Wire\AMQPAbstractCollection;
use PhpAmqpLib\Wire\AMQPDecimal;
use PhpAmqpLib\Wire\AMQPTable;

const PATIENCE_SECONDS = 10;
const BODY_BYTES_MAX = 16 * 1024 * 1024;

$cases = [];
$created_queues = [];
$created_exchanges = [];

/** A case is a function that gets a fresh connection and a channel on it. */
function test(string $name, callable $run): void
{
    global $cases;
    $cases[$name] = $run;
}

function connect(
    string $password = 'guest',
    string $vhost = '/',
    string $login_method = 'AMQPLAIN',
    int $heartbeat = 0
): AMQPStreamConnection {
    global $argv;
    return new AMQPStreamConnection($argv[1], $argv[2], 'guest', $password, $vhost, false,
        $login_method, null, 'en_US', 3.0, PATIENCE_SECONDS, null, false, $heartbeat,
        PATIENCE_SECONDS);
}

function name_of(string $suffix): string
{
    return "clients.php_amqplib.$suffix";
}

function declare_queue(AMQPChannel $channel, string $suffix = 'queue', array $arguments = []): string
{
    global $created_queues;
    $created_queues[] = $name = name_of($suffix);
    $channel->queue_delete($name); // An earlier run that was cut short may have left it behind.
    $channel->queue_declare($name, false, true, false, false, false, new AMQPTable($arguments));
    return $name;
}

function declare_exchange(
    AMQPChannel $channel,
    string $type,
    string $suffix = 'exchange',
    array $arguments = []
): string {
    global $created_exchanges;
    $created_exchanges[] = $name = name_of($suffix);
    $channel->exchange_delete($name);
    $channel->exchange_declare($name, $type, false, true, false, false, false,
        new AMQPTable($arguments));
    return $name;
}

/** Publishes one message and waits for its confirm; false means that it was nacked. */
function publish(
    AMQPChannel $channel,
    string $exchange,
    string $key,
    string $body,
    array $properties = []
): bool {
    static $confirming = null;
    $confirming ??= new WeakMap();
    if (!isset($confirming[$channel])) {
        $channel->confirm_select();
        $confirming[$channel] = true;
    }
    $acked = true;
    $channel->set_nack_handler(function () use (&$acked) {
        $acked = false;
    });
    $channel->basic_publish(new AMQPMessage($body, $properties), $exchange, $key, true);
    $channel->wait_for_pending_acks_returns(PATIENCE_SECONDS);
    return $acked;
}

/** Waits for one message through a consumer and acknowledges it. */
function next_message(AMQPChannel $channel, string $queue): AMQPMessage
{
    $message = null;
    $channel->basic_qos(0, 1, false); // The messages behind it stay in the queue.
    $tag = $channel->basic_consume($queue, '', false, false, false, false,
        function (AMQPMessage $delivered) use (&$message) {
            $message = $delivered;
        });
    wait_until($channel, function () use (&$message) {
        return $message !== null;
    }, "a message arrives in $queue");
    $channel->basic_cancel($tag);
    $message->ack();
    return $message;
}

function wait_until(AMQPChannel $channel, callable $condition, string $what): void
{
    $deadline = microtime(true) + PATIENCE_SECONDS;
    while (!$condition()) {
        check(microtime(true) < $deadline, "waited in vain until $what");
        try {
            $channel->wait(null, false, 0.2);
        } catch (AMQPTimeoutException $error) {
            continue;
        }
    }
}

function bodies_in(AMQPChannel $channel, string $queue): array
{
    $found = [];
    while ($message = $channel->basic_get($queue, true)) {
        $found[] = $message->getBody();
    }
    return $found;
}

function ready_count(AMQPChannel $channel, string $queue): int
{
    return $channel->queue_declare($queue, true)[1];
}

function headers_of(AMQPMessage $message): array
{
    return $message->get('application_headers')->getNativeData();
}

function check(bool $condition, string $otherwise): void
{
    if (!$condition) {
        throw new RuntimeException($otherwise);
    }
}

function equal($expected, $actual): void
{
    check($expected === $actual,
        'expected ' . var_export($expected, true) . ', got ' . var_export($actual, true));
}

/** The call makes the broker close the channel with this code; the connection survives. */
function expect_close(int $code, string $text, callable $call): void
{
    try {
        $call();
    } catch (AMQPProtocolChannelException $error) {
        equal($code, $error->getCode());
        check(str_contains($error->getMessage(), $text), "reply text was {$error->getMessage()}");
        return;
    }
    throw new RuntimeException("no channel close $code");
}

function check_usable(AMQPStreamConnection $connection): void
{
    $channel = $connection->channel();
    [$queue] = $channel->queue_declare('', false, false, true);
    check(str_starts_with($queue, 'amq.gen-'), $queue);
    publish($channel, '', $queue, 'still alive');
    equal(['still alive'], bodies_in($channel, $queue));
    $channel->close();
}

function check_death(
    AMQPMessage $message,
    string $queue,
    string $reason,
    string $exchange,
    array $routing_keys
): array {
    $headers = headers_of($message);
    equal(1, count($headers['x-death']));
    $death = $headers['x-death'][0];
    equal([$queue, $reason, $exchange, 1, $routing_keys], [$death['queue'], $death['reason'],
        $death['exchange'], $death['count'], $death['routing-keys']]);
    check($death['time'] instanceof DateTimeInterface, 'the time of death is no timestamp');
    check(abs(time() - $death['time']->getTimestamp()) < 60, 'the time of death is wrong');
    equal([$queue, $reason, $exchange], [$headers['x-first-death-queue'],
        $headers['x-first-death-reason'], $headers['x-first-death-exchange']]);
    return $death;
}

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
        // The queue has given out all it may: the rest must still lie there.
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

test('reserved_name_403', function ($connection, $channel) {
    expect_close(403, "contains reserved prefix 'amq.*'",
        fn () => $channel->exchange_declare('amq.clients.php_amqplib', 'direct'));
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

test('priority_order', function ($_, $channel) {
    $queue = declare_queue($channel, 'queue', ['x-max-priority' => 5]);
    foreach ([1, 5, 3, 5, 0] as $priority) {
        publish($channel, '', $queue, "$priority", ['priority' => $priority]);
    }
    equal(['5', '5', '3', '1', '0'], bodies_in($channel, $queue));
});

function clean_up(): void
{
    global $created_queues, $created_exchanges;
    $connection = connect();
    $channel = $connection->channel();
    array_map(fn ($queue) => $channel->queue_delete($queue), $created_queues);
    array_map(fn ($exchange) => $channel->exchange_delete($exchange), $created_exchanges);
    $created_queues = $created_exchanges = [];
    $connection->close();
}

/** A failed case may leave a connection that cannot be closed in order. */
function close_quietly(AMQPStreamConnection $connection): void
{
    try {
        $connection->close();
    } catch (Throwable $error) {
        return;
    }
}

function run(string $name, callable $case): bool
{
    $connection = connect();
    try {
        $case($connection, $connection->channel());
        echo "ok $name\n";
        return true;
    } catch (Throwable $error) {
        fwrite(STDERR, "$error\n");
        echo "not ok $name: " . strtr($error->getMessage(), "\n", ' ') . "\n";
        return false;
    } finally {
        close_quietly($connection);
        clean_up();
    }
}

echo '1..' . count($cases) . "\n";
$passed = true;
foreach ($cases as $name => $case) {
    $passed = run($name, $case) && $passed;
}
exit($passed ? 0 : 1);
