// AMQP 0-9-1 cases, written as users of amqplib write them. Usage: node cases.js HOST PORT
'use strict';

const assert = require('node:assert/strict');
const { setTimeout: delay } = require('node:timers/promises');
const amqp = require('amqplib');

const [host, port] = process.argv.slice(2);
const url = `amqp://guest:guest@${host}:${port}`;
const patienceMs = 10_000;
const caseMsMax = 20_000;
const bodyBytesMax = 16 * 1024 * 1024;
const cases = [];
const createdQueues = [];
const createdExchanges = [];

const test = (name, run) => cases.push({ name, run });
const nameOf = (suffix) => `clients.nodejs.${suffix}`;
const deadLetterTo = (queue) => ({ deadLetterExchange: '', deadLetterRoutingKey: queue });

async function connect(socketOptions, address = url) {
    const connection = await amqp.connect(address, socketOptions);
    connection.on('error', () => {}); // Cases that expect the close of a connection assert it themselves.
    return connection;
}

async function declareQueue(channel, suffix = 'queue', options = {}) {
    const name = nameOf(suffix);
    createdQueues.push(name);
    await channel.deleteQueue(name); // An interrupted run may have left it.
    await channel.assertQueue(name, { durable: true, ...options });
    return name;
}

async function declareExchange(channel, type, suffix = 'exchange', options = {}) {
    const name = nameOf(suffix);
    createdExchanges.push(name);
    await channel.deleteExchange(name);
    await channel.assertExchange(name, type, { durable: true, ...options });
    return name;
}

// Publishes one message on a confirm channel and waits for its confirm.
function publish(channel, exchange, key, body, options) {
    return new Promise((resolve, reject) =>
        channel.publish(exchange, key, Buffer.from(body), options, (error) =>
            error ? reject(error) : resolve()));
}

async function within(promise, what, milliseconds = patienceMs) {
    const timer = new AbortController();
    try {
        return await Promise.race([promise, delay(milliseconds, null, timer).then(() => {
            throw new Error(`waited in vain until ${what}`);
        })]);
    } finally {
        timer.abort();
    }
}

// Waits for one message through a consumer and acknowledges it.
async function nextMessage(channel, queue) {
    let consumer;
    await channel.prefetch(1); // The messages behind it stay in the queue.
    const message = await within(new Promise((resolve, reject) => {
        consumer = channel.consume(queue, resolve);
        consumer.catch(reject);
    }), `a message arrives in ${queue}`);
    await channel.cancel((await consumer).consumerTag);
    channel.ack(message);
    return message;
}

async function bodiesIn(channel, queue) {
    const found = [];
    for (let message; (message = await channel.get(queue, { noAck: true }));) {
        found.push(message.content.toString());
    }
    return found;
}

// The promise is refused because the broker closes its channel; the connection survives.
async function expectClose(code, text, promise) {
    await assert.rejects(promise, (error) => {
        assert.equal(error.code, code, error.message);
        assert.ok(error.message.includes(text), error.message);
        return true;
    });
}

async function openChannel(connection) {
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => {}); // Each close is asserted through the promise that it refuses.
    return channel;
}

async function checkUsable(connection) {
    const channel = await openChannel(connection);
    const { queue } = await channel.assertQueue('', { exclusive: true });
    assert.match(queue, /^amq\.gen-/);
    await publish(channel, '', queue, 'still alive');
    assert.deepEqual(await bodiesIn(channel, queue), ['still alive']);
    await channel.close();
}

function checkDeath(message, queue, reason, exchange, routingKeys) {
    const { headers } = message.properties;
    assert.equal(headers['x-death'].length, 1);
    const { time, 'original-expiration': originalExpiration, ...death } = headers['x-death'][0];
    assert.deepEqual(death, { queue, reason, exchange, count: 1, 'routing-keys': routingKeys });
    assert.equal(time['!'], 'timestamp');
    assert.ok(Math.abs(time.value - Date.now() / 1000) < 60, `died at ${time.value}`);
    assert.equal(headers['x-first-death-queue'], queue);
    assert.equal(headers['x-first-death-reason'], reason);
    assert.equal(headers['x-first-death-exchange'], exchange);
    return originalExpiration;
}

