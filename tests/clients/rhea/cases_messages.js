// Messages and their outcomes, from and to both protocols.
'use strict';

const assert = require('node:assert/strict');
const rhea = require('rhea');
const { accepted, addressOf, arrivals, bodiesIn, checkError, connect, deadLetterTo, declareExchange,
    declareQueue, eventOf, expectRefusal, messageBytesMax, newSession, nextByAmqplib, nextMessage,
    openReceiver, openSender, publish, publishByAmqplib, receive, send, test, testPerType,
    typedAnnotations, waitForReady } = require('./peer.js');

const { types, message: { data_section: dataSection, data_sections: dataSections,
    sequence_section: sequenceSection } } = rhea;

const bytes = (size) => Buffer.from(Uint8Array.from({ length: size }, (_, index) => index % 251));
const isSettled = ({ delivery }) => delivery.remote_settled;

// ------------------------------------------------------------------------- settlement

test('send_unsettled_is_accepted', async ({ connection, channel }) => {
    const queue = await declareQueue(channel);
    const sender = await openSender(connection, addressOf(queue));
    assert.equal(sender.snd_settle_mode, 0);
    assert.equal(sender.credit, 170);
    assert.deepEqual(await send(sender, { body: dataSection(Buffer.from('one')) }), accepted);
    assert.equal((await channel.get(queue, { noAck: true })).content.toString(), 'one');
});

test('send_settled_arrives', async ({ connection, channel }) => {
    const queue = await declareQueue(channel);
    const sender = await openSender(connection, addressOf(queue), { snd_settle_mode: 1 });
    assert.equal(sender.snd_settle_mode, 1);
    for (const body of ['1', '2', '3']) assert.equal(sender.send({ body }).settled, true);
    await waitForReady(channel, queue, 3);
    assert.deepEqual(await bodiesIn(connection, queue), ['1', '2', '3']);
});

testPerType('receive_unsettled', async ({ connection, channel, kind }) => {
    const queue = await declareQueue(channel, 'queue', kind);
    await publish(connection, addressOf(queue), 'one');
    const receiver = await openReceiver(connection, addressOf(queue), { snd_settle_mode: 0 });
    assert.equal(receiver.snd_settle_mode, 0);
    const arrival = await receive(receiver);
    assert.deepEqual([arrival.message.body, isSettled(arrival)], ['one', false]);
    connection.close();
    const again = await nextMessage(await connect(), queue);
    assert.deepEqual([again.body, again.first_acquirer], ['one', false]);
});

testPerType('receive_settled', async ({ connection, channel, kind }) => {
    const queue = await declareQueue(channel, 'queue', kind);
    await publish(connection, addressOf(queue), 'one', 'two');
    const receiver = await openReceiver(connection, addressOf(queue), { snd_settle_mode: 1 });
    assert.equal(receiver.snd_settle_mode, 1);
    const arrival = await receive(receiver);
    assert.deepEqual([arrival.message.body, isSettled(arrival)], ['one', true]);
    connection.close();
    assert.deepEqual(await bodiesIn(await connect(), queue), ['two']);
});

test('order_and_outcomes_of_a_burst', async ({ connection, channel }) => {
    const queue = await declareQueue(channel);
    const count = 1500;
    const sender = await openSender(connection, addressOf(queue));
    const outcomes = await Promise.all(Array.from({ length: count }, (_, body) => send(sender, { body })));
    assert.deepEqual(new Set(outcomes.map(({ outcome }) => outcome)), new Set(['accepted']));
    const receiver = await openReceiver(connection, addressOf(queue));
    receiver.add_credit(count);
    const found = await arrivals(receiver, count);
    assert.deepEqual(found.map(({ message }) => message.body), Array.from({ length: count }, (_, i) => i));
    found.forEach(({ delivery }) => delivery.accept());
    await waitForReady(channel, queue, 0);
});

// ------------------------------------------------------------------------- contents of a message

