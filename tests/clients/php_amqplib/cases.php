<?php
// AMQP 0-9-1 cases, written as users of php-amqplib write them. Usage: php cases.php HOST PORT

declare(strict_types=1);

require __DIR__ . '/peer.php';
// Each of them adds its cases to the list.
require __DIR__ . '/cases_connections.php';
require __DIR__ . '/cases_exchanges.php';
require __DIR__ . '/cases_queues.php';
require __DIR__ . '/cases_publishers.php';
require __DIR__ . '/cases_messages.php';
require __DIR__ . '/cases_consumers.php';
require __DIR__ . '/cases_dead_letters.php';

exit(run_all() ? 0 : 1);
