// One connection, with its channels or its sessions and links, and one channel.
import type { JSX } from 'preact';
import { at } from '../api';
import { bytes, count, duration, plural, rate, visible } from '../format';
import { useResource } from '../resource';
import { channelLink, connectionLink, go, link, queueLink } from '../router';
import { Card, FieldColumns, KeyValues, PageHead, Tile } from '../parts/card';
import { ChartCard, plotted, RangeChoice, useRange } from '../parts/chart';
import { Name, Num, Rate, StateDot, Time, Yes, protocolTitle } from '../parts/marks';
import { Failed, Loading, Shown } from '../parts/states';
import { statDetails, statRate, type Channel, type Connection, type Table } from '../types';
import { clientOf, closeConnections, mayClose } from './lists';

interface Link {
  handle: number;
  link_name: string;
  source_address?: string;
  target_address?: string;
  source?: string;
  target?: string;
  queue_name?: string;
  snd_settle_mode?: string;
  send_settled?: boolean;
  credit?: number;
  delivery_count?: number;
  max_message_size?: number;
  filter?: unknown;
}
interface SessionView {
  channel_number: number;
  handle_max: number;
  next_incoming_id: number;
  incoming_window: number;
  next_outgoing_id: number;
  remote_incoming_window: number;
  remote_outgoing_window: number;
  outgoing_unsettled_deliveries: number;
  incoming_links: Link[];
  outgoing_links: Link[];
}

function Links({ vhost, session }: { vhost: string; session: SessionView }): JSX.Element {
  const rows = [...session.incoming_links.map((one) => ({ ...one, way: 'from client' })), ...session.outgoing_links.map((one) => ({ ...one, way: 'to client' }))];
  return (
    <Card title={`Session ${session.channel_number}`} note={`incoming window ${count(session.incoming_window)}, remote incoming window ${count(session.remote_incoming_window)}, unsettled ${count(session.outgoing_unsettled_deliveries)}`}>
      {rows.length === 0 ? <div class="card-body"><p class="muted">No links.</p></div> : (
        <div class="table-wrap" role="region" tabIndex={0} aria-label={`Links of session ${session.channel_number}`}><table>
          <thead><tr><th scope="col">Link</th><th scope="col" class="w-1">Direction</th><th scope="col">Address</th><th scope="col" class="w-2">Queue</th><th scope="col" class="num w-1">Credit</th><th scope="col" class="num w-1">Deliveries</th></tr></thead>
          <tbody>{rows.map((one) => (
            <tr key={one.way + one.handle}><th scope="row"><span class="cell-main" title={visible(one.link_name)}>{visible(one.link_name)}</span><span class="cell-sub only-phone">{one.way}, credit {count(one.credit)}, {plural(one.delivery_count ?? 0, 'delivery', 'deliveries')}</span></th><td class="w-1">{one.way}</td>
              <td><code>{visible(String((one.way === 'from client' ? one.target_address : one.source_address) ?? '–'))}</code></td>
              <td class="w-2">{one.queue_name ? <a href={queueLink(vhost, one.queue_name)}>{visible(one.queue_name)}</a> : '–'}</td>
              <td class="num w-1"><Num value={one.credit} /></td><td class="num w-1"><Num value={one.delivery_count} /></td></tr>
          ))}</tbody>
        </table></div>
      )}
    </Card>
  );
}

function ChannelsOf({ list }: { list: Channel[] }): JSX.Element {
  return (
    <Card title="Channels" note={list.length}>
      {list.length === 0 ? <div class="card-body"><p class="muted">No channels.</p></div> : (
        <div class="table-wrap" role="region" tabIndex={0} aria-label="Channels"><table>
          <thead><tr><th scope="col">Channel</th><th scope="col" class="w-1">State</th><th scope="col" class="num w-2">Prefetch</th><th scope="col" class="num">Unacked</th><th scope="col" class="num w-1">Consumers</th><th scope="col" class="num w-2">Publish</th><th scope="col" class="num w-2">Deliver, get</th><th scope="col" class="num w-2">Ack</th></tr></thead>
          <tbody>{list.map((one) => (
            <tr key={one.name}><th scope="row"><Name text={`Channel ${one.number}`} href={channelLink(one.name)} /></th><td class="w-1"><StateDot state={one.state} /></td><td class="num w-2"><Num value={one.prefetch_count} /></td><td class="num"><Num value={one.messages_unacknowledged} strong /></td>
              <td class="num w-1"><Num value={one.consumer_count} /></td><td class="num w-2"><Rate value={statRate(one.message_stats, 'publish')} /></td><td class="num w-2"><Rate value={statRate(one.message_stats, 'deliver_get')} /></td><td class="num w-2"><Rate value={statRate(one.message_stats, 'ack')} /></td></tr>
          ))}</tbody>
        </table></div>
      )}
    </Card>
  );
}

