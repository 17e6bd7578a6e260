// Shared by all cases: connections of both protocols, links as promises, types, and the runner.
'use strict';

const assert = require('node:assert/strict');
const http = require('node:http');
const { setTimeout: delay } = require('node:timers/promises');
const amqplib = require('amqplib');
const rhea = require('rhea');

const [host, port, httpPort, ...wanted] = process.argv.slice(2);
const patienceMs = 10_000;
const caseMsMax = 20_000;
const messageBytesMax = 16 * 1024 * 1024;
const cases = [];
const createdQueues = [];
const createdExchanges = [];
const createdPaths = [];
const openConnections = [];

const test = (name, run) => cases.push({ name, run });
const testPerType = (name, run) => ['classic', 'quorum'].forEach((kind) =>
    test(`${name}_${kind}`, (peers) => run({ ...peers, kind })));
const nameOf = (suffix) => `clients.rhea.${suffix}`;
const addressOf = (queue) => `/queues/${encodeURIComponent(queue)}`;
const deadLetterTo = (queue, more = {}) => ({ 'x-dead-letter-exchange': '',
    'x-dead-letter-routing-key': queue, ...more });

// rhea discards the bytes of a message and the types in it; the cases need both.
const decode = rhea.message.decode;
rhea.message.decode = (encoded) => Object.defineProperty(decode(encoded), 'encoded', { value: encoded });

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

const eventOf = (emitter, name, what = name) =>
    within(new Promise((resolve) => emitter.once(name, resolve)), what);

// The error of a detach, an end or a close.
class Refusal extends Error {
    constructor(error) {
        super(`${error?.condition}: ${error?.description}`);
        this.error = error;
    }
}

function checkError(error, condition, description) {
    assert.ok(error, 'no error was given');
    assert.equal(error.condition, condition, error.description);
    if (description instanceof RegExp) assert.match(error.description, description);
    else assert.equal(error.description, description);
}

const expectRefusal = (promise, condition, description) => assert.rejects(promise, (refusal) => {
    checkError(refusal.error, condition, description);
    return true;
});

// ------------------------------------------------------------------------- connections

async function connect(options = {}) {
    const connection = rhea.create_container().create_connection({ host, port, username: 'guest',
        password: 'guest', reconnect: false, tcp_no_delay: true, ...options });
    const opened = new Promise((resolve, reject) => {
        connection.on('connection_open', () => process.nextTick(resolve));
        connection.on('connection_error', ({ error }) => reject(new Refusal(error ?? connection.error)));
        connection.on('disconnected', ({ error }) => reject(error ?? new Error('disconnected')));
        connection.on('error', reject);
    });
    connection.on('protocol_error', (error) => { throw error; });
    openConnections.push({ close: () => connection.is_open() && connection.close() });
    connection.connect();
    await within(opened, 'the connection is open');
    return connection;
}

async function connectAmqplib() {
    const connection = await amqplib.connect(`amqp://guest:guest@${host}:${port}`);
    connection.on('error', () => {});
    openConnections.push(connection);
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => {});
    return channel;
}

// For operations that AMQP does not have: users, virtual hosts, permissions.
function httpRequest(method, path, body) {
    return new Promise((resolve, reject) => {
        const request = http.request({ host, port: httpPort, method, path: `/api/${path}`,
            auth: 'guest:guest', headers: { 'content-type': 'application/json' } }, (response) => {
            response.resume();
            response.on('end', () => (response.statusCode < 300 ? resolve()
                : reject(new Error(`${method} ${path}: ${response.statusCode}`))));
        });
        request.on('error', reject);
        request.end(body === undefined ? undefined : JSON.stringify(body));
    });
}

async function addUser(suffix, permissions = {}, vhost = '/') {
    const name = nameOf(suffix);
    createdPaths.push(`users/${name}`);
    await httpRequest('PUT', `users/${name}`, { password: name, tags: '' });
    await httpRequest('PUT', `permissions/${encodeURIComponent(vhost)}/${name}`,
        { configure: '', write: '', read: '', ...permissions });
    return { username: name, password: name };
}

async function addVhost(suffix) {
    const name = nameOf(suffix);
    createdPaths.push(`vhosts/${name}`);
    await httpRequest('PUT', `vhosts/${name}`);
    return name;
}

// ------------------------------------------------------------------------- topology, over AMQP 0-9-1

async function declareQueue(channel, suffix = 'queue', kind = 'classic', more = {}) {
    const name = nameOf(suffix);
    createdQueues.push(name);
    await channel.deleteQueue(name); // An interrupted run may have left it.
    await channel.assertQueue(name, { durable: true, arguments: { 'x-queue-type': kind, ...more } });
    return name;
}