test('message_echo', async ({ connection, channel }) => {
    const queue = await declareQueue(channel);
    const sent = { durable: false, priority: 3, ttl: 600_000, message_id: 'm1',
        user_id: Buffer.from('guest'), to: '/queues/elsewhere', subject: 'about',
        reply_to: '/queues/replies', correlation_id: 'c1', content_type: 'text/plain',
        content_encoding: 'gzip', absolute_expiry_time: new Date(1900000000000),
        creation_time: new Date(1700000000123), group_id: 'g1', group_sequence: 3,
        reply_to_group_id: 'g2', application_properties: { text: 'a', yes: true, no: false, number: 7 },
        body: { k: [1, 'two'] } };
    await publish(connection, addressOf(queue), sent);
    const { message_annotations: annotations, ...received } = (await nextMessage(connection, queue)).toJSON();
    assert.deepEqual(received, { ...sent, first_acquirer: true, delivery_count: 0 });
    assert.deepEqual(annotations, { 'x-exchange': '', 'x-routing-key': queue });
});

test('durable_true_and_false', async ({ connection, channel }) => {
    const queue = await declareQueue(channel);
    for (const durable of [true, false]) {
        await publish(connection, addressOf(queue), { durable, body: 'x' });
        assert.equal((await nextMessage(connection, queue)).durable, durable);
        await publish(connection, addressOf(queue), { durable, body: 'x' });
        assert.equal((await nextByAmqplib(channel, queue)).properties.deliveryMode, durable ? 2 : 1);
    }
});

test('annotation_types_echo', async ({ connection, channel }) => {
    const queue = await declareQueue(channel);
    await publish(connection, addressOf(queue), { body: 'x', message_annotations: {
        'x-string': 'a', 'x-symbol': types.wrap_symbol('s'), 'x-ulong': types.wrap_ulong(300),
        'x-long': types.wrap_long(-5), 'x-ubyte': types.wrap_ubyte(200), 'x-true': true,
        'x-timestamp': types.wrap_timestamp(1700000000001), 'x-list': [types.wrap_int(1), 'two'],
        'x-array': types.wrap_array(['a', 'b'], 0xa1), 'x-map': { k: types.wrap_ushort(9) } } });
    assert.deepEqual(typedAnnotations(await nextMessage(connection, queue)), {
        'x-string': 'string:a', 'x-symbol': 'symbol:s', 'x-ulong': 'ulong:300', 'x-long': 'long:-5',
        'x-ubyte': 'ubyte:200', 'x-true': 'boolean:true', 'x-timestamp': 'timestamp:1700000000001',
        'x-list': ['int:1', 'string:two'], 'x-array': { string: ['string:a', 'string:b'] },
        'x-map': [['string:k', 'ushort:9']], 'x-exchange': 'string:', 'x-routing-key': `string:${queue}` });
});

test('body_kinds', async ({ connection, channel }) => {
    const queue = await declareQueue(channel);
    for (const body of ['', 'text', true, null, 0.5, -5, Buffer.from([0, 255]), [1, 'two', [null]],
        { k: { inner: true } }, dataSection(bytes(300)), dataSection(Buffer.alloc(0)),
        dataSections([bytes(10), bytes(70_000)]), sequenceSection(['a', 1])]) {
        await publish(connection, addressOf(queue), { body });
        assert.deepEqual((await nextMessage(connection, queue)).body, body);
    }
});

test('bare_message_is_byte_identical', async ({ connection, channel }) => {
    const queue = await declareQueue(channel);
    const message = { message_id: types.wrap_uuid(bytes(16)), subject: 's', body: dataSection(bytes(999)),
        application_properties: { p: types.wrap_float(1.5) } };
    const footer = Buffer.from('\x00\x53\x78\xc1\x0d\x02\xa3\x05x-sum\xa1\x03abc', 'latin1');
    const encoded = Buffer.concat([rhea.message.encode(message), footer]);
    const sender = await openSender(connection, addressOf(queue));
    assert.deepEqual(await new Promise((resolve) =>
        sender.outcomes.set(sender.send(encoded, undefined, 0), resolve)), accepted);
    const received = (await nextMessage(connection, queue)).encoded;
    const from = (whole) => whole.subarray(whole.indexOf(Buffer.from([0x00, 0x53, 0x73])));
    assert.ok(from(received).length > 999);
    assert.ok(from(received).equals(from(encoded)));
});

testPerType('largest_message', async ({ connection, channel, kind }) => {
    const queue = await declareQueue(channel, 'queue', kind);
    const overhead = rhea.message.encode({ body: dataSection(Buffer.alloc(1000)) }).length - 1000;
    // The length of a longer binary takes three bytes more.
    const body = Buffer.alloc(messageBytesMax - overhead, 'the quick brown fox ');
    const message = { body: dataSection(body) };
    assert.equal(rhea.message.encode(message).length, messageBytesMax);
    await publish(connection, addressOf(queue), message);
    const received = await nextMessage(connection, queue);
    assert.ok(received.body.content.equals(body), 'the body changed');
});