export function ConnectionPage({ path }: { path: string[] }): JSX.Element {
  const name = path[1]!;
  const range = useRange(3600);
  const resource = useResource<Connection>(`${at('connections', name)}?data_rates_age=${range.age}&data_rates_incr=${range.step}`);
  const amqp10 = resource.data?.protocol === 'AMQP 1-0';
  const channels = useResource<Channel[]>(resource.data && !amqp10 ? at('connections', name, 'channels') : null);
  const sessions = useResource<SessionView[]>(resource.data && amqp10 ? at('connections', name, 'sessions') : null);
  const crumbs = [{ title: 'Connections', href: '#/connections' }, { title: name }];
  const one = resource.data;
  if (!one) return <><PageHead title={name} crumbs={crumbs} /><section class="card">{resource.error ? <Failed error={resource.error} retry={resource.reload} /> : <Loading rows={6} />}</section></>;
  const data = plotted([['From client', 1, one.recv_oct_details], ['To client', 2, one.send_oct_details]], 'rate');
  return (
    <>
      <PageHead title={one.user_provided_name || name} crumbs={crumbs} marks={<StateDot state={one.state} />}
        actions={mayClose(one) && <button class="btn btn-dead" onClick={() => closeConnections([one], undefined, () => go(['connections']))}>Close…</button>}
        meta={<><span>{protocolTitle(one.protocol)}</span><span>User {visible(one.user)}</span><span>Virtual host {visible(one.vhost)}</span><span>Connected <Time ms={one.connected_at} /></span></>} />
      <div class="stack">
        <div class="tiles">
          <Tile label="From client" value={bytes(Math.round(one.recv_oct_details?.rate ?? 0))} unit="/s" note={`${bytes(one.recv_oct)} in all`} spark={data.series[0]!.values.map(Number)} tone="accent" />
          <Tile label="To client" value={bytes(Math.round(one.send_oct_details?.rate ?? 0))} unit="/s" note={`${bytes(one.send_oct)} in all`} spark={data.series[1]!.values.map(Number)} tone="accent" />
          <Tile label={amqp10 ? 'Sessions' : 'Channels'} value={count(one.channels)} note={`at most ${count(one.channel_max)}`} />
          <Tile label="Heartbeat" value={one.timeout === 0 ? 'none' : duration(one.timeout * 1000)} />
        </div>
        <div class="cols">
          <ChartCard title="Network" note="bytes a second" data={data} kind="rate" show={(value) => `${bytes(Math.round(value))}/s`} range={<RangeChoice longest={3600} />} />
          <Card title="Details"><div class="card-body"><KeyValues tight rows={[
            ['Name', <code>{visible(one.name)}</code>], ['Node', visible(one.node)], ['From', `${one.peer_host}:${one.peer_port}`], ['To', `${one.host}:${one.port}`], ['Authentication', one.auth_mechanism],
            ['TLS', one.ssl ? `${one.ssl_protocol} ${one.ssl_cipher ?? ''}${one.peer_cert_subject ? `, ${visible(one.peer_cert_subject)}` : ''}` : 'no'],
            ['Frame size', bytes(one.frame_max)], ['Container', one.container_id ? visible(one.container_id) : <span class="faint">none</span>], ['Client', visible(clientOf({ ...one, container_id: undefined })) || <span class="faint">unknown</span>],
          ]} /></div></Card>
        </div>
        {amqp10 ? <Shown of={sessions} rows={2}>{(list) => <>{list.map((session) => <Links key={session.channel_number} vhost={one.vhost} session={session} />)}{list.length === 0 && <Card title="Sessions"><div class="card-body"><p class="muted">No sessions.</p></div></Card>}</>}</Shown>
          : <Shown of={channels} rows={2}>{(list) => <ChannelsOf list={list} />}</Shown>}
        <Card title="Client properties"><div class="card-body"><FieldColumns of={one.client_properties as Table} /></div></Card>
      </div>
    </>
  );
}