test('connection_properties', async ({ connection }) => {
    const { serverProperties } = connection.connection;
    assert.equal(serverProperties.product, 'RabbitMQ');
    assert.match(serverProperties.version, /^\d+\.\d+\.\d+/);
    for (const capability of ['publisher_confirms', 'basic.nack', 'consumer_cancel_notify',
        'exchange_exchange_bindings', 'per_consumer_qos', 'direct_reply_to']) {
        assert.equal(serverProperties.capabilities[capability], true, capability);
    }
});

test('bind_direct', async ({ channel }) => {
    const exchange = await declareExchange(channel, 'direct');
    const queue = await declareQueue(channel);
    await channel.bindQueue(queue, exchange, 'wanted');
    await publish(channel, exchange, 'other', '1');
    await publish(channel, exchange, 'wanted', '2');
    const { fields, content } = await nextMessage(channel, queue);
    assert.deepEqual([fields.exchange, fields.routingKey, content.toString()], [exchange, 'wanted', '2']);
});

test('bind_topic', async ({ channel }) => {
    const exchange = await declareExchange(channel, 'topic');
    const oneWord = await declareQueue(channel, 'one_word');
    const anyWords = await declareQueue(channel, 'any_words');
    await channel.bindQueue(oneWord, exchange, 'order.*.paid');
    await channel.bindQueue(anyWords, exchange, 'order.#');
    for (const key of ['order.eu.paid', 'order.eu.north.paid', 'order', 'invoice.eu.paid']) {
        await publish(channel, exchange, key, key);
    }
    assert.deepEqual(await bodiesIn(channel, oneWord), ['order.eu.paid']);
    assert.deepEqual(await bodiesIn(channel, anyWords), ['order.eu.paid', 'order.eu.north.paid', 'order']);
});

test('bind_fanout', async ({ channel }) => {
    const exchange = await declareExchange(channel, 'fanout');
    for (const suffix of ['copy_1', 'copy_2', 'copy_3']) {
        await channel.bindQueue(await declareQueue(channel, suffix), exchange, '');
    }
    await publish(channel, exchange, 'ignored', 'news');
    for (const suffix of ['copy_1', 'copy_2', 'copy_3']) {
        assert.deepEqual(await bodiesIn(channel, nameOf(suffix)), ['news']);
    }
});

test('bind_headers', async ({ channel }) => {
    const exchange = await declareExchange(channel, 'headers');
    const both = await declareQueue(channel, 'both');
    const either = await declareQueue(channel, 'either');
    await channel.bindQueue(both, exchange, '', { 'x-match': 'all', kind: 'pdf', pages: 2 });
    await channel.bindQueue(either, exchange, '', { 'x-match': 'any', kind: 'pdf', pages: 2 });
    await publish(channel, exchange, '', '1', { headers: { kind: 'pdf', pages: 2 } });
    await publish(channel, exchange, '', '2', { headers: { kind: 'pdf' } });
    await publish(channel, exchange, '', '3', { headers: { kind: 'txt' } });
    assert.deepEqual(await bodiesIn(channel, both), ['1']);
    assert.deepEqual(await bodiesIn(channel, either), ['1', '2']);
});

test('bind_exchange_to_exchange', async ({ channel }) => {
    const source = await declareExchange(channel, 'topic', 'source');
    const destination = await declareExchange(channel, 'fanout', 'destination');
    const queue = await declareQueue(channel);
    await channel.bindExchange(destination, source, 'a.#');
    await channel.bindQueue(queue, destination, '');
    await publish(channel, source, 'a.b', 'through');
    await channel.unbindExchange(destination, source, 'a.#');
    await publish(channel, source, 'a.b', 'cut off');
    assert.deepEqual(await bodiesIn(channel, queue), ['through']);
});

test('alternate_exchange', async ({ channel }) => {
    const fallback = await declareExchange(channel, 'fanout', 'fallback');
    const exchange = await declareExchange(channel, 'direct', 'exchange', { alternateExchange: fallback });
    const queue = await declareQueue(channel);
    await channel.bindQueue(queue, fallback, '');
    await publish(channel, exchange, 'nobody', 'stray');
    assert.deepEqual(await bodiesIn(channel, queue), ['stray']);
});

