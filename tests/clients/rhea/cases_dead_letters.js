// Dead letters: their history by type, over several deaths, and through both protocols.
'use strict';

const assert = require('node:assert/strict');
const rhea = require('rhea');
const { accepted, addressOf, bodiesIn, closed, deadLetterTo, declareExchange, declareQueue, getByAmqplib,
    nameOf, nextByAmqplib, nextMessage, openReceiver, openSender, publish, publishByAmqplib, receive,
    send, test, testPerType, typedAnnotations } = require('./peer.js');

const { types, message: { data_section: dataSection } } = rhea;
const ageMsMax = 60_000;

// Expected deaths are { queue, reason, count, exchange, keys, ttl }, the newest first.
function checkDeaths(message, expected, first = expected.at(-1)) {
    const annotations = typedAnnotations(message);
    const { map: deaths } = annotations['x-opt-deaths'];
    assert.equal(deaths?.length, expected.length, 'an array of maps');
    deaths.forEach((death, index) => checkDeath(death, expected[index]));
    for (const [which, { queue, reason, exchange = '' }] of [['first', first], ['last', expected[0]]]) {
        assert.equal(annotations[`x-${which}-death-queue`], `string:${queue}`);
        assert.equal(annotations[`x-${which}-death-reason`], `string:${reason}`);
        assert.equal(annotations[`x-${which}-death-exchange`], `string:${exchange}`);
    }
    assert.equal(message.first_acquirer, false);
}

function checkDeath(death, { queue, reason, count = 1, exchange = '', keys = [queue], ttl }) {
    const fields = death.filter(([key]) => !key.endsWith('-time'));
    assert.deepEqual(fields, [...(ttl === undefined ? [] : [['symbol:ttl', `uint:${ttl}`]]),
        ['symbol:queue', `string:${queue}`], ['symbol:reason', `symbol:${reason}`],
        ['symbol:count', `ulong:${count}`], ['symbol:exchange', `string:${exchange}`],
        ['symbol:routing-keys', { string: keys.map((key) => `string:${key}`) }]]);
    const at = fields.findIndex(([key]) => key === 'symbol:count') + 1;
    const [[firstKey, first], [lastKey, last]] = death.slice(at, at + 2);
    assert.deepEqual([firstKey, lastKey], ['symbol:first-time', 'symbol:last-time']);
    const [firstMs, lastMs] = [first, last].map((time) => Number(/^timestamp:(\d+)$/.exec(time)[1]));
    assert.ok(Math.abs(lastMs - Date.now()) < ageMsMax, `died at ${lastMs}`);
    assert.ok(count === 1 ? firstMs === lastMs : firstMs <= lastMs, `${firstMs} and ${lastMs}`);
}

// The same history as 0-9-1 shows it.
function checkHeaders({ properties: { headers } }, expected, first = expected.at(-1)) {
    const shown = headers['x-death'].map(({ time, ...death }) => {
        assert.equal(time['!'], 'timestamp');
        assert.ok(Math.abs(time.value * 1000 - Date.now()) < ageMsMax, `died at ${time.value}`);
        return death;
    });
    assert.deepEqual(shown, expected.map(({ queue, reason, count = 1, exchange = '', keys = [queue], ttl }) => ({
        ...(ttl !== undefined && { 'original-expiration': `${ttl}` }), count, reason, queue, exchange,
        'routing-keys': keys })));
    for (const [which, { queue, reason, exchange = '' }] of [['first', first], ['last', expected[0]]]) {
        assert.deepEqual(['queue', 'reason', 'exchange'].map((field) => headers[`x-${which}-death-${field}`]),
            [queue, reason, exchange]);
    }
}

async function reject(connection, queue) {
    const receiver = await openReceiver(connection, addressOf(queue));
    (await receive(receiver)).delivery.reject();
    await closed(receiver);
}

// ------------------------------------------------------------------------- the four reasons

testPerType('rejected_dead_letters', async ({ connection, channel, kind }) => {
    const dead = await declareQueue(channel, 'dead');
    const exchange = await declareExchange(channel, 'topic');
    const queue = await declareQueue(channel, 'queue', kind, deadLetterTo(dead));
    await channel.bindQueue(queue, exchange, 'work.#');
    await publish(connection, `/exchanges/${exchange}/work.hard`, { body: 'poison', message_id: 'm1',
        application_properties: { tenant: 'blue' }, message_annotations: { 'x-own': 'kept' } });
    await reject(connection, queue);
    const message = await nextMessage(connection, dead);
    checkDeaths(message, [{ queue, reason: 'rejected', exchange, keys: ['work.hard'] }]);
    assert.deepEqual([message.body, message.message_id, message.application_properties],
        ['poison', 'm1', { tenant: 'blue' }]);
    const { 'x-own': own, 'x-exchange': from, 'x-routing-key': key } = message.message_annotations;
    assert.deepEqual([own, from, key, message.delivery_count], ['kept', '', dead, 1]);
});

