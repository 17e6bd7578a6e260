// The lists of connections, channels and exchanges, and the page about missing streams.
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { api, at } from '../api';
import { Icon } from '../icons';
import { bytes, count, plural, visible } from '../format';
import { retryAll, useResource } from '../resource';
import { channelLink, connectionLink, exchangeLink, link, queueLink } from '../router';
import { chosenVhost, may, session } from '../session';
import { PageHead } from '../parts/card';
import { ask, Dialog } from '../parts/dialog';
import { Check, Pairs, pairsToObject, SelectField, TextField, type Pair } from '../parts/form';
import { Badge, exchangeTitle, Name, Num, PolicyBadge, QueueName, Rate, StateDot, Time, protocolTitle } from '../parts/marks';
import { Callout, State } from '../parts/states';
import { PagedTable, type Column } from '../parts/table';
import { say } from '../parts/toast';
import { statRate, type Channel, type Connection, type DeadLetterExchange, type Exchange, type Policy } from '../types';
import { useVhostNames, VhostField } from './queues';

// ---- Connections --------------------------------------------------------------------------------------------------------

const byteRate = (value: number | undefined) => (value ? <>{bytes(Math.round(value))}/s</> : <span class="zero">0</span>);
export const clientOf = (connection: Connection): string => {
  const properties = connection.client_properties ?? {};
  return [properties.product ?? connection.container_id ?? '', properties.version ?? ''].map(String).join(' ').trim();
};

const connectionColumns: Column<Connection>[] = [
  { id: 'name', title: 'Name', sort: 'name', value: (one) => one.name, cell: (one) => <><Name text={one.user_provided_name || one.name.replace(/ -> .*/, '')} href={connectionLink(one.name)} sub={`${one.user}, ${protocolTitle(one.protocol)}`} />{one.user_provided_name && <span class="cell-sub w-1">{visible(one.name.replace(/ -> .*/, ''))}</span>}</> },
  { id: 'vhost', title: 'Virtual host', sort: 'vhost', w: 3, value: (one) => one.vhost, cell: (one) => visible(one.vhost) },
  { id: 'user', title: 'User', sort: 'user', w: 1, value: (one) => one.user, cell: (one) => visible(one.user) },
  { id: 'state', title: 'State', sort: 'state', value: (one) => one.state, cell: (one) => <StateDot state={one.state} /> },
  { id: 'tls', title: 'TLS', sort: 'ssl', w: 2, value: (one) => one.ssl, cell: (one) => (one.ssl ? <span title={`${one.ssl_protocol} ${one.ssl_cipher}`}><Icon name="lock" small /> {one.ssl_protocol ?? 'yes'}</span> : <span class="zero">no</span>) },
  { id: 'protocol', title: 'Protocol', sort: 'protocol', w: 2, value: (one) => one.protocol, cell: (one) => protocolTitle(one.protocol) },
  { id: 'client', title: 'Client', w: 3, value: clientOf, cell: (one) => <span class="cell-text">{visible(clientOf(one)) || '–'}</span> },
  { id: 'channels', title: 'Channels', sort: 'channels', num: true, w: 1, value: (one) => one.channels, cell: (one) => <Num value={one.channels} /> },
  { id: 'from', title: 'From client', sort: 'recv_oct_details.rate', num: true, w: 1, group: 'Network', value: (one) => one.recv_oct_details?.rate ?? 0, cell: (one) => byteRate(one.recv_oct_details?.rate) },
  { id: 'to', title: 'To client', sort: 'send_oct_details.rate', num: true, w: 1, group: 'Network', value: (one) => one.send_oct_details?.rate ?? 0, cell: (one) => byteRate(one.send_oct_details?.rate) },
  { id: 'heartbeat', title: 'Heartbeat', sort: 'timeout', num: true, off: true, w: 3, value: (one) => one.timeout, cell: (one) => `${one.timeout} s` },
  { id: 'connected', title: 'Connected', sort: 'connected_at', w: 2, value: (one) => new Date(one.connected_at).toISOString(), cell: (one) => <Time ms={one.connected_at} /> },
];

export const mayClose = (connection: { user: string }) => may.administrate() || session.get()?.name === connection.user;

export function closeConnections(list: Connection[], after?: () => void, leave?: () => void): void {
  const what = list.length === 1 ? list[0]!.name : `${list.length} connections`;
  ask({
    title: `Close ${what}?`,
    body: <p>{plural(list.reduce((sum, one) => sum + one.channels, 0), 'channel')} end with {list.length === 1 ? 'it' : 'them'}. Unacknowledged messages go back to their queues; exclusive queues are deleted. Most clients connect again.</p>,
    typed: list.length > 1 ? String(list.length) : undefined,
    button: `Close ${list.length === 1 ? 'connection' : plural(list.length, 'connection')}`,
    act: async () => {
      for (const one of list) await api.remove(at('connections', one.name), { 'x-reason': 'Closed via management plugin' });
      say(`${what} closed`);
      if (leave) return leave();
      retryAll();
      after?.();
    },
  });
}

