// Connections, sessions, links and addresses: what is granted and how it is refused.
'use strict';

const assert = require('node:assert/strict');
const { setTimeout: delay } = require('node:timers/promises');
const rhea = require('rhea');
const { accepted, addUser, addVhost, addressOf, arrivals, bodiesIn, checkError, checkUsable, closed,
    connect, declareExchange, declareQueue, drain, eventOf, expectRefusal, nameOf, newSession,
    nextByAmqplib, nextMessage, openReceiver, openSender, publish, publishByAmqplib, receive, released,
    send, test, testPerType, waitForReady } = require('./peer.js');

const { types } = rhea;

// ------------------------------------------------------------------------- connections

test('open_of_the_broker', async ({ connection }) => {
    const { properties } = connection;
    assert.deepEqual(Object.keys(properties).filter((key) => ['node', 'cluster_name', 'copyright',
        'information', 'platform', 'product', 'version'].includes(key)).length, 7);
    assert.equal(properties.product, 'RabbitMQ');
    assert.ok(Number(properties.version.split('.')[0]) >= 4, properties.version);
    assert.deepEqual(connection.offered_capabilities.slice(0, 2), ['LINK_PAIR_V1_0', 'ANONYMOUS-RELAY']);
    assert.deepEqual([connection.max_frame_size, connection.channel_max, connection.idle_time_out],
        [131072, 63, 30000]);
});

test('wrong_password', async () => {
    await assert.rejects(connect({ password: 'wrong' }), (refusal) => {
        assert.match(refusal.message, /Failed to authenticate/);
        return true;
    });
});

test('anonymous_is_guest', async ({ channel }) => {
    const queue = await declareQueue(channel);
    const connection = await connect({ username: 'anonymous', password: undefined });
    await publish(connection, addressOf(queue), { body: 'x', user_id: Buffer.from('guest') });
    assert.deepEqual(await bodiesIn(connection, queue), ['x']);
});

test('vhost_by_hostname', async ({ connection }) => {
    const vhost = await addVhost('vhost');
    const tenant = await addUser('tenant', { configure: '.*', write: '.*', read: '.*' }, vhost);
    const inside = await connect({ ...tenant, hostname: `vhost:${vhost}` });
    const receiver = await openReceiver(inside, { dynamic: true, capabilities: ['temporary-queue'] });
    await publish(inside, receiver.source.address, 'in the vhost');
    const queue = decodeURIComponent(receiver.source.address.slice('/queues/'.length));
    await expectRefusal(openSender(connection, addressOf(queue)), 'amqp:not-found',
        `no queue '${queue}' in vhost '/'`);
    assert.equal((await receive(receiver)).message.body, 'in the vhost');
});

test('unknown_vhost_is_refused', async () => {
    // As RabbitMQ 4.3.6: the socket is closed without a word, and the log says why.
    await assert.rejects(connect({ hostname: 'vhost:no-such-vhost' }), /disconnected/);
});

test('heartbeats_keep_an_idle_connection', async ({ channel }) => {
    const idle = await connect({ idle_time_out: 1000 });
    await delay(3500); // rhea gives up on a broker that is silent for twice that time.
    await checkUsable(idle, channel);
});

// ------------------------------------------------------------------------- credit

testPerType('credit_is_not_exceeded', async ({ connection, channel, kind }) => {
    const queue = await declareQueue(channel, 'queue', kind);
    await publish(connection, addressOf(queue), 0, 1, 2, 3, 4);
    const receiver = await openReceiver(connection, addressOf(queue));
    await checkUsable(connection, channel); // A round trip: what was to come would have come.
    assert.equal(receiver.arrived.length, 0);
    receiver.add_credit(3);
    assert.deepEqual((await arrivals(receiver, 3)).map(({ message }) => message.body), [0, 1, 2]);
    await checkUsable(connection, channel);
    assert.deepEqual([receiver.arrived.length, receiver.credit], [0, 0]);
    await waitForReady(channel, queue, 2);
});

