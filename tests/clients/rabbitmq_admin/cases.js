// The npm package rabbitmq-admin, unchanged, against the HTTP API. Usage: cases.js HOST PORT HTTP_PORT
'use strict';

const assert = require('assert');
const axios = require('axios'); // The HTTP client of the package, which has no function for imports.
const { RabbitAdmin } = require('rabbitmq-admin');

const address = `http://${process.argv[2]}:${process.argv[4]}`;
const admin = RabbitAdmin({ rabbitHost: address });
const vhost = 'clients/rabbitmq_admin';

const cases = {
  async tells_what_there_is() {
    assert.match((await admin.getOverview()).rabbitmq_version, /^\d+\./);
    assert.strictEqual((await admin.getNodes()).length, 1);
    assert(Array.isArray(await admin.getExtensions()));
    const { name } = await admin.getClusterName();
    await admin.setClusterName('from node');
    assert.deepStrictEqual(await admin.getClusterName(), { name: 'from node' });
    await admin.setClusterName(name);
  },
  async makes_a_vhost() {
    assert.strictEqual(await admin.getVhost(vhost), null);
    await admin.createVhost(vhost);
    assert.strictEqual((await admin.getVhost(vhost)).name, vhost);
    assert((await admin.listVhosts()).some((one) => one.name === vhost));
    assert.strictEqual((await admin.getUserPermissions(vhost, 'guest')).read, '.*');
  },
  async declares_and_binds() {
    await admin.createExchange(vhost, { name: 'x', type: 'topic', durable: true });
    await admin.createQueue(vhost, 'q', { durable: true, arguments: { 'x-max-length': 5 } });
    await admin.createBinding({ vhost, source: 'x', destination: 'q', routingKey: 'a.#' });
    assert.strictEqual((await admin.getExchange(vhost, 'x')).type, 'topic');
    assert.strictEqual((await admin.getQueue(vhost, 'q')).arguments['x-max-length'], 5);
    const [binding] = (await admin.getBindings({ vhost, source: 'x', destination: 'q' }));
    assert.strictEqual(binding.routing_key, 'a.#');
    assert.strictEqual((await admin.getQueueBindings(vhost, 'q')).length, 2);
    assert.strictEqual((await admin.getSourceExchangeBindings(vhost, 'x')).length, 1);
  },
  async lists_by_pages() {
    const page = await admin.getQueues(vhost, { page: 1, pageSize: 1, name: 'q' });
    assert.deepStrictEqual([page.total_count, page.items.length, page.items[0].name], [1, 1, 'q']);
    assert((await admin.getExchanges(vhost, { name: '^amq', useRegex: true })).filtered_count >= 6);
    assert(Number.isInteger((await admin.getConnections()).item_count));
    assert(Number.isInteger((await admin.getChannels()).item_count));
    assert.deepStrictEqual(await admin.getConsumers(vhost), []);
  },
  async publishes_and_gets() {
    const message = { properties: { headers: { n: 1 } }, routing_key: 'a.b', payload: 'gr\u00fc\u00dfe', payload_encoding: 'string' };
    assert.deepStrictEqual(await admin.publishToExchange(vhost, 'x', message), { routed: true });
    const [got] = await admin.getMessages(vhost, 'q', { ackMode: 'ack_requeue_false', ackmode: 'ack_requeue_false', count: 1, encoding: 'auto' });
    assert.deepStrictEqual([got.payload, got.properties.headers.n], ['gr\u00fc\u00dfe', 1]);
  },
  async exports_and_imports() {
    const definitions = await admin.getDefinitions(vhost);
    assert.deepStrictEqual(definitions.queues.map((queue) => queue.name), ['q']);
    assert((await admin.getDefinitions()).users.some((user) => user.name === 'guest'));
    await admin.deleteQueue(vhost, 'q', { ifEmpty: true });
    const answer = await axios.post(`${address}/api/definitions/${encodeURIComponent(vhost)}`, definitions,
      { auth: { username: 'guest', password: 'guest' } });
    assert.strictEqual(answer.status, 204);
    assert.strictEqual((await admin.getQueue(vhost, 'q')).arguments['x-max-length'], 5);
    assert.strictEqual((await admin.getQueueBindings(vhost, 'q')).length, 2);
  },
  async deletes() {
    await admin.deleteBinding({ vhost, source: 'x', destination: 'q', props: 'a.%23' });
    await admin.deleteQueue(vhost, 'q', { ifEmpty: true });
    await admin.deleteExchange(vhost, 'x');
    await assert.rejects(admin.getQueue(vhost, 'q'));
    await admin.deleteVhost(vhost);
    assert.strictEqual(await admin.getVhost(vhost), null);
  },
};

async function main() {
  console.log(`1..${Object.keys(cases).length}`);
  if (await admin.getVhost(vhost)) await admin.deleteVhost(vhost); // An interrupted run may have left it.
  let failed = 0;
  for (const [name, run] of Object.entries(cases)) {
    try {
      await run();
      console.log(`ok ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`not ok ${name}: ${String(error.message).split('\n').join(' ')}`);
    }
  }
  process.exit(failed === 0 ? 0 : 1);
}

main();
