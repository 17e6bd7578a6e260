// The npm package rabbitmq-admin, unchanged, against the HTTP API. Called with the port; prints its plan and a
// line per case, as the programs of tests/clients do.
'use strict';

const assert = require('assert');
const { RabbitAdmin } = require('rabbitmq-admin');

const admin = RabbitAdmin({ rabbitHost: `http://127.0.0.1:${process.argv[2]}` });
const vhost = 'node/js';

const cases = {
  async 'tells what there is'() {
    assert.match((await admin.getOverview()).rabbitmq_version, /^4\./);
    assert.strictEqual((await admin.getNodes()).length, 1);
    assert.strictEqual((await admin.getExtensions()).length, 0);
    await admin.setClusterName('from node');
    assert.deepStrictEqual(await admin.getClusterName(), { name: 'from node' });
  },
  async 'makes a vhost'() {
    assert.strictEqual(await admin.getVhost(vhost), null);
    await admin.createVhost(vhost);
    assert.strictEqual((await admin.getVhost(vhost)).name, vhost);
    assert((await admin.listVhosts()).some((one) => one.name === vhost));
    assert.strictEqual((await admin.getUserPermissions(vhost, 'guest')).read, '.*');
  },
  async 'declares and binds'() {
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
  async 'lists by pages'() {
    const page = await admin.getQueues(vhost, { page: 1, pageSize: 1, name: 'q' });
    assert.deepStrictEqual([page.total_count, page.items.length, page.items[0].name], [1, 1, 'q']);
    assert((await admin.getExchanges(vhost, { name: '^amq', useRegex: true })).filtered_count >= 6);
    assert.strictEqual((await admin.getConnections()).item_count, 0);
    assert.strictEqual((await admin.getChannels()).item_count, 0);
    assert.deepStrictEqual(await admin.getConsumers(vhost), []);
  },
  async 'publishes and gets'() {
    const message = { properties: { headers: { n: 1 } }, routing_key: 'a.b', payload: 'gr\u00fc\u00dfe', payload_encoding: 'string' };
    assert.deepStrictEqual(await admin.publishToExchange(vhost, 'x', message), { routed: true });
    const [got] = await admin.getMessages(vhost, 'q', { ackMode: 'ack_requeue_false', ackmode: 'ack_requeue_false', count: 1, encoding: 'auto' });
    assert.deepStrictEqual([got.payload, got.properties.headers.n], ['gr\u00fc\u00dfe', 1]);
  },
  async 'exports'() {
    const definitions = await admin.getDefinitions(vhost);
    assert.deepStrictEqual(definitions.queues.map((queue) => queue.name), ['q']);
    assert((await admin.getDefinitions()).users.some((user) => user.name === 'guest'));
  },
  async 'deletes'() {
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