async function declareExchange(channel, type, suffix = 'exchange', options = {}) {
    const name = nameOf(suffix);
    createdExchanges.push(name);
    await channel.deleteExchange(name);
    await channel.assertExchange(name, type, { durable: true, ...options });
    return name;
}

async function waitForReady(channel, queue, count) {
    const deadline = Date.now() + patienceMs;
    for (let found; (found = (await channel.checkQueue(queue)).messageCount) !== count;) {
        assert.ok(Date.now() < deadline, `${queue} has ${found} messages, not ${count}`);
        await delay(10);
    }
}

// Polls, because the effect of the other protocol may not be visible yet. Does not acknowledge the message.
async function getByAmqplib(channel, queue) {
    const deadline = Date.now() + patienceMs;
    for (;;) {
        const message = await channel.get(queue);
        if (message) return message;
        assert.ok(Date.now() < deadline, `no message arrived in ${queue}`);
        await delay(10);
    }
}

async function nextByAmqplib(channel, queue) {
    const message = await getByAmqplib(channel, queue);
    channel.ack(message);
    return message;
}

function publishByAmqplib(channel, queue, body, options) {
    return new Promise((resolve, reject) => channel.sendToQueue(queue, Buffer.from(body), options,
        (error) => (error ? reject(error) : resolve())));
}

// ------------------------------------------------------------------------- sessions and links

async function newSession(connection) {
    const session = connection.create_session();
    session.on('session_error', () => {}); // Cases that expect it assert it themselves.
    session.begin();
    await eventOf(session, 'session_open');
    return session;
}

// A sender is open when the broker has granted credit; a refused link is opened and detached.
function opened(link, role, isOpen) {
    link.session.setMaxListeners(0);
    return within(new Promise((resolve, reject) => {
        link.on(`${role}_error`, () => reject(new Refusal(link.error)));
        link.session.on('session_error', () => reject(new Refusal(link.session.error)));
        isOpen(() => resolve(link));
    }), `the ${role} is open`);
}

function openSender(place, target, options = {}) {
    const sender = place.open_sender({ target: target === null ? {} : target, snd_settle_mode: 0,
        ...options });
    sender.outcomes = new Map();
    sender.on('settled', ({ delivery }) => {
        sender.outcomes.get(delivery)?.({ outcome: delivery.remote_state?.constructor.composite_type,
            error: delivery.remote_state?.error });
    });
    return opened(sender, 'sender', (done) => sender.once('sendable', done));
}

// A receiver without credit: each case grants credit itself, and receive() grants one.
function openReceiver(place, source, options = {}) {
    const receiver = place.open_receiver({ source, credit_window: 0, autoaccept: false, ...options });
    receiver.arrived = [];
    receiver.on('message', ({ message, delivery }) => {
        receiver.arrived.push({ message, delivery });
        receiver.emit('arrival');
    });
    return opened(receiver, 'receiver', (done) => receiver.once('receiver_open',
        () => receiver.source.address && done())); // rhea also has an object for null.
}

async function closed(link) {
    const role = link.is_receiver() ? 'receiver' : 'sender';
    link.close();
    await eventOf(link, `${role}_close`);
}

// The outcome of one message: { outcome, error }.
function send(sender, message) {
    return within(new Promise((resolve) => sender.outcomes.set(sender.send(message), resolve)),
        'the message has an outcome');
}

const accepted = { outcome: 'accepted', error: undefined };
const released = { outcome: 'released', error: undefined };

// Sends messages that must be accepted.
async function publish(connection, address, ...messages) {
    const sender = await openSender(connection, address);
    for (const message of messages) {
        assert.deepEqual(await send(sender, typeof message === 'object' ? message : { body: message }),
            accepted);
    }
    await closed(sender);
}

async function arrivals(receiver, count) {
    while (receiver.arrived.length < count) await eventOf(receiver, 'arrival', `message ${count} arrives`);
    return receiver.arrived.splice(0, count);
}

// The next message, unsettled.
async function receive(receiver) {
    receiver.add_credit(1);
    return (await arrivals(receiver, 1))[0];
}

async function nextMessage(connection, queue) {
    const receiver = await openReceiver(connection, addressOf(queue));
    const { message, delivery } = await receive(receiver);
    delivery.accept();
    await closed(receiver);
    return message;
}

// Receives all available messages, up to the credit.
async function drain(receiver, credit) {
    receiver.add_credit(credit);
    receiver.drain_credit();
    await eventOf(receiver, 'receiver_drained', 'the link is drained');
    receiver.drain = false; // rhea would drain forever.
    return receiver.arrived.splice(0);
}