export function ChannelPage({ path }: { path: string[] }): JSX.Element {
  const name = path[1]!;
  const range = useRange(3600);
  const resource = useResource<Channel>(`${at('channels', name)}?msg_rates_age=${range.age}&msg_rates_incr=${range.step}`);
  const crumbs = [{ title: 'Channels', href: '#/channels' }, { title: name }];
  const one = resource.data;
  if (!one) return <><PageHead title={name} crumbs={crumbs} /><section class="card">{resource.error ? <Failed error={resource.error} retry={resource.reload} /> : <Loading rows={6} />}</section></>;
  const stats = one.message_stats;
  const rates = plotted([['Publish', 1, statDetails(stats, 'publish')], ['Deliver', 2, statDetails(stats, 'deliver_get')], ['Ack', 3, statDetails(stats, 'ack')], ['Redeliver', 6, statDetails(stats, 'redeliver')]], 'rate');
  return (
    <>
      <PageHead title={`Channel ${one.number}`} crumbs={crumbs} marks={<StateDot state={one.state} />}
        meta={<><span>Connection <a href={connectionLink(one.connection_details.name)}>{visible(one.connection_details.name)}</a></span><span>User {visible(one.user)}</span><span>Virtual host <a href={link(['queues'], { vhost: one.vhost })}>{visible(one.vhost)}</a></span></>} />
      <div class="stack">
        <div class="tiles">
          <Tile label="Unacked" value={count(one.messages_unacknowledged)} /><Tile label="Unconfirmed" value={count(one.messages_unconfirmed)} />
          <Tile label="Publish" value={rate(statRate(stats, 'publish')).replace('/s', '')} unit="/s" spark={rates.series[0]!.values.map(Number)} tone="accent" />
          <Tile label="Deliver" value={rate(statRate(stats, 'deliver_get')).replace('/s', '')} unit="/s" spark={rates.series[1]!.values.map(Number)} tone="accent" />
          <Tile label="Consumers" value={count(one.consumer_count)} />
        </div>
        <div class="cols">
          <ChartCard title="Message rates" data={rates} kind="rate" range={<RangeChoice longest={3600} />} />
          <Card title="Details"><div class="card-body"><KeyValues tight rows={[
            ['Publisher confirms', <Yes of={one.confirm} />], ['Transactional', <Yes of={one.transactional} />], ['Prefetch of each consumer', one.prefetch_count === 0 ? 'none' : count(one.prefetch_count)],
            ['Prefetch of the channel', one.global_prefetch_count === 0 ? 'none' : count(one.global_prefetch_count)], ['Uncommitted messages', count(one.messages_uncommitted)], ['Uncommitted acks', count(one.acks_uncommitted)],
            ['Idle since', <Time ms={one.idle_since ? Date.parse(one.idle_since) : null} />],
          ]} /></div></Card>
        </div>
        <Card title="Consumers" note={one.consumer_details?.length ?? 0}>
          {(one.consumer_details ?? []).length === 0 ? <div class="card-body"><p class="muted">No consumer on this channel.</p></div> : (
            <div class="table-wrap" role="region" tabIndex={0} aria-label="Consumers"><table><thead><tr><th scope="col">Consumer tag</th><th scope="col">Queue</th><th scope="col">Ack mode</th><th scope="col" class="num">Prefetch</th></tr></thead>
              <tbody>{one.consumer_details!.map((consumer) => <tr key={consumer.consumer_tag}><th scope="row"><code>{visible(consumer.consumer_tag)}</code></th><td><a href={queueLink(consumer.queue.vhost, consumer.queue.name)}>{visible(consumer.queue.name)}</a></td><td>{consumer.ack_required ? 'manual' : 'automatic'}</td><td class="num">{count(consumer.prefetch_count)}</td></tr>)}</tbody></table></div>
          )}
        </Card>
      </div>
    </>
  );
}
