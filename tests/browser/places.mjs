// Every screen: its name, its address, and a text that appears with its data.
export const screens = [
  ['overview', '#/', 'messages died'], ['queues', '#/queues', 'orders.dead'], ['queue', '#/queues/%2F/orders', 'Settings and why they hold'],
  ['dead-letter-queue', '#/queues/%2F/orders.dead', 'dead letters are here'], ['exchanges', '#/exchanges', 'shop.dlx'],
  ['exchange', '#/exchanges/%2F/shop.dlx', 'The dead-letter exchange of'], ['default-exchange', '#/exchanges/%2F/amq.default', 'Every queue is bound'],
  ['connections', '#/connections', 'checkout-worker'], ['channels', '#/channels', '127.0.0.1'], ['dead-letters', '#/dead-letters', 'orders.dead'],
  ['deaths', '#/dead-letters/sources', 'stock.sync'], ['broken-paths', '#/dead-letters/sources?only=problems', 'no queue: dropped'],
  ['topology', '#/topology/%2F', 'those that are connected'], ['topology-focus', '#/topology/%2F?focus=webhooks.out', 'within 2 steps'],
  ['topology-list', '#/topology/%2F?view=list', 'stock.dlx does not exist'], ['policies', '#/policies', 'dead-letters'], ['policy', '#/policies/%2F/dead-letters', 'What it matches'],
  ['users', '#/users', 'team-shop'], ['user', '#/users/team-shop', '^team'], ['vhosts', '#/vhosts', 'Default queue type'], ['vhost', '#/vhosts/%2F', 'Topic permissions'],
  ['limits', '#/limits', 'Limits of virtual hosts'], ['cluster-name', '#/cluster-name', 'federation'], ['nodes', '#/nodes', 'running'], ['node', '#/nodes/NODE', 'Messages in memory'],
  ['feature-flags', '#/feature-flags', 'quorum_queue'], ['deprecated-features', '#/deprecated-features', 'global_qos'], ['definitions', '#/definitions', 'Export'],
  ['streams', '#/streams', 'no streams'],
];

/** The screens that show parked messages. */
export const parkedScreens = [
  ['parked-overview', '#/', 'messages died'], ['parked-queues', '#/queues', 'shipping.labels'], ['parked-queue', '#/queues/%2F/shipping.labels', 'Parked messages'],
];
export const parkedQueue = '/queues/%2F/shipping.labels';

/** Makes the broker read the damaged messages, which parks them. */
export const readDamaged = (ask) => ask(`${parkedQueue}/get`, 'POST', { count: 1, ackmode: 'ack_requeue_true', encoding: 'auto' });

/** Addresses that depend on the broker: its node, a connection of each protocol, a channel. */
export async function fill(ask) {
  const [node] = await ask('/nodes');
  const connections = await ask('/connections');
  const first = connections.find((one) => one.protocol !== 'AMQP 1-0' && one.channels > 0);
  const ten = connections.find((one) => one.protocol === 'AMQP 1-0');
  return [
    ...screens.map(([name, hash, text]) => [name, hash.replace('NODE', encodeURIComponent(node.name)), text]),
    ['connection', `#/connections/${encodeURIComponent(first.name)}`, 'Client properties'], ['connection-amqp10', `#/connections/${encodeURIComponent(ten.name)}`, 'Session 0'],
    ['channel', `#/channels/${encodeURIComponent(first.name + ' (1)')}`, 'Prefetch of each consumer'],
  ];
}
