// The /management link pair: requests that declare, bind, get and delete, and their refusals.
'use strict';

const assert = require('node:assert/strict');
const { setImmediate, setTimeout } = require('node:timers/promises');
const rhea = require('rhea');
const { addUser, addressOf, arrivals, checkError, checkUsable, connect, createdExchanges, createdQueues,
    declareExchange, declareQueue, eventOf, expectRefusal, nameOf, newSession, openReceiver, openSender,
    publish, test } = require('./peer.js');

const { types } = rhea;
const paired = { name: 'management-link-pair', snd_settle_mode: 1, properties: { paired: true } };

function owned(list, suffix) {
    const name = nameOf(suffix);
    list.push(name);
    return name;
}

class Management {
    static async open(connection, credit = 10) {
        const management = new Management();
        management.session = await newSession(connection);
        management.requests = await openSender(management.session, '/management', { source: '$me', ...paired });
        // rhea identifies the links of a session by name alone, but the two links of the pair share one name.
        management.session.links.requests = management.requests;
        management.responses = await openReceiver(management.session, '/management', { target: '$me', ...paired });
        if (credit) {
            management.responses.add_credit(credit);
            await setImmediate(); // rhea writes transfers before credit that was granted earlier.
        }
        management.number = 0;
        return management;
    }

    send(subject, to, body = null) {
        this.number += 1;
        this.requests.send({ message_id: this.number, to, subject, reply_to: '$me', body });
    }

    // [status, body] of the response.
    async ask(...request) {
        this.send(...request);
        const [{ message, delivery }] = await arrivals(this.responses, 1);
        this.responses.add_credit(1);
        assert.equal(delivery.remote_settled, true);
        assert.equal(message.correlation_id, this.number);
        assert.deepEqual(message.application_properties, { 'http:response': '1.1' });
        return [message.subject, message.body];
    }
}

test('declare_quorum_queue', async ({ connection }) => {
    const management = await Management.open(connection);
    const queue = owned(createdQueues, 'queue');
    const wish = { durable: true, arguments: { 'x-queue-type': 'quorum', 'x-max-length': types.wrap_ulong(5) } };
    const [status, { leader, replicas, ...body }] = await management.ask('PUT', addressOf(queue), wish);
    assert.equal(status, '201');
    // Booleans are type and octet (0x56), which rhea reads as numbers; clients rely on that.
    assert.deepEqual(body, { name: queue, vhost: '/', durable: 1, auto_delete: 0, exclusive: 0,
        type: 'quorum', arguments: { 'x-queue-type': 'quorum', 'x-max-length': 5 }, message_count: 0,
        consumer_count: 0 });
    assert.deepEqual(replicas, [leader]);
    assert.equal((await management.ask('PUT', addressOf(queue), wish))[0], '200');
    const [refused, text] = await management.ask('PUT', addressOf(queue),
        { arguments: { ...wish.arguments, 'x-queue-type': 'classic' } });
    assert.equal(refused, '409');
    assert.match(text, /^inequivalent arg 'x-queue-type' for queue 'clients\.rhea\.queue' in vhost '\/': /);
});

test('get_purge_and_delete_queue', async ({ connection, channel }) => {
    const management = await Management.open(connection);
    const queue = await declareQueue(channel, 'a/b c');
    await publish(connection, addressOf(queue), '1', '2');
    const [status, body] = await management.ask('GET', addressOf(queue));
    assert.deepEqual([status, body.name, body.type, body.message_count], ['200', queue, 'classic', 2]);
    assert.deepEqual(await management.ask('DELETE', `${addressOf(queue)}/messages`),
        ['200', { message_count: 2 }]);
    await publish(connection, addressOf(queue), '3');
    assert.deepEqual(await management.ask('DELETE', addressOf(queue)), ['200', { message_count: 1 }]);
    assert.deepEqual(await management.ask('DELETE', addressOf(queue)), ['200', { message_count: 0 }]);
    assert.deepEqual(await management.ask('GET', addressOf(queue)),
        ['404', `queue '${queue}' in vhost '/' not found`]);
    assert.equal((await management.ask('DELETE', `${addressOf(queue)}/messages`))[0], '404');
});

test('deletion_is_answered_before_links_end', async ({ connection, channel }) => {
    const management = await Management.open(connection);
    const queue = await declareQueue(channel);
    const order = [];
    management.responses.on('message', () => order.push('answer'));
    for (const link of [await openReceiver(management.session, addressOf(queue)),
        await openSender(management.session, addressOf(queue))]) {
        link.on(link.is_receiver() ? 'receiver_error' : 'sender_error', () => order.push(link.error.condition));
    }
    assert.deepEqual(await management.ask('DELETE', addressOf(queue)), ['200', { message_count: 0 }]);
    for (let i = 0; i < 100 && order.length < 3; i += 1) await setTimeout(20);
    assert.deepEqual(order, ['answer', 'amqp:resource-deleted', 'amqp:resource-deleted']);
});