test('cc_and_bcc', async ({ channel }) => {
    const to = await declareQueue(channel, 'to');
    const copy = await declareQueue(channel, 'cc');
    const blind = await declareQueue(channel, 'bcc');
    await publish(channel, '', to, 'memo', { CC: [copy], BCC: [blind] });
    for (const queue of [to, copy, blind]) {
        const message = await channel.get(queue, { noAck: true });
        assert.deepEqual({ ...message.properties.headers }, { CC: [copy] });
        assert.equal(message.fields.routingKey, to);
    }
});

test('confirms_one_by_one', async ({ channel }) => {
    const queue = await declareQueue(channel);
    for (let index = 0; index < 100; index++) {
        await publish(channel, '', queue, `${index}`, { persistent: true });
    }
    assert.deepEqual(await bodiesIn(channel, queue), Array.from({ length: 100 }, (_, index) => `${index}`));
});

test('confirms_of_a_burst', async ({ channel }) => {
    const queue = await declareQueue(channel);
    const count = 5000;
    for (let index = 0; index < count; index++) {
        channel.sendToQueue(queue, Buffer.from(`${index}`), { persistent: true });
    }
    await within(channel.waitForConfirms(), 'all messages are confirmed');
    assert.equal((await channel.checkQueue(queue)).messageCount, count);
    const received = [];
    await within(new Promise((resolve) => channel.consume(queue, (message) => {
        received.push(Number(message.content));
        if (received.length === count) resolve();
    }, { noAck: true })), 'all messages arrive');
    assert.deepEqual(received, Array.from({ length: count }, (_, index) => index));
});

test('reject_publish_is_nacked', async ({ channel }) => {
    const queue = await declareQueue(channel, 'queue', { maxLength: 1,
        arguments: { 'x-overflow': 'reject-publish' } });
    await publish(channel, '', queue, 'fits');
    await assert.rejects(publish(channel, '', queue, 'does not fit'), /nacked/);
});

test('mandatory_return', async ({ channel }) => {
    const events = [];
    channel.on('return', (message) => events.push(message));
    await publish(channel, 'amq.direct', nameOf('nobody'), 'lost', { mandatory: true, messageId: 'm1' });
    assert.equal(events.length, 1, 'the return must come before the confirm');
    const [{ fields, properties, content }] = events;
    assert.deepEqual([fields.replyCode, fields.replyText], [312, 'NO_ROUTE']);
    assert.deepEqual([fields.exchange, fields.routingKey], ['amq.direct', nameOf('nobody')]);
    assert.deepEqual([properties.messageId, content.toString()], ['m1', 'lost']);
});

test('consume_with_prefetch', async ({ connection, channel }) => {
    const queue = await declareQueue(channel);
    const [count, prefetch] = [20, 3];
    for (let index = 0; index < count; index++) await publish(channel, '', queue, `${index}`);
    const consumer = await openChannel(connection);
    const [received, unacked] = [[], []];
    let unackedMax = 0;
    await consumer.prefetch(prefetch);
    await consumer.consume(queue, (message) => {
        received.push(Number(message.content));
        unackedMax = Math.max(unackedMax, unacked.push(message));
    });
    while (received.length < count) {
        // Once the queue has given out all it may, exactly the prefetch window is in our hands.
        const expected = Math.min(count, received.length - unacked.length + prefetch);
        const deadline = Date.now() + patienceMs;
        while (received.length < expected && Date.now() < deadline) await delay(5);
        assert.equal((await channel.checkQueue(queue)).messageCount, count - expected);
        assert.equal(received.length, expected);
        consumer.ack(unacked.shift());
    }
    consumer.ackAll();
    assert.equal(unackedMax, prefetch);
    assert.deepEqual(received, Array.from({ length: count }, (_, index) => index));
});

test('get_and_empty_get', async ({ channel }) => {
    const queue = await declareQueue(channel);
    assert.equal(await channel.get(queue), false);
    await publish(channel, '', queue, 'first');
    await publish(channel, '', queue, 'second');
    const message = await channel.get(queue);
    assert.equal(message.content.toString(), 'first');
    assert.equal(message.fields.messageCount, 1);
    assert.equal(message.fields.redelivered, false);
    channel.ack(message);
    assert.deepEqual(await bodiesIn(channel, queue), ['second']);
});