export function ConnectionsPage(): JSX.Element {
  const vhost = chosenVhost.use();
  const [total, setTotal] = useState<number>();
  return (
    <>
      <PageHead title="Connections" marks={total !== undefined && <span class="count">{count(total)}</span>} />
      <PagedTable<Connection> label="Connections" noun={['connection', 'connections']} store="connections" columns={connectionColumns} firstSort="name"
        path={vhost === '' ? '/connections' : at('vhosts', vhost, 'connections')} rowKey={(one) => one.name} rowLink={(one) => connectionLink(one.name)} onPage={(page) => setTotal(page?.total_count)}
        bulk={may.administrate() ? (rows, clear) => <button class="btn btn-sm btn-dead" onClick={() => closeConnections(rows, clear)}>Close {plural(rows.length, 'connection')}…</button> : undefined}
        empty={<State icon="consumer" title="No connections"><p>{may.monitor() ? 'No client is connected.' : 'You have no connection. Only the tags monitoring and administrator show those of others.'} AMQP 0-9-1 and AMQP 1.0 clients connect to port 5672, unless the configuration says otherwise.</p></State>} />
    </>
  );
}

// ---- Channels ---------------------------------------------------------------------------------------------------------------

const rateColumn = (id: string, title: string, stat: string, w: 1 | 2 | 3, off?: boolean): Column<Channel> => ({
  id, title, sort: `message_stats.${stat}_details.rate`, num: true, w, off, group: 'Rates', value: (one) => statRate(one.message_stats, stat), cell: (one) => <Rate value={statRate(one.message_stats, stat)} />,
});
const channelColumns: Column<Channel>[] = [
  { id: 'name', title: 'Channel', sort: 'name', value: (one) => one.name, cell: (one) => <Name text={one.name.replace(/ -> .* \(/, ' (')} href={channelLink(one.name)} sub={`${one.user}, ${plural(one.consumer_count, 'consumer')}${one.confirm ? ', confirms' : one.transactional ? ', transactional' : ''}`} /> },
  { id: 'vhost', title: 'Virtual host', sort: 'vhost', off: true, w: 3, value: (one) => one.vhost, cell: (one) => visible(one.vhost) },
  { id: 'user', title: 'User', sort: 'user', w: 1, value: (one) => one.user, cell: (one) => visible(one.user) },
  { id: 'mode', title: 'Mode', w: 3, value: (one) => (one.confirm ? 'confirm' : one.transactional ? 'transactional' : ''), cell: (one) => (one.confirm ? <Badge title="publisher confirms">C</Badge> : one.transactional ? <Badge title="transactional">T</Badge> : <span class="zero">–</span>) },
  { id: 'state', title: 'State', sort: 'state', w: 1, value: (one) => one.state, cell: (one) => <StateDot state={one.state} /> },
  { id: 'unconfirmed', title: 'Unconfirmed', sort: 'messages_unconfirmed', num: true, w: 3, value: (one) => one.messages_unconfirmed, cell: (one) => <Num value={one.messages_unconfirmed} /> },
  { id: 'prefetch', title: 'Prefetch', sort: 'prefetch_count', num: true, w: 2, value: (one) => one.prefetch_count, cell: (one) => (one.global_prefetch_count ? `${one.global_prefetch_count} (channel)` : <Num value={one.prefetch_count} />) },
  { id: 'unacked', title: 'Unacked', sort: 'messages_unacknowledged', num: true, value: (one) => one.messages_unacknowledged, cell: (one) => <Num value={one.messages_unacknowledged} strong /> },
  { id: 'consumers', title: 'Consumers', sort: 'consumer_count', num: true, w: 2, value: (one) => one.consumer_count, cell: (one) => <Num value={one.consumer_count} /> },
  rateColumn('publish', 'Publish', 'publish', 2), rateColumn('confirm', 'Confirm', 'confirm', 3), rateColumn('deliver', 'Deliver, get', 'deliver_get', 2), rateColumn('redelivered', 'Redelivered', 'redeliver', 3, true), rateColumn('ack', 'Ack', 'ack', 3),
];

export function ChannelsPage(): JSX.Element {
  const vhost = chosenVhost.use();
  const [total, setTotal] = useState<number>();
  return (
    <>
      <PageHead title="Channels" marks={total !== undefined && <span class="count">{count(total)}</span>} sub="Channels of AMQP 0-9-1. Sessions and links of AMQP 1.0 are on the page of their connection." />
      <PagedTable<Channel> label="Channels" noun={['channel', 'channels']} store="channels" columns={channelColumns} firstSort="name" path={vhost === '' ? '/channels' : at('vhosts', vhost, 'channels')}
        rowKey={(one) => one.name} rowLink={(one) => channelLink(one.name)} onPage={(page) => setTotal(page?.total_count)}
        empty={<State icon="graph" title="No channels"><p>A client opens a channel before it publishes or consumes.</p></State>} />
    </>
  );
}

// ---- Exchanges --------------------------------------------------------------------------------------------------------------

const sinkKey = (one: { vhost: string; name: string }) => `${one.vhost} ${one.name}`;
type Sinks = Map<string, DeadLetterExchange>; // dead-letter exchanges by virtual host and name
type Alternates = Map<string, unknown>; // the alternate exchange set by a policy, by virtual host and policy name
const policyAlternate = (one: Exchange, alternates: Alternates) => (one.policy ? alternates.get(sinkKey({ vhost: one.vhost, name: one.policy })) : undefined);

function ComeFrom({ of: sink }: { of?: DeadLetterExchange }): JSX.Element {
  if (!sink) return <span class="zero">–</span>;
  return <span title={`${count(sink.died)} messages died there since the broker started`}>{sink.sources.slice(0, 2).map((name, index) => <>{index > 0 && ', '}<QueueName vhost={sink.vhost} name={name} /></>)}{sink.source_count > 2 && <span class="muted"> and {count(sink.source_count - 2)} more</span>}</span>;
}

const exchangeColumns = (sinks: Sinks, alternates: Alternates): Column<Exchange>[] => [
  { id: 'name', title: 'Name', sort: 'name', value: (one) => one.name, cell: (one) => <Name text={exchangeTitle(one.name)} href={exchangeLink(one.vhost, one.name)} sub={one.type + (sinks.has(sinkKey(one)) ? `, dead letters from ${plural(sinks.get(sinkKey(one))!.source_count, 'queue')}` : '')} /> },
  { id: 'vhost', title: 'Virtual host', sort: 'vhost', off: true, w: 2, value: (one) => one.vhost, cell: (one) => visible(one.vhost) },
  { id: 'type', title: 'Type', sort: 'type', w: 1, value: (one) => one.type, cell: (one) => one.type },
  { id: 'features', title: 'Features', w: 1, value: (one) => [one.durable && 'D', one.auto_delete && 'AD', one.internal && 'I', (one.arguments['alternate-exchange'] ?? policyAlternate(one, alternates)) && 'AE'].filter(Boolean).join(' '), cell: (one) => <ExchangeFeatures exchange={one} policed={policyAlternate(one, alternates)} /> },
  { id: 'sources', title: 'Dead letters come from', w: 2, value: (one) => sinks.get(sinkKey(one))?.sources.join(' ') ?? '', cell: (one) => <ComeFrom of={sinks.get(sinkKey(one))} /> },
  { id: 'in', title: 'In', sort: 'message_stats.publish_in_details.rate', num: true, group: 'Rates', value: (one) => statRate(one.message_stats, 'publish_in'), cell: (one) => <Rate value={statRate(one.message_stats, 'publish_in')} /> },
  { id: 'out', title: 'Out', sort: 'message_stats.publish_out_details.rate', num: true, group: 'Rates', value: (one) => statRate(one.message_stats, 'publish_out'), cell: (one) => <Rate value={statRate(one.message_stats, 'publish_out')} /> },
];

export function ExchangeFeatures({ exchange, policed }: { exchange: Exchange; policed?: unknown }): JSX.Element {
  const asked = exchange.arguments['alternate-exchange'];
  return (
    <span class="badges">
      {exchange.durable && <Badge title="durable">D</Badge>}
      {exchange.auto_delete && <Badge title="deleted with its last binding">AD</Badge>}
      {exchange.internal && <Badge title="internal: only other exchanges publish to it">I</Badge>}
      {(asked ?? policed) !== undefined && <Badge kind={asked === undefined ? 'badge-policy' : ''} title={`alternate exchange: ${visible(String(asked ?? policed))}, by ${asked === undefined ? 'policy' : 'argument'}`}>AE</Badge>}
      {exchange.policy && <PolicyBadge vhost={exchange.vhost} name={exchange.policy} />}
    </span>
  );
}

function AddExchange({ close }: { close: () => void }): JSX.Element {
  const [vhost, setVhost] = useState(chosenVhost.get() || '/');
  const [name, setName] = useState('');
  const [type, setType] = useState('direct');
  const [durable, setDurable] = useState(true);
  const [autoDelete, setAutoDelete] = useState(false);
  const [internal, setInternal] = useState(false);
  const [pairs, setPairs] = useState<Pair[]>([]);
  const [wrong, setWrong] = useState('');
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      await api.put(at('exchanges', vhost, name), { type, durable, auto_delete: autoDelete, internal, arguments: pairsToObject(pairs) });
      say(`Exchange ${name} is there`);
      retryAll();
      close();
    } catch (error) {
      setWrong((error as Error).message);
    }
  };
  return (
    <Dialog title="Add an exchange" close={close} foot={<><button type="button" class="btn" onClick={close}>Cancel</button><button type="submit" class="btn btn-primary" form="add-exchange">Add exchange</button></>}>
      <form id="add-exchange" class="form" onSubmit={submit}>
        <VhostField value={vhost} set={setVhost} />
        <TextField label="Name" value={name} set={setName} required first />
        <SelectField label="Type" value={type} set={setType} options={['direct', 'fanout', 'topic', 'headers', 'x-consistent-hash', 'x-local-random', 'x-modulus-hash'].map((one) => [one, one])} />
        <div class="row row-lg"><Check label="Durable" value={durable} set={setDurable} /><Check label="Delete with the last binding" value={autoDelete} set={setAutoDelete} /><Check label="Internal" value={internal} set={setInternal} /></div>
        <Pairs label="Arguments" pairs={pairs} set={setPairs} suggestions={[['alternate-exchange', 'String']]} />
        {wrong && <p class="is-dead" role="alert">{visible(wrong)}</p>}
      </form>
    </Dialog>
  );
}