test('bad_requests_are_refused', async ({ connection }) => {
    const management = await Management.open(connection);
    const queue = nameOf('refused');
    assert.deepEqual(await management.ask('PUT', '/queues/amq.mine', {}),
        ['403', "queue 'amq.mine' in vhost '/' starts with reserved prefix 'amq.'"]);
    for (const [expected, verb, path, body, text] of [
        ['400', 'PUT', addressOf(queue), { colour: 'blue' }, /^bad queue property/],
        ['409', 'PUT', addressOf(queue), { arguments: { 'x-message-ttl': 'soon' } },
            /invalid arg 'x-message-ttl'/],
        ['400', 'PUT', '/queues/', {}, /./], ['400', 'PUT', '/queues/%zz', {}, /./],
        ['400', 'PUT', `/exchanges/${queue}`, { type: 'odd' }, /unknown exchange type 'odd'/],
        ['403', 'PUT', '/exchanges/amq.mine', {}, /starts with reserved prefix 'amq\.'/],
        ['400', 'POST', '/bindings', { source: 'amq.direct', binding_key: '', arguments: {} }, /./],
        ['400', 'POST', '/bindings', { source: 'amq.direct', destination_queue: queue, binding_key: '',
            arguments: {} }, /^no queue 'clients\.rhea\.refused' in vhost '\/'$/],
        ['404', 'GET', '/nothing/here', null, /./], ['404', 'GET', addressOf(queue), null, /not found$/]]) {
        const [status, reason] = await management.ask(verb, path, body);
        assert.equal(status, expected, `${verb} ${path}: ${reason}`);
        assert.match(reason, text);
    }
});

test('exchanges_by_management', async ({ connection, channel }) => {
    const management = await Management.open(connection);
    const exchange = owned(createdExchanges, 'exchange');
    for (let round = 0; round < 2; round++) {
        assert.deepEqual(await management.ask('PUT', `/exchanges/${exchange}`, { type: 'topic' }), ['204', null]);
    }
    await channel.checkExchange(exchange);
    const [status, text] = await management.ask('PUT', `/exchanges/${exchange}`, { type: 'fanout' });
    assert.equal(status, '409');
    assert.match(text, /^inequivalent arg 'type' for exchange /);
    for (let round = 0; round < 2; round++) {
        assert.deepEqual(await management.ask('DELETE', `/exchanges/${exchange}`), ['204', null]);
    }
});

test('bind_list_and_unbind', async ({ connection, channel }) => {
    const management = await Management.open(connection);
    const queue = await declareQueue(channel, 'a/b;c');
    const exchange = await declareExchange(channel, 'headers', 'x&y');
    const ends = { source: exchange, destination_queue: queue, binding_key: 'k/1' };
    const encoded = [exchange, queue, 'k/1'].map(encodeURIComponent);
    for (const bindingArguments of [{}, { 'x-match': 'all', kind: 'pdf' }]) {
        assert.deepEqual(await management.ask('POST', '/bindings', { ...ends, arguments: bindingArguments }),
            ['204', null]);
    }
    const query = `/bindings?src=${encoded[0]}&dstq=${encoded[1]}&key=${encoded[2]}`;
    const location = `/bindings/src=${encoded[0]};dstq=${encoded[1]};key=${encoded[2]};args=`;
    const [status, listed] = await management.ask('GET', query);
    assert.equal(status, '200');
    const plain = listed.find((binding) => !binding.arguments.kind);
    const withArguments = listed.find((binding) => binding.arguments.kind === 'pdf');
    assert.deepEqual(plain, { ...ends, arguments: {}, location });
    assert.equal(listed.length, 2);
    assert.match(withArguments.location, /;args=[A-Za-z0-9_-]+$/);
    assert.deepEqual(await management.ask('DELETE', location), ['204', null]);
    assert.deepEqual(await management.ask('GET', query), ['200', [withArguments]]);
    assert.deepEqual(await management.ask('DELETE', withArguments.location), ['204', null]);
    assert.deepEqual(await management.ask('GET', query), ['200', []]);
    assert.deepEqual(await management.ask('DELETE', withArguments.location), ['204', null]);
});

test('configure_refused_ends_session', async () => {
    const user = await addUser('observer', { read: '.*' });
    const management = await Management.open(await connect(user));
    const queue = nameOf('forbidden');
    management.send('PUT', addressOf(queue), {});
    await eventOf(management.session, 'session_error');
    checkError(management.session.error, 'amqp:unauthorized-access',
        `configure access to queue '${queue}' in vhost '/' refused for user '${user.username}'`);
});

test('unpaired_link_is_refused', async ({ connection, channel }) => {
    const text = "Link property 'paired' is not set to boolean value 'true'";
    await expectRefusal(openSender(connection, '/management'), 'amqp:invalid-field', text);
    await expectRefusal(openReceiver(connection, '/management'), 'amqp:invalid-field', text);
    await checkUsable(connection, channel);
});

test('answers_need_credit', async ({ connection }) => {
    const management = await Management.open(connection, 0);
    management.send('GET', '/queues/q');
    await eventOf(management.session, 'session_error');
    checkError(management.session.error, 'amqp:precondition-failed',
        'insufficient credit (0) for management link from RabbitMQ to client');
});