test('nack_requeues', async ({ channel }) => {
    const queue = await declareQueue(channel);
    await publish(channel, '', queue, 'again');
    const message = await channel.get(queue);
    assert.equal(message.fields.redelivered, false);
    channel.nack(message);
    assert.equal((await nextMessage(channel, queue)).fields.redelivered, true);
});

test('nack_all_requeues', async ({ channel }) => {
    const queue = await declareQueue(channel);
    for (const body of ['1', '2', '3']) await publish(channel, '', queue, body);
    for (const body of ['1', '2', '3']) assert.equal((await channel.get(queue)).content.toString(), body);
    channel.nackAll(true);
    for (const body of ['1', '2', '3']) {
        const message = await nextMessage(channel, queue);
        assert.deepEqual([message.content.toString(), message.fields.redelivered], [body, true]);
    }
});

test('recover_requeues', async ({ channel }) => {
    const queue = await declareQueue(channel);
    await publish(channel, '', queue, 'again');
    await channel.get(queue);
    await channel.recover();
    assert.equal((await nextMessage(channel, queue)).fields.redelivered, true);
});

test('reject_dead_letters', async ({ channel }) => {
    const deadLetterExchange = await declareExchange(channel, 'fanout', 'dlx');
    const deadLetterQueue = await declareQueue(channel, 'dead');
    await channel.bindQueue(deadLetterQueue, deadLetterExchange, '');
    const exchange = await declareExchange(channel, 'direct');
    const queue = await declareQueue(channel, 'queue', { deadLetterExchange });
    await channel.bindQueue(queue, exchange, 'work');
    await publish(channel, exchange, 'work', 'poison', { headers: { tenant: 'blue' } });
    channel.reject(await channel.get(queue), false);
    const message = await nextMessage(channel, deadLetterQueue);
    assert.deepEqual([message.fields.exchange, message.fields.routingKey], [deadLetterExchange, 'work']);
    assert.equal(message.properties.headers.tenant, 'blue');
    assert.equal(message.content.toString(), 'poison');
    checkDeath(message, queue, 'rejected', exchange, ['work']);
});

test('expired_message_dead_letters', async ({ channel }) => {
    const deadLetterQueue = await declareQueue(channel, 'dead');
    const queue = await declareQueue(channel, 'queue', deadLetterTo(deadLetterQueue));
    await publish(channel, '', queue, 'late', { expiration: 50 });
    const message = await nextMessage(channel, deadLetterQueue);
    assert.equal(checkDeath(message, queue, 'expired', '', [queue]), '50');
    assert.equal(message.properties.expiration, undefined);
});

test('overflow_dead_letters', async ({ channel }) => {
    const deadLetterQueue = await declareQueue(channel, 'dead');
    const queue = await declareQueue(channel, 'queue', { maxLength: 2, ...deadLetterTo(deadLetterQueue) });
    for (const body of ['1', '2', '3']) await publish(channel, '', queue, body);
    const message = await nextMessage(channel, deadLetterQueue);
    assert.equal(message.content.toString(), '1');
    checkDeath(message, queue, 'maxlen', '', [queue]);
    assert.deepEqual(await bodiesIn(channel, queue), ['2', '3']);
});

test('client_cancels_consumer', async ({ channel }) => {
    const queue = await declareQueue(channel);
    const { consumerTag } = await channel.consume(queue, () => {});
    assert.match(consumerTag, /^amq\.ctag-/);
    assert.equal((await channel.checkQueue(queue)).consumerCount, 1);
    await channel.cancel(consumerTag);
    assert.equal((await channel.checkQueue(queue)).consumerCount, 0);
    await publish(channel, '', queue, 'after');
    assert.deepEqual(await bodiesIn(channel, queue), ['after']);
});

test('broker_cancels_consumer', async ({ connection, channel }) => {
    const queue = await declareQueue(channel);
    // amqplib tells a consumer of its cancellation by calling it with null.
    const cancelled = new Promise((resolve) => channel.consume(queue, resolve));
    await channel.checkQueue(queue);
    await (await openChannel(connection)).deleteQueue(queue);
    assert.equal(await within(cancelled, 'the consumer is cancelled'), null);
    await checkUsable(connection);
});

