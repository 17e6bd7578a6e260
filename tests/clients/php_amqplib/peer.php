<?php
// The client of the cases: connections, declarations, messages and expected closes.

declare(strict_types=1);

require_once 'PhpAmqpLib/autoload.php';

use PhpAmqpLib\Channel\AMQPChannel;
use PhpAmqpLib\Connection\AMQPStreamConnection;
use PhpAmqpLib\Exception\AMQPProtocolChannelException;
use PhpAmqpLib\Exception\AMQPTimeoutException;
use PhpAmqpLib\Message\AMQPMessage;
use PhpAmqpLib\Wire\AMQPTable;

const PATIENCE_SECONDS = 10;

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
    $channel->queue_delete($name); // An interrupted run may have left it.
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
    $channel->basic_qos(0, 1, false); // The following messages stay in the queue.
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

/** A failed case may leave a connection that cannot be closed normally. */
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

function run_all(): bool
{
    global $cases;
    echo '1..' . count($cases) . "\n";
    $passed = true;
    foreach ($cases as $name => $case) {
        $passed = run($name, $case) && $passed;
    }
    return $passed;
}