testPerType('drain', async ({ connection, channel, kind }) => {
    const queue = await declareQueue(channel, 'queue', kind);
    const receiver = await openReceiver(connection, addressOf(queue));
    assert.deepEqual(await drain(receiver, 10), []);
    assert.deepEqual([receiver.credit, receiver.delivery_count], [0, 10]);
    await publish(connection, addressOf(queue), '1', '2', '3');
    assert.deepEqual((await drain(receiver, 2)).map(({ message }) => message.body), ['1', '2']);
    assert.deepEqual([receiver.credit, receiver.delivery_count], [0, 12]);
    assert.deepEqual((await drain(receiver, 5)).map(({ message }) => message.body), ['3']);
    assert.deepEqual([receiver.credit, receiver.delivery_count], [0, 17]);
    await publish(connection, addressOf(queue), '4');
    assert.equal((await receive(receiver)).message.body, '4');
});

test('many_links', async ({ connection, channel }) => {
    const queues = [];
    for (let number = 0; number < 10; number++) queues.push(await declareQueue(channel, `queue${number}`));
    const sessions = await Promise.all(Array.from({ length: 5 }, () => newSession(connection)));
    const numbers = Array.from({ length: 120 }, (_, number) => number);
    const receivers = await Promise.all(numbers.map((number) =>
        openReceiver(sessions[number % 5], addressOf(queues[number % 10]))));
    const senders = await Promise.all(numbers.map((number) =>
        openSender(sessions[(number + 1) % 5], addressOf(queues[number % 10]))));
    receivers.forEach((receiver) => receiver.add_credit(2));
    const outcomes = await Promise.all(senders.flatMap((sender) => [1, 2].map((body) => send(sender, { body }))));
    outcomes.forEach((outcome) => assert.deepEqual(outcome, accepted));
    // Twelve receivers of each queue, with credit for two each, and twelve senders of two each.
    const found = (await Promise.all(receivers.map((receiver) => arrivals(receiver, 2)))).flat();
    assert.equal(found.length, 240);
    found.forEach(({ delivery }) => delivery.accept());
    await Promise.all([...receivers, ...senders].map(closed));
    for (const queue of queues) assert.deepEqual(await bodiesIn(connection, queue), []);
});

// ------------------------------------------------------------------------- addresses

test('attach_of_a_receiver', async ({ connection, channel }) => {
    const queue = await declareQueue(channel);
    const { source } = await openReceiver(connection, { address: addressOf(queue),
        filter: { unknown: types.wrap_described('x', 'no:such:filter') } });
    assert.deepEqual([source.address, source.distribution_mode, source.filter ?? null],
        [addressOf(queue), 'move', null]);
    assert.ok(rhea.message.is_released(source.default_outcome), 'the default outcome is released');
    assert.deepEqual(source.outcomes, ['amqp:accepted:list', 'amqp:rejected:list', 'amqp:released:list',
        'amqp:modified:list']);
});

test('missing_queue_and_exchange', async ({ connection, channel }) => {
    const name = nameOf('missing');
    const noQueue = `no queue '${name}' in vhost '/'`;
    await expectRefusal(openReceiver(connection, addressOf(name)), 'amqp:not-found', noQueue);
    await expectRefusal(openSender(connection, addressOf(name)), 'amqp:not-found', noQueue);
    await expectRefusal(openSender(connection, `/exchanges/${name}/k`), 'amqp:not-found',
        `no exchange '${name}' in vhost '/'`);
    await checkUsable(connection, channel);
});

test('bad_addresses', async ({ connection, channel }) => {
    for (const address of ['/queues/', '/queues/a b', '/queues/a/b', '/queues/%zz', 'queue', '/queue/q',
        '/exchanges/', '/exchanges/amq.default/k', '/exchanges/amq.direct/a/b', '/topic/t']) {
        await expectRefusal(openSender(connection, address), 'amqp:invalid-field', /^Attach refused: /);
    }
    for (const address of ['/exchanges/amq.direct/k', '/queue/q', 'q']) {
        await expectRefusal(openReceiver(connection, address), 'amqp:invalid-field', /^Attach refused: /);
    }
    // As RabbitMQ 4.3.6: an empty name is a queue that does not exist.
    await expectRefusal(openReceiver(connection, '/queues/'), 'amqp:not-found', "no queue '' in vhost '/'");
    await checkUsable(connection, channel);
});