testPerType('expired_dead_letters', async ({ connection, channel, kind }) => {
    const dead = await declareQueue(channel, 'dead');
    const queue = await declareQueue(channel, 'queue', kind, deadLetterTo(dead));
    await publish(connection, addressOf(queue), { body: 'late', ttl: 50 });
    const message = await nextMessage(connection, dead);
    checkDeaths(message, [{ queue, reason: 'expired', ttl: 50 }]);
    assert.deepEqual([message.body, message.ttl, message.delivery_count], ['late', undefined, 0]);
});

testPerType('expired_by_the_queue_dead_letters', async ({ connection, channel, kind }) => {
    const dead = await declareQueue(channel, 'dead');
    const queue = await declareQueue(channel, 'queue', kind, deadLetterTo(dead, { 'x-message-ttl': 50 }));
    await publish(connection, addressOf(queue), 'late');
    checkDeaths(await nextMessage(connection, dead), [{ queue, reason: 'expired' }]);
});

testPerType('overflow_dead_letters', async ({ connection, channel, kind }) => {
    const dead = await declareQueue(channel, 'dead');
    const queue = await declareQueue(channel, 'queue', kind, deadLetterTo(dead, { 'x-max-length': 2 }));
    await publish(connection, addressOf(queue), '1', '2', '3');
    const message = await nextMessage(connection, dead);
    checkDeaths(message, [{ queue, reason: 'maxlen' }]);
    assert.equal(message.body, '1');
    assert.deepEqual(await bodiesIn(connection, queue), ['2', '3']);
});

test('delivery_limit_dead_letters', async ({ connection, channel }) => {
    const dead = await declareQueue(channel, 'dead');
    const queue = await declareQueue(channel, 'queue', 'quorum', deadLetterTo(dead, { 'x-delivery-limit': 1 }));
    await publish(connection, addressOf(queue), 'poison');
    const receiver = await openReceiver(connection, addressOf(queue));
    for (const count of [0, 1]) {
        const { message, delivery } = await receive(receiver);
        assert.equal(message.delivery_count, count);
        delivery.modified({ delivery_failed: true });
    }
    const message = await nextMessage(connection, dead);
    checkDeaths(message, [{ queue, reason: 'delivery_limit' }]);
    assert.equal(message.delivery_count, 2);
});

// ------------------------------------------------------------------------- several deaths

testPerType('deaths_of_a_retry_loop_are_counted', async ({ connection, channel, kind }) => {
    const [work, wait] = [nameOf('work'), nameOf('wait')];
    await declareQueue(channel, 'work', kind, deadLetterTo(wait));
    await declareQueue(channel, 'wait', kind, deadLetterTo(work, { 'x-message-ttl': 20 }));
    await publish(connection, addressOf(work), { body: 'x', ttl: 600_000 });
    const receiver = await openReceiver(connection, addressOf(work));
    for (let count = 0; count < 4; count++) {
        const { message, delivery } = await receive(receiver);
        assert.equal(message.delivery_count, count);
        if (count > 0) {
            checkDeaths(message, [{ queue: wait, reason: 'expired', count },
                { queue: work, reason: 'rejected', count, ttl: 600_000 }]);
        }
        delivery.reject();
    }
});

test('published_history_is_not_believed', async ({ connection, channel }) => {
    const dead = await declareQueue(channel, 'dead');
    const queue = await declareQueue(channel, 'queue', 'classic', deadLetterTo(dead));
    await publish(connection, addressOf(queue), { body: 'x', message_annotations: {
        'x-opt-deaths': types.wrap_array(['forged'], 0xa1), 'x-first-death-queue': 'forged' } });
    const receiver = await openReceiver(connection, addressOf(queue));
    const { message, delivery } = await receive(receiver);
    assert.deepEqual(typedAnnotations(message)['x-opt-deaths'], { string: ['string:forged'] });
    delivery.reject();
    checkDeaths(await nextMessage(connection, dead), [{ queue, reason: 'rejected' }]);
});

test('all_routing_keys_are_recorded', async ({ connection, channel }) => {
    const dead = await declareQueue(channel, 'dead');
    const queue = await declareQueue(channel, 'queue', 'classic', { 'x-dead-letter-exchange': 'amq.fanout' });
    await channel.bindQueue(dead, 'amq.fanout', '');
    await publish(connection, addressOf(queue), { body: 'x', message_annotations: { 'x-cc': ['second'] } });
    await reject(connection, queue);
    const message = await nextMessage(connection, dead);
    checkDeaths(message, [{ queue, reason: 'rejected', keys: [queue, 'second'] }]);
    assert.deepEqual(typedAnnotations(message)['x-cc'], ['string:second']);
});