test('too_large_message_ends_session', async ({ connection, channel }) => {
    const queue = await declareQueue(channel);
    const session = await newSession(connection);
    const sender = await openSender(session, addressOf(queue));
    assert.equal(sender.max_message_size, messageBytesMax);
    sender.send(Buffer.alloc(messageBytesMax + 1), undefined, 0);
    await eventOf(session, 'session_error');
    checkError(session.error, 'amqp:link:message-size-exceeded',
        'message size (16777217 bytes) > maximum message size (16777216 bytes)');
    await publish(connection, addressOf(queue), 'fits');
    assert.deepEqual(await bodiesIn(connection, queue), ['fits']);
});

testPerType('small_frames', async ({ channel, kind }) => {
    const queue = await declareQueue(channel, 'queue', kind);
    const connection = await connect({ max_frame_size: 512 });
    for (const size of [300, 600, 5_000, 500_000]) {
        await publish(connection, addressOf(queue), { body: dataSection(bytes(size)) });
        const { body } = await nextMessage(connection, queue);
        assert.ok(body.content.equals(bytes(size)), `a body of ${size} bytes changed`);
    }
});

// ------------------------------------------------------------------------- to and from 0-9-1

test('to_amqplib', async ({ connection, channel }) => {
    const queue = await declareQueue(channel);
    await publish(connection, addressOf(queue), { durable: true, priority: 3, ttl: 600_000,
        message_id: 'm1', correlation_id: types.wrap_ulong(7), user_id: Buffer.from('guest'),
        content_type: 'text/plain', content_encoding: 'gzip', creation_time: new Date(1700000000999),
        group_id: 'app', reply_to: '/queues/r%2F1', subject: 'dropped', to: 'dropped',
        application_properties: { text: 'a', int: types.wrap_int(-5), float: types.wrap_float(0.5),
            double: 0.1, ubyte: types.wrap_ubyte(200), ushort: types.wrap_ushort(60000),
            uint: types.wrap_uint(4000000000), yes: true, nothing: null,
            time: types.wrap_timestamp(1700000000999), symbol: types.wrap_symbol('s') },
        message_annotations: { 'x-note': 'n', 'x-count': types.wrap_ulong(4), 'x-flag': true },
        body: dataSections([Buffer.from('pay'), Buffer.from('load')]) });
    const { fields, properties, content } = await nextByAmqplib(channel, queue);
    assert.deepEqual([fields.exchange, fields.routingKey, content.toString()], ['', queue, 'payload']);
    const { headers, ...rest } = properties;
    assert.deepEqual({ ...headers }, { text: 'a', int: -5, float: 0.5, double: 0.1, ubyte: 200,
        ushort: 60000, uint: 4000000000, yes: true, nothing: null, symbol: 's',
        time: { '!': 'timestamp', value: 1700000000 }, 'x-note': 'n', 'x-count': 4, 'x-flag': true });
    assert.deepEqual(rest, { deliveryMode: 2, priority: 3, expiration: '600000', messageId: 'm1',
        correlationId: '7', userId: 'guest', contentType: 'text/plain', contentEncoding: 'gzip',
        timestamp: 1700000000, appId: 'app', replyTo: 'r/1', type: undefined, clusterId: undefined });
});