interface Broken {
  name: string;
  vhost: string;
  dead_letter_exchange: string;
  problem: string;
}

export function ExchangesPage(): JSX.Element {
  const vhost = chosenVhost.use();
  const [adding, setAdding] = useState(false);
  const [total, setTotal] = useState<number>();
  const names = useVhostNames();
  const mayAdd = vhost === '' ? names.some((name) => may.declare(name)) : may.declare(vhost);
  const broken = useResource<{ items: Broken[]; filtered_count: number }>(`/dead-letters/sources?only=problems&page=1&page_size=5${vhost ? `&vhost=${encodeURIComponent(vhost)}` : ''}`, 30);
  const dead = useResource<DeadLetterExchange[]>(`/dead-letters/exchanges${vhost ? `?vhost=${encodeURIComponent(vhost)}` : ''}`, 30).data;
  const policies = useResource<Policy[]>(vhost === '' ? '/policies' : at('policies', vhost), 60).data;
  const columns = useMemo(() => exchangeColumns(new Map((dead ?? []).map((one) => [sinkKey(one), one])), new Map((policies ?? []).map((one) => [sinkKey(one), one.definition['alternate-exchange']]))), [dead, policies]);
  const missing = (broken.data?.items ?? []).filter((one) => one.problem === 'exchange_missing');
  return (
    <>
      <PageHead title="Exchanges" marks={total !== undefined && <span class="count">{count(total)}</span>}
        actions={mayAdd && <button class="btn btn-primary" onClick={() => setAdding(true)}><Icon name="plus" />Add an exchange</button>} />
      <div class="stack">
        {missing.map((one) => (
          <Callout key={one.vhost + one.name} tone="dead" title={`Exchange ${visible(one.dead_letter_exchange)} does not exist,`}>
            and <a href={queueLink(one.vhost, one.name)}>{visible(one.name)}</a> names it as its dead-letter exchange: messages that die there are dropped.
          </Callout>
        ))}
        <PagedTable<Exchange> label="Exchanges" noun={['exchange', 'exchanges']} store="exchanges" columns={columns} firstSort="name" path={vhost === '' ? '/exchanges' : at('exchanges', vhost)}
          rowKey={(one) => `${one.vhost} ${one.name}`} rowLink={(one) => exchangeLink(one.vhost, one.name)} onPage={(page) => setTotal(page?.total_count)}
          empty={<State icon="graph" title="No exchanges" />} />
      </div>
      {adding && <AddExchange close={() => setAdding(false)} />}
    </>
  );
}

export function StreamsPage(): JSX.Element {
  return (
    <>
      <PageHead title="Streams" />
      <section class="card"><State icon="queue" title="Revenant has no streams"><p>Queues are classic or quorum. <a href={link(['queues'])}>All queues</a></p></State></section>
    </>
  );
}