test('missing_queue_404', async ({ connection, channel }) => {
    const queue = nameOf('missing');
    await expectClose(404, `no queue '${queue}' in vhost '/'`, channel.checkQueue(queue));
    await checkUsable(connection);
});

test('inequivalent_argument_406', async ({ connection, channel }) => {
    const queue = await declareQueue(channel, 'queue', { messageTtl: 60000 });
    await expectClose(406, `inequivalent arg 'x-message-ttl' for queue '${queue}' in vhost '/'`,
        channel.assertQueue(queue, { durable: true }));
    await checkUsable(connection);
});

test('reserved_name_403', async ({ connection, channel }) => {
    await expectClose(403, "contains reserved prefix 'amq.*'", channel.assertQueue('amq.clients.nodejs'));
    await checkUsable(connection);
});

test('publish_to_missing_exchange_404', async ({ connection, channel }) => {
    const closed = new Promise((resolve) => channel.on('close', resolve));
    const failed = new Promise((resolve) => channel.on('error', resolve));
    channel.publish(nameOf('missing'), 'key', Buffer.from('x'));
    const error = await within(failed, 'the channel is closed');
    assert.equal(error.code, 404);
    await within(closed, 'the channel is closed');
    await checkUsable(connection);
});

test('exclusive_queue_405', async ({ connection, channel }) => {
    const queue = nameOf('exclusive');
    await channel.assertQueue(queue, { exclusive: true });
    const second = await connect();
    await expectClose(405, `cannot obtain exclusive access to locked queue '${queue}'`,
        (await openChannel(second)).consume(queue, () => {}));
    await connection.close();
    await expectClose(404, `no queue '${queue}'`, (await openChannel(second)).checkQueue(queue));
    await second.close();
});

test('large_bodies', async ({ channel }) => {
    const queue = await declareQueue(channel);
    for (const size of [bodyBytesMax - 7, bodyBytesMax]) {
        const body = Buffer.alloc(size, 'the quick brown fox ');
        await publish(channel, '', queue, body);
        const message = await nextMessage(channel, queue);
        assert.ok(message.content.equals(body), `a body of ${size} bytes changed`);
    }
});

test('too_large_body_406', async ({ connection, channel }) => {
    const queue = await declareQueue(channel);
    const failed = new Promise((resolve) => channel.on('error', resolve));
    channel.sendToQueue(queue, Buffer.alloc(bodyBytesMax + 1));
    const error = await within(failed, 'the channel is closed');
    assert.equal(error.code, 406);
    assert.match(error.message, /message size 16777217 is larger than configured max size 16777216/);
    await checkUsable(connection);
});

test('empty_body', async ({ channel }) => {
    const queue = await declareQueue(channel);
    await publish(channel, '', queue, '', { messageId: 'empty' });
    const message = await nextMessage(channel, queue);
    assert.deepEqual([message.content.length, message.properties.messageId], [0, 'empty']);
});

test('properties_echo', async ({ channel }) => {
    const queue = await declareQueue(channel);
    const sent = { contentType: 'text/plain', contentEncoding: 'utf-8', deliveryMode: 2, priority: 7,
        correlationId: 'c1', replyTo: 'r1', expiration: '600000', messageId: 'm1',
        timestamp: 1700000000, type: 'kind', userId: 'guest', appId: 'app' };
    await publish(channel, '', queue, 'x', sent);
    const { headers, clusterId, ...received } = (await nextMessage(channel, queue)).properties;
    assert.deepEqual(received, sent);
});

test('header_types_echo', async ({ channel }) => {
    const queue = await declareQueue(channel);
    const sent = { string: 'café', truth: true, falsehood: false, int8: -5, int16: -3000, int32: -123456,
        int64: -1099511627776, double: 0.125, bytes: Buffer.from([0, 255, 128]), nothing: null,
        table: { inner: { deep: 1 }, list: [1, 'two'] }, array: [1, 'two', true, null, { three: 3 }, [4]],
        timestamp: { '!': 'timestamp', value: 1700000000 },
        decimal: { '!': 'decimal', value: { places: 2, digits: 314 } } };
    const typed = { uint8: { '!': 'uint8', value: 200 }, uint16: { '!': 'uint16', value: 60000 },
        uint32: { '!': 'uint32', value: 4000000000 }, float: { '!': 'float', value: 0.5 } };
    await publish(channel, '', queue, 'x', { headers: { ...sent, ...typed } });
    const { uint8, uint16, uint32, float, ...received } = (await nextMessage(channel, queue)).properties.headers;
    assert.deepEqual(received, sent);
    assert.deepEqual([uint8, uint16, uint32, float], [200, 60000, 4000000000, 0.5]);
});