test('from_amqplib', async ({ connection, channel }) => {
    const queue = await declareQueue(channel);
    await publishByAmqplib(channel, queue, 'payload', { deliveryMode: 2, priority: 3,
        expiration: '600000', messageId: 'm1', correlationId: 'c1', userId: 'guest',
        contentType: 'text/plain', contentEncoding: 'gzip', timestamp: 1700000000, appId: 'app',
        replyTo: 'r/1', type: 'kind', CC: ['copy'],
        headers: { text: 'a', int: -5, double: 0.1, yes: true, nothing: null, list: [1], table: { k: 1 },
            'x-b': 'yes', 'x-list': ['two'], 'x-table': { k: 'v' } } });
    const message = await nextMessage(connection, queue);
    assert.deepEqual(typedAnnotations(message), { 'x-b': 'string:yes', 'x-list': ['string:two'],
        'x-table': [['symbol:k', 'string:v']], 'x-cc': ['string:copy'], 'x-basic-type': 'string:kind',
        'x-exchange': 'string:', 'x-routing-key': `string:${queue}` });
    const { message_annotations: _, body, ...rest } = message.toJSON();
    assert.equal(body.typecode, 0x75);
    assert.equal(body.content.toString(), 'payload');
    assert.deepEqual(rest, { durable: true, priority: 3, ttl: 600_000, first_acquirer: true,
        delivery_count: 0, message_id: 'm1', correlation_id: 'c1', user_id: Buffer.from('guest'),
        content_type: 'text/plain', content_encoding: 'gzip', creation_time: new Date(1700000000000),
        group_id: 'app', reply_to: '/queues/r%2F1',
        application_properties: { text: 'a', int: -5, double: 0.1, yes: 1, nothing: null } }); // rhea reads 0x56 as a number
});

test('values_to_amqplib_and_back', async ({ connection, channel }) => {
    const queue = await declareQueue(channel);
    await publish(connection, addressOf(queue), { body: sequenceSection(['a', 1]) });
    const { properties, content } = await nextByAmqplib(channel, queue);
    assert.equal(properties.type, 'amqp-1.0');
    await publishByAmqplib(channel, queue, content, { type: 'amqp-1.0' });
    const { body } = await nextMessage(connection, queue);
    assert.deepEqual([body.typecode, body.content], [0x76, ['a', 1]]);
});

test('exchange_and_key_reach_both_protocols', async ({ connection, channel }) => {
    const exchange = await declareExchange(channel, 'topic');
    const queue = await declareQueue(channel);
    await channel.bindQueue(queue, exchange, 'order.#');
    await publish(connection, `/exchanges/${exchange}/order.eu`, 'by rhea');
    const { fields } = await nextByAmqplib(channel, queue);
    assert.deepEqual([fields.exchange, fields.routingKey], [exchange, 'order.eu']);
    channel.publish(exchange, 'order.us', Buffer.from('by amqplib'));
    const { message_annotations: annotations } = await nextMessage(connection, queue);
    assert.deepEqual(annotations, { 'x-exchange': exchange, 'x-routing-key': 'order.us' });
});

// ------------------------------------------------------------------------- outcomes

// The fields that describe earlier deliveries: [first acquirer, failed deliveries, annotations].
function counts(message) {
    const { 'x-exchange': _, 'x-routing-key': __, ...annotations } = message.message_annotations;
    return [message.first_acquirer, message.delivery_count, annotations];
}

function expectedCounts(kind, acquired, failed) {
    if (kind === 'classic') return [false, failed, {}];
    return [false, failed, { 'x-acquired-count': acquired, ...(failed && { 'x-delivery-count': failed }) }];
}

async function settleTwice({ connection, channel, kind }, settle) {
    const queue = await declareQueue(channel, 'queue', kind);
    await publish(connection, addressOf(queue), 'again', 'next');
    const receiver = await openReceiver(connection, addressOf(queue));
    const seen = [];
    for (let round = 0; round < 3; round++) {
        const { message, delivery } = await receive(receiver);
        seen.push(counts(message));
        assert.equal(message.body, 'again');
        if (round < 2) settle(delivery);
        else delivery.accept();
    }
    assert.equal((await receive(receiver)).message.body, 'next');
    assert.deepEqual(seen[0], [true, 0, {}]);
    return seen;
}

testPerType('released_comes_back', async (peers) => {
    const seen = await settleTwice(peers, (delivery) => delivery.release());
    assert.deepEqual(seen.slice(1), [expectedCounts(peers.kind, 1, 0), expectedCounts(peers.kind, 2, 0)]);
});

testPerType('modified_comes_back', async (peers) => {
    const seen = await settleTwice(peers, (delivery) => delivery.modified({}));
    assert.deepEqual(seen.slice(1), [expectedCounts(peers.kind, 1, 0), expectedCounts(peers.kind, 2, 0)]);
});

testPerType('modified_delivery_failed_is_counted', async (peers) => {
    const seen = await settleTwice(peers, (delivery) => delivery.modified({ delivery_failed: true }));
    assert.deepEqual(seen.slice(1), [expectedCounts(peers.kind, 1, 1), expectedCounts(peers.kind, 2, 2)]);
});