test('percent_encoded_names', async ({ connection, channel }) => {
    const queue = await declareQueue(channel, 'a/b c%+ü?&');
    const exchange = await declareExchange(channel, 'direct', 'x/y z');
    await channel.bindQueue(queue, exchange, 'k/ü +%2F');
    await publish(connection, addressOf(queue), 'to the queue');
    await publish(connection, `/exchanges/${encodeURIComponent(exchange)}/${encodeURIComponent('k/ü +%2F')}`,
        'by the key');
    for (const expected of [['to the queue', '', queue], ['by the key', exchange, 'k/ü +%2F']]) {
        const { body, message_annotations: annotations } = await nextMessage(connection, queue);
        assert.deepEqual([body, annotations['x-exchange'], annotations['x-routing-key']], expected);
    }
});

// ------------------------------------------------------------------------- outcomes of what is sent

test('unroutable_is_released', async ({ connection }) => {
    const sender = await openSender(connection, `/exchanges/amq.direct/${nameOf('nobody')}`);
    assert.deepEqual(await send(sender, { body: 'x' }), released);
});

testPerType('full_queue_rejects', async ({ connection, channel, kind }) => {
    const queue = await declareQueue(channel, 'queue', kind,
        { 'x-max-length': 1, 'x-overflow': 'reject-publish' });
    const sender = await openSender(connection, addressOf(queue));
    // A quorum queue refuses only once it is over its limit.
    const fitting = kind === 'classic' ? [0] : [0, 1];
    for (const body of fitting) assert.deepEqual(await send(sender, { body }), accepted);
    const { outcome, error } = await send(sender, { body: 'too much' });
    assert.equal(outcome, 'rejected');
    checkError(error, 'amqp:resource-limit-exceeded', `queue '${queue}' exceeded maximum length`);
    assert.deepEqual(error.info, { queue, reason: 'maxlen' });
    assert.deepEqual(await bodiesIn(connection, queue), fitting);
});

test('anonymous_sender', async ({ connection, channel }) => {
    const exchange = await declareExchange(channel, 'topic');
    const queue = await declareQueue(channel);
    await channel.bindQueue(queue, exchange, 'a.*');
    const sender = await openSender(connection, null);
    const to = `/exchanges/${exchange}/a.b`;
    assert.deepEqual(await send(sender, { to, body: '1' }), accepted);
    assert.deepEqual(await send(sender, { to: addressOf(queue), body: '2' }), accepted);
    assert.deepEqual(await send(sender, { to: `/exchanges/${exchange}/b`, body: 'x' }), released);
    for (const [wrong, condition, description] of [
        [{}, 'amqp:precondition-failed', "anonymous terminus requires 'to' address to be set"],
        [{ to: 'nonsense' }, 'amqp:precondition-failed', /^bad 'to' address string: /],
        [{ to: '/exchanges/missing.exchange' }, 'amqp:not-found',
            "no exchange 'missing.exchange' in vhost '/'"]]) {
        const { outcome, error } = await send(sender, { ...wrong, body: 'x' });
        assert.equal(outcome, 'rejected');
        checkError(error, condition, description);
    }
    assert.deepEqual(await bodiesIn(connection, queue), ['1', '2']);
});

test('queue_deleted_under_a_receiver', async ({ connection, channel }) => {
    for (const kind of ['classic', 'quorum']) {
        const queue = await declareQueue(channel, 'queue', kind);
        const receiver = await openReceiver(connection, addressOf(queue));
        receiver.add_credit(1);
        const detached = eventOf(receiver, 'receiver_error');
        await channel.deleteQueue(queue);
        await detached;
        checkError(receiver.error, 'amqp:resource-deleted', `queue '${queue}' in vhost '/' was deleted`);
    }
    await checkUsable(connection, channel);
});

test('exchange_deleted_under_a_sender', async ({ connection, channel }) => {
    const exchange = await declareExchange(channel, 'fanout');
    const sender = await openSender(connection, `/exchanges/${exchange}`);
    await channel.deleteExchange(exchange);
    const detached = eventOf(sender, 'sender_error');
    assert.deepEqual(await send(sender, { body: 'x' }), released);
    await detached;
    checkError(sender.error, 'amqp:not-found', `no exchange '${exchange}' in vhost '/'`);
});