test('many_channels', async ({ connection, channel }) => {
    const queue = await declareQueue(channel);
    const channels = await Promise.all(Array.from({ length: 200 }, () => openChannel(connection)));
    await Promise.all(channels.map((each, index) => publish(each, '', queue, `${index}`)));
    const messages = await Promise.all(channels.map((each) => each.get(queue, { noAck: true })));
    const numbers = messages.map((message) => Number(message.content)).sort((a, b) => a - b);
    assert.deepEqual(numbers, Array.from({ length: 200 }, (_, index) => index));
    await Promise.all(channels.map((each) => each.close()));
});

test('heartbeat_keeps_idle_connection', async () => {
    const connection = await connect({}, `${url}?heartbeat=1`);
    assert.equal(connection.connection.heartbeat, 1);
    let lost = null;
    connection.on('close', (error) => { lost = error ?? new Error('closed'); });
    await delay(3500); // Being idle is what the case is about; amqplib watches the broker meanwhile.
    assert.equal(lost, null);
    await checkUsable(connection);
    await connection.close();
});

test('direct_reply_to', async ({ connection, channel }) => {
    const queue = await declareQueue(channel);
    const requester = await openChannel(connection);
    const reply = new Promise((resolve) => requester.consume('amq.rabbitmq.reply-to', resolve, { noAck: true }));
    requester.sendToQueue(queue, Buffer.from('ping'), { replyTo: 'amq.rabbitmq.reply-to', correlationId: 'call-1' });
    const request = await nextMessage(channel, queue);
    assert.match(request.properties.replyTo, /^amq\.rabbitmq\.reply-to\../);
    channel.sendToQueue(request.properties.replyTo, Buffer.from(`${request.content} pong`),
        { correlationId: request.properties.correlationId });
    const { content, properties } = await within(reply, 'the reply arrives');
    assert.deepEqual([content.toString(), properties.correlationId], ['ping pong', 'call-1']);
});

test('wrong_password_403', async () => {
    await assert.rejects(amqp.connect(`amqp://guest:wrong@${host}:${port}`),
        /403 \(ACCESS-REFUSED\).*authentication mechanism PLAIN/);
});

test('unknown_vhost_530', async () => {
    // amqplib does not pass on the code of a close that comes instead of connection.open-ok.
    await assert.rejects(amqp.connect(`${url}/no-such-vhost`), /got <ConnectionClose channel:0>/);
});

test('priority_order', async ({ channel }) => {
    const queue = await declareQueue(channel, 'queue', { maxPriority: 5 });
    for (const priority of [1, 5, 3, 5, 0]) await publish(channel, '', queue, `${priority}`, { priority });
    assert.deepEqual(await bodiesIn(channel, queue), ['5', '5', '3', '1', '0']);
});

async function cleanUp() {
    const connection = await connect();
    const channel = await connection.createChannel();
    for (const queue of createdQueues.splice(0)) await channel.deleteQueue(queue);
    for (const exchange of createdExchanges.splice(0)) await channel.deleteExchange(exchange);
    await connection.close();
}

async function main() {
    console.log(`1..${cases.length}`);
    for (const { name, run } of cases) {
        const connection = await connect();
        let closed = false;
        connection.on('close', () => { closed = true; });
        try {
            const channel = await openChannel(connection);
            await within(run({ connection, channel }), 'the case ends', caseMsMax);
            console.log(`ok ${name}`);
        } catch (error) {
            process.exitCode = 1;
            console.error(error.stack);
            console.log(`not ok ${name}: ${String(error.message).split('\n').join(' ')}`);
        }
        if (!closed) await connection.close().catch(() => {}); // It may be closing already.
        await cleanUp();
    }
    process.exit(); // A failed case may have left a connection open.
}

main().catch((error) => {
    console.error(error);
    process.exit(1);
});