test('refused_publish_dead_letters', async ({ connection, channel }) => {
    const dead = await declareQueue(channel, 'dead');
    const queue = await declareQueue(channel, 'queue', 'classic', deadLetterTo(dead,
        { 'x-max-length': 1, 'x-overflow': 'reject-publish-dlx' }));
    const sender = await openSender(connection, addressOf(queue));
    assert.deepEqual(await send(sender, { body: 'fits' }), accepted);
    const { outcome, error } = await send(sender, { body: 'refused' });
    assert.deepEqual([outcome, error?.condition], ['rejected', 'amqp:resource-limit-exceeded']);
    const message = await nextMessage(connection, dead);
    checkDeaths(message, [{ queue, reason: 'maxlen' }]);
    assert.equal(message.body, 'refused');
});

// ------------------------------------------------------------------------- both protocols

testPerType('dies_in_rhea_and_is_read_by_amqplib', async ({ connection, channel, kind }) => {
    const dead = await declareQueue(channel, 'dead', kind);
    const exchange = await declareExchange(channel, 'direct');
    const queue = await declareQueue(channel, 'queue', kind, deadLetterTo(dead));
    await channel.bindQueue(queue, exchange, 'key');
    await publish(connection, `/exchanges/${exchange}/key`, { body: dataSection(Buffer.from('x')),
        ttl: 600_000, application_properties: { tenant: 'blue' } });
    const receiver = await openReceiver(connection, addressOf(queue));
    (await receive(receiver)).delivery.reject({ condition: 'app:bad', description: 'no items' });
    const message = await nextByAmqplib(channel, dead);
    checkHeaders(message, [{ queue, reason: 'rejected', exchange, keys: ['key'], ttl: 600_000 }]);
    const { headers, expiration } = message.properties;
    assert.deepEqual([headers.tenant, expiration, message.content.toString()], ['blue', undefined, 'x']);
    assert.deepEqual([headers['x-death-error-condition'], headers['x-death-error-description']],
        ['app:bad', 'no items']);
});

testPerType('dies_in_amqplib_and_is_read_by_rhea', async ({ connection, channel, kind }) => {
    const dead = await declareQueue(channel, 'dead', kind);
    const queue = await declareQueue(channel, 'queue', kind, deadLetterTo(dead));
    await publishByAmqplib(channel, queue, 'x', { expiration: '600000', CC: ['copy'],
        headers: { tenant: 'blue', 'x-own': 'kept' } });
    channel.nack(await getByAmqplib(channel, queue), false, false);
    const message = await nextMessage(connection, dead);
    checkDeaths(message, [{ queue, reason: 'rejected', keys: [queue, 'copy'], ttl: 600_000 }]);
    assert.deepEqual([message.application_properties, message.ttl, message.delivery_count],
        [{ tenant: 'blue' }, undefined, 0]);
    assert.equal(message.message_annotations['x-own'], 'kept');
});

testPerType('dies_by_turns_in_both', async ({ connection, channel, kind }) => {
    const names = ['first', 'second', 'third'].map(nameOf);
    for (const [index, suffix] of ['first', 'second', 'third'].entries()) {
        await declareQueue(channel, suffix, kind, deadLetterTo(names[(index + 1) % 3]));
    }
    const [first, second, third] = names.map((queue) => ({ queue, reason: 'rejected' }));
    first.ttl = 600_000;
    await publishByAmqplib(channel, first.queue, 'x', { expiration: '600000' });
    await reject(connection, first.queue);
    let message = await getByAmqplib(channel, second.queue);
    checkHeaders(message, [first]);
    channel.reject(message, false);
    const receiver = await openReceiver(connection, addressOf(third.queue));
    const arrival = await receive(receiver);
    checkDeaths(arrival.message, [second, first]);
    arrival.delivery.modified({ undeliverable_here: true });
    message = await getByAmqplib(channel, first.queue);
    checkHeaders(message, [third, second, first]);
    channel.nack(message, false, false);
    const again = { ...first, count: 2 };
    const last = await nextMessage(connection, second.queue);
    checkDeaths(last, [again, third, second], again);
    assert.equal(last.body.content.toString(), 'x');
});

test('republished_by_amqplib_starts_again', async ({ connection, channel }) => {
    const dead = await declareQueue(channel, 'dead');
    const queue = await declareQueue(channel, 'queue', 'classic', deadLetterTo(dead));
    await publish(connection, addressOf(queue), { body: dataSection(Buffer.from('x')) });
    await reject(connection, queue);
    const { properties, content } = await nextByAmqplib(channel, dead);
    await publishByAmqplib(channel, queue, content, { headers: properties.headers });
    const receiver = await openReceiver(connection, addressOf(queue));
    const { message, delivery } = await receive(receiver);
    assert.equal(message.message_annotations['x-opt-deaths'], undefined);
    assert.equal(message.message_annotations['x-death'][0].queue, queue);
    delivery.reject();
    checkDeaths(await nextMessage(connection, dead), [{ queue, reason: 'rejected' }]);
});