async function bodiesIn(connection, queue) {
    const receiver = await openReceiver(connection, addressOf(queue));
    const found = await drain(receiver, 1000);
    found.forEach(({ delivery }) => delivery.accept());
    await closed(receiver);
    return found.map(({ message }) => message.body);
}

async function checkUsable(connection, channel) {
    const queue = await declareQueue(channel, 'usable');
    const session = await newSession(connection);
    assert.deepEqual(await send(await openSender(session, addressOf(queue)), { body: 'alive' }), accepted);
    session.close();
    assert.ok(await channel.get(queue, { noAck: true }));
}

// ------------------------------------------------------------------------- types

const typeNames = Object.fromEntries(Object.entries({
    null: [0x40], boolean: [0x41, 0x42, 0x56], uint: [0x43, 0x52, 0x70], ulong: [0x44, 0x53, 0x80],
    int: [0x54, 0x71], long: [0x55, 0x81], ubyte: [0x50], ushort: [0x60], byte: [0x51], short: [0x61],
    float: [0x72], double: [0x82], timestamp: [0x83], uuid: [0x98], binary: [0xa0, 0xb0],
    string: [0xa1, 0xb1], symbol: [0xa3, 0xb3], list: [0x45, 0xc0, 0xd0], map: [0xc1, 0xd1],
    array: [0xe0, 0xf0] }).flatMap(([name, codes]) => codes.map((code) => [code, name])));

// A value as text with its AMQP type; of lists, maps and arrays each element.
function shape(typed) {
    const name = typeNames[typed.type.typecode];
    if (name === 'list') return typed.value.map(shape);
    if (name === 'array') {
        return { [typeNames[typed.array_constructor.typecode]]: typed.value.map(shape) };
    }
    if (name !== 'map') return `${name}:${typed.value instanceof Date ? Number(typed.value) : typed.value}`;
    return pairs(typed).map(([key, value]) => [shape(key), shape(value)]);
}

function pairs({ value }) {
    return Array.from({ length: value.length / 2 }, (_, index) => [value[2 * index], value[2 * index + 1]]);
}

// The message annotations with all types: { 'x-key': shape }.
function typedAnnotations(message) {
    const reader = new rhea.types.Reader(message.encoded);
    while (reader.remaining()) {
        const section = reader.read();
        if (Number(section.descriptor.value) !== 0x72) continue;
        return Object.fromEntries(pairs(section).map(([key, value]) => {
            assert.equal(typeNames[key.type.typecode], 'symbol');
            return [key.value, shape(value)];
        }));
    }
    throw new Error('the message has no annotations');
}

// ------------------------------------------------------------------------- the run

async function cleanUp() {
    const connection = await amqplib.connect(`amqp://guest:guest@${host}:${port}`);
    const channel = await connection.createChannel();
    for (const queue of createdQueues.splice(0)) await channel.deleteQueue(queue);
    for (const exchange of createdExchanges.splice(0)) await channel.deleteExchange(exchange);
    await connection.close();
    for (const path of createdPaths.splice(0)) await httpRequest('DELETE', path);
}

async function runCase({ name, run }) {
    try {
        const peers = { connection: await connect(), channel: await connectAmqplib() };
        await within(run(peers), 'the case ends', caseMsMax);
        console.log(`ok ${name}`);
    } catch (error) {
        process.exitCode = 1;
        console.error(error.stack);
        console.log(`not ok ${name}: ${String(error.message).split('\n').join(' ')}`);
    }
    for (const connection of openConnections.splice(0)) {
        try {
            await connection.close();
        } catch { /* It may be closing already. */ }
    }
    await cleanUp();
}

async function runAll() {
    // A detach or end that no case waits for is ignored; a case that misses one fails.
    process.on('unhandledRejection', (error) => console.error(error));
    const chosen = cases.filter(({ name }) => !wanted.length || wanted.includes(name));
    console.log(`1..${chosen.length}`);
    for (const each of chosen) await runCase(each);
    process.exit(); // A failed case may have left a connection open.
}

module.exports = { accepted, addUser, addVhost, addressOf, arrivals, bodiesIn, checkError, checkUsable,
    closed, connect, createdExchanges, createdQueues, deadLetterTo, declareExchange, declareQueue, drain,
    eventOf, expectRefusal, getByAmqplib, messageBytesMax, nameOf, newSession, nextByAmqplib, nextMessage,
    openReceiver, openSender, publish, publishByAmqplib, receive, released, runAll, send, test,
    testPerType, typedAnnotations, waitForReady, within };