async function settleToDeath({ connection, channel, kind }, settle) {
    const dead = await declareQueue(channel, 'dead', kind);
    const queue = await declareQueue(channel, 'queue', kind, deadLetterTo(dead));
    await publish(connection, addressOf(queue), 'poison');
    const receiver = await openReceiver(connection, addressOf(queue));
    settle((await receive(receiver)).delivery);
    const message = await nextMessage(connection, dead);
    assert.equal(message.body, 'poison');
    assert.equal(message.message_annotations['x-last-death-reason'], 'rejected');
    assert.deepEqual(await bodiesIn(connection, queue), []);
    return message;
}

testPerType('rejected_with_error', async (peers) => {
    const message = await settleToDeath(peers, (delivery) => delivery.reject(
        { condition: 'app:bad-order', description: 'order 7 has no items' }));
    assert.equal(message.delivery_count, 1);
    const annotations = typedAnnotations(message);
    assert.equal(annotations['x-opt-death-error-condition'], 'symbol:app:bad-order');
    assert.equal(annotations['x-opt-death-error-description'], 'string:order 7 has no items');
});

testPerType('modified_undeliverable_here_dies', async (peers) => {
    const message = await settleToDeath(peers, (delivery) => delivery.modified({ undeliverable_here: true }));
    assert.equal(message.delivery_count, 0);
});

testPerType('modified_with_both_flags_dies', async (peers) => {
    const message = await settleToDeath(peers, (delivery) => delivery.modified(
        { undeliverable_here: true, delivery_failed: true }));
    assert.equal(message.delivery_count, 1);
});

testPerType('annotations_of_modified', async ({ connection, channel, kind }) => {
    const queue = await declareQueue(channel, 'queue', kind);
    await publish(connection, addressOf(queue), { body: 'x',
        message_annotations: { 'x-own': 'kept', 'x-opt-text': 'old' } });
    const receiver = await openReceiver(connection, addressOf(queue));
    (await receive(receiver)).delivery.modified({ message_annotations: { 'x-opt-text': 'why',
        'x-opt-list': [types.wrap_int(1)], 'x-opt-count': types.wrap_ulong(3) } });
    const { message } = await receive(receiver);
    const { 'x-exchange': _, 'x-routing-key': __, ...annotations } = typedAnnotations(message);
    assert.deepEqual(annotations, kind === 'classic'
        ? { 'x-own': 'string:kept', 'x-opt-text': 'string:old' }
        : { 'x-own': 'string:kept', 'x-opt-text': 'string:why', 'x-opt-list': ['int:1'],
            'x-opt-count': 'ulong:3', 'x-acquired-count': 'long:1' });
});

test('broker_settles_what_the_client_does_not', async ({ connection, channel }) => {
    const queue = await declareQueue(channel);
    await publish(connection, addressOf(queue), 'x');
    const receiver = await openReceiver(connection, addressOf(queue));
    const { delivery } = await receive(receiver);
    delivery.update(false, rhea.message.accepted().described());
    await eventOf(receiver, 'settled');
    assert.equal(delivery.remote_state.constructor.composite_type, 'accepted');
    assert.deepEqual(await bodiesIn(await connect(), queue), []);
});

test('received_is_no_outcome', async ({ connection, channel }) => {
    const queue = await declareQueue(channel);
    await publish(connection, addressOf(queue), 'x');
    const session = await newSession(connection);
    const { delivery } = await receive(await openReceiver(session, addressOf(queue)));
    delivery.update(false, rhea.message.received({ section_number: 0, section_offset: 0 }).described());
    await eventOf(session, 'session_error');
    checkError(session.error, 'amqp:invalid-field', 'Unrecognised state: received in DISPOSITION');
});

test('expected_refusal_can_fail', async ({ connection, channel }) => {
    // Tests the function that many cases rely on: it must detect success and other refusals.
    const queue = await declareQueue(channel);
    await assert.rejects(expectRefusal(openSender(connection, addressOf(queue)), 'amqp:not-found', 'x'),
        /Missing expected rejection/);
    await assert.rejects(expectRefusal(openSender(connection, '/queues/'), 'amqp:not-found', 'x'),
        { code: 'ERR_ASSERTION' });
});