test('bad_messages_detach', async ({ connection, channel }) => {
    const queue = await declareQueue(channel);
    for (const [message, condition, description] of [
        [{ user_id: Buffer.from('somebody') }, 'amqp:unauthorized-access',
            "user_id property set to 'somebody' but authenticated user was 'guest'"],
        [{ message_annotations: { own: 1 } }, 'amqp:decode-error', /reserved_annotation_key/],
        [{ message_annotations: { 'x-cc': 'no list' } }, 'amqp:invalid-field',
            /^bad value for 'x-cc' message-annotation: /]]) {
        const sender = await openSender(connection, addressOf(queue));
        sender.send({ body: 'x', ...message });
        await eventOf(sender, 'sender_error');
        checkError(sender.error, condition, description);
    }
    assert.deepEqual(await bodiesIn(connection, queue), []);
});

// ------------------------------------------------------------------------- permissions

test('permissions_end_the_session', async ({ channel }) => {
    const queue = await declareQueue(channel);
    const user = await addUser('stranger', { write: 'amq\\.topic' });
    const stranger = await connect(user);
    const refused = async (open, text) => expectRefusal(open(await newSession(stranger)),
        'amqp:unauthorized-access', `${text} in vhost '/' refused for user '${user.username}'`);
    await refused((session) => openReceiver(session, addressOf(queue)), `read access to queue '${queue}'`);
    await refused((session) => openSender(session, '/exchanges/amq.direct'),
        "write access to exchange 'amq.direct'");
    await refused((session) => openSender(session, addressOf(queue)), "write access to exchange 'amq.default'");
    const session = await newSession(stranger);
    const sender = await openSender(session, null);
    assert.deepEqual(await send(sender, { to: '/exchanges/amq.topic/nobody', body: 'x' }), released);
    sender.send({ to: '/exchanges/amq.direct/k', body: 'x' });
    await eventOf(session, 'session_error');
    checkError(session.error, 'amqp:unauthorized-access', "write access to exchange 'amq.direct' in "
        + `vhost '/' refused for user '${user.username}'`);
});

// ------------------------------------------------------------------------- dynamic nodes

test('dynamic_source', async ({ connection }) => {
    const receiver = await openReceiver(connection, { dynamic: true, capabilities: ['temporary-queue'] });
    const { address } = receiver.source;
    assert.match(address, /^\/queues\/amq\.dyn-./);
    assert.equal(receiver.source.expiry_policy, 'link-detach');
    await publish(connection, address, 'to a temporary queue');
    assert.equal((await receive(receiver)).message.body, 'to a temporary queue');
    await closed(receiver);
    await expectRefusal(openSender(connection, address), 'amqp:not-found', /^no queue 'amq\.dyn-/);
});

test('other_dynamic_source_is_refused', async ({ connection, channel }) => {
    await expectRefusal(openReceiver(connection, { dynamic: true }), 'amqp:not-implemented',
        /^Dynamic source not supported/);
    await checkUsable(connection, channel);
});

const forReplies = { dynamic: true, expiry_policy: 'link-detach', capabilities: ['rabbitmq:volatile-queue'] };

test('direct_reply_to', async ({ connection, channel }) => {
    const queue = await declareQueue(channel);
    const replies = await openReceiver(connection, forReplies, { snd_settle_mode: 1 });
    replies.add_credit(2);
    const { address } = replies.source;
    assert.match(address, /^\/queues\/amq\.rabbitmq\.reply-to\../);
    await publish(connection, addressOf(queue), { body: 'ping', reply_to: address, correlation_id: 'c1' });
    const responder = await connect();
    const request = await nextMessage(responder, queue);
    assert.equal(request.reply_to, address);
    await publish(responder, request.reply_to, { body: `${request.body} pong`, correlation_id: 'c1' });
    const [{ message }] = await arrivals(replies, 1);
    assert.deepEqual([message.body, message.correlation_id], ['ping pong', 'c1']);
});

test('direct_reply_by_amqplib', async ({ connection, channel }) => {
    const queue = await declareQueue(channel);
    const replies = await openReceiver(connection, forReplies, { snd_settle_mode: 1 });
    replies.add_credit(2);
    await publish(connection, addressOf(queue), { body: rhea.message.data_section(Buffer.from('ping')),
        reply_to: replies.source.address, correlation_id: 'c1' });
    const { properties, content } = await nextByAmqplib(channel, queue);
    assert.match(properties.replyTo, /^amq\.rabbitmq\.reply-to\../);
    await publishByAmqplib(channel, properties.replyTo, `${content} pong`, { correlationId: 'c1' });
    const [{ message }] = await arrivals(replies, 1);
    assert.deepEqual([message.body.content.toString(), message.correlation_id], ['ping pong', 'c1']);
});
