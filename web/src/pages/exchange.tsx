// One exchange: the queues that use it as a dead-letter exchange, its bindings, publishing.
import type { JSX } from 'preact';
import { api, at } from '../api';
import { Icon } from '../icons';
import { count, plural, rate, visible } from '../format';
import { useResource } from '../resource';
import { exchangeLink, go, jump, link, policyLink, queueLink } from '../router';
import { may } from '../session';
import { Card, PageHead, Tile } from '../parts/card';
import { ChartCard, plotted, RangeChoice, useRange } from '../parts/chart';
import { ask } from '../parts/dialog';
import { exchangeTitle, Num, PolicyBadge, QueueName, SourceMark } from '../parts/marks';
import { Callout, Failed, Loading } from '../parts/states';
import { say } from '../parts/toast';
import { statDetails, statRate, type Binding, type Exchange, type Policy } from '../types';
import { ExchangeBindings } from './bindings';
import { ExchangeFeatures } from './lists';
import { PublishCard } from './messages';
import { cut, MiniMap, type MapEdge, type MapNode } from './minimap';

interface Feeder {
  name: string;
  died: number;
  dropped: number;
  dead_letter_routing_key: string | null;
}

function deleteExchange(exchange: Exchange, bindings: number): void {
  ask({
    title: `Delete ${exchange.name}?`,
    body: <><p class="loss"><strong>The exchange and {plural(bindings, 'binding')}</strong> will be deleted permanently.</p><p>Queues and their messages stay. Publishing to it is an error from then on, and queues that name it as their dead-letter exchange drop what dies.</p></>,
    typed: exchange.name,
    typedLabel: 'To confirm, type the name:',
    button: 'Delete exchange',
    act: async () => {
      await api.remove(at('exchanges', exchange.vhost, exchange.name));
      say(`Exchange ${exchange.name} deleted`);
      go(['exchanges']);
    },
  });
}

function ExchangeMap({ exchange, outgoing, incoming, feeders }: { exchange: Exchange; outgoing: Binding[]; incoming: Binding[]; feeders: Feeder[] }): JSX.Element {
  const nodes: MapNode[] = [{ id: 'this', kind: 'exchange', name: exchange.name, sub: exchange.type, column: 1, focus: true }];
  const edges: MapEdge[] = [];
  const from = cut(feeders, 5, 0, 'queues');
  for (const one of from.shown) {
    nodes.push({ id: 'q ' + one.name, kind: 'queue', name: one.name, sub: one.died ? plural(one.died, 'death') : 'nothing died', column: 0 });
    edges.push({ from: 'q ' + one.name, to: 'this', label: one.dead_letter_routing_key ?? undefined, dead: true });
  }
  if (from.more) nodes.push({ ...from.more, id: 'more feeders' });
  for (const one of cut(incoming, 4, 0, 'exchanges').shown) {
    nodes.push({ id: 'x ' + one.source, kind: 'exchange', name: one.source, sub: 'exchange', column: 0 });
    edges.push({ from: 'x ' + one.source, to: 'this', label: one.routing_key });
  }
  const targets = new Map<string, Binding[]>();
  for (const one of outgoing) targets.set(`${one.destination_type} ${one.destination}`, [...(targets.get(`${one.destination_type} ${one.destination}`) ?? []), one]);
  const to = cut([...targets], 8, 2, 'targets');
  for (const [id, list] of to.shown) {
    const kind = list[0]!.destination_type;
    nodes.push({ id, kind, name: list[0]!.destination, sub: kind, column: 2, dead: feeders.length > 0 && kind === 'queue' });
    edges.push({ from: 'this', to: id, label: list.length > 1 ? `${list.length} keys` : list[0]!.routing_key });
  }
  if (to.more) nodes.push({ ...to.more, id: 'more targets' });
  return (
    <Card title="Where its messages go" tools={<a class="btn btn-quiet btn-sm" href={link(['topology', exchange.vhost], { focus: exchange.name, kind: 'exchange' })}><Icon name="graph" />Topology</a>}>
      <MiniMap vhost={exchange.vhost} nodes={nodes} edges={edges} label={`What leads to ${exchangeTitle(exchange.name)} and where it leads`} />
    </Card>
  );
}

const sourcesShown = 10;

function Sources({ vhost, feeders, all }: { vhost: string; feeders: Feeder[]; all: number }): JSX.Element {
  return (
    <Card title="Dead letters come from" note={count(all)}>
      <div class="table-wrap" role="region" tabIndex={0} aria-label="Dead letters come from"><table>
        <thead><tr><th scope="col">Queue</th><th scope="col">Dead-letter routing key</th><th scope="col" class="num">Deaths</th><th scope="col" class="num w-1">Dropped</th></tr></thead>
        <tbody>{feeders.slice(0, sourcesShown).map((one) => (
          <tr key={one.name}><th scope="row"><QueueName vhost={vhost} name={one.name} /></th>
            <td>{one.dead_letter_routing_key === null ? <span class="faint">that of the message</span> : <code>{visible(one.dead_letter_routing_key)}</code>}</td>
            <td class="num"><Num value={one.died} strong /></td><td class="num w-1"><Num value={one.dropped} dead /></td></tr>
        ))}</tbody>
      </table></div>
      {all > sourcesShown && <div class="card-foot"><a href="#/dead-letters/sources?only=all">All queues with a dead-letter exchange</a></div>}
    </Card>
  );
}

function Settings({ exchange, policy }: { exchange: Exchange; policy: Policy | undefined }): JSX.Element {
  const { 'alternate-exchange': asked, ...others } = exchange.arguments;
  const policed = policy?.definition['alternate-exchange'];
  const alternate = asked ?? policed;
  const declared = (title: string, value: boolean) => (
    <tr key={title} class={value ? undefined : 'is-default'}><th scope="row">{title}</th><td>{value ? 'yes' : 'no'}</td><td>{value ? <SourceMark of="argument">declaration</SourceMark> : <SourceMark of="default" />}</td></tr>
  );
  return (
    <Card title="Settings and why they hold" note="argument beats policy">
      <div class="table-wrap" role="region" tabIndex={0} aria-label="Settings and why they hold"><table class="why table-top">
        <thead><tr><th scope="col">Setting</th><th scope="col">Effective</th><th scope="col">Why</th></tr></thead>
        <tbody>
          {alternate !== undefined && <tr><th scope="row">Alternate exchange</th><td><a href={exchangeLink(exchange.vhost, String(alternate))}>{visible(String(alternate))}</a>
            {asked !== undefined && policed !== undefined && policed !== asked && <span class="lost">policy says <s>{visible(String(policed))}</s>, the argument holds</span>}</td>
            <td>{asked !== undefined ? <SourceMark of="argument">argument <code>alternate-exchange</code></SourceMark> : <SourceMark of="policy">policy <a href={policyLink(exchange.vhost, policy!.name)}>{visible(policy!.name)}</a>, priority {policy!.priority}</SourceMark>}</td></tr>}
          {Object.entries(others).map(([key, value]) => <tr key={key}><th scope="row">{visible(key)}</th><td>{visible(typeof value === 'string' ? value : JSON.stringify(value))}</td><td><SourceMark of="argument">argument</SourceMark></td></tr>)}
          {declared('Durable', exchange.durable)}
          {alternate === undefined && <tr class="is-default"><th scope="row">Alternate exchange</th><td>none</td><td><SourceMark of="default" /></td></tr>}
          {declared('Internal', exchange.internal)}
          {declared('Auto-delete', exchange.auto_delete)}
        </tbody>
      </table></div>
    </Card>
  );
}

export function ExchangePage({ path }: { path: string[] }): JSX.Element {
  const vhost = path[1]!, encoded = path[2]!;
  const name = encoded === 'amq.default' ? '' : encoded;
  const range = useRange(3600);
  const resource = useResource<Exchange>(`${at('exchanges', vhost, encoded)}?msg_rates_age=${range.age}&msg_rates_incr=${range.step}`);
  const outgoing = useResource<Binding[]>(name === '' ? null : at('exchanges', vhost, encoded, 'bindings', 'source'), 30);
  const incoming = useResource<Binding[]>(name === '' ? null : at('exchanges', vhost, encoded, 'bindings', 'destination'), 30);
  const policies = useResource<Policy[]>(resource.data?.policy ? at('policies', vhost) : null, 30);
  const sources = useResource<{ items: Feeder[]; total_count: number }>(`/dead-letters/sources?vhost=${encodeURIComponent(vhost)}&exchange=${encodeURIComponent(name)}&sort=died&sort_reverse=true&page=1&page_size=100&columns=name,died,dropped,dead_letter_routing_key`, 30);
  const crumbs = [{ title: 'Exchanges', href: '#/exchanges' }, { title: `vhost ${vhost}`, href: link(['exchanges'], { vhost }) }, { title: exchangeTitle(name) }];
  const exchange = resource.data;
  if (!exchange) return <><PageHead title={exchangeTitle(name)} crumbs={crumbs} /><section class="card">{resource.error ? <Failed error={resource.error} retry={resource.reload} /> : <Loading rows={6} />}</section></>;
  const policy = policies.data?.find((one) => one.name === exchange.policy);
  const feeders = sources.data?.items ?? [];
  const fed = sources.data?.total_count ?? 0;
  const stats = exchange.message_stats;
  const rates = plotted([['In', 1, statDetails(stats, 'publish_in')], ['Out', 2, statDetails(stats, 'publish_out')]], 'rate');
  const own = name !== '' && !name.startsWith('amq.');
  const publish = may.write(vhost, name) && !exchange.internal && <PublishCard vhost={vhost} exchange={name} id="publish" />;
  return (
    <>
      <PageHead title={exchangeTitle(name)} crumbs={crumbs} marks={<><span class="chip">{exchange.type}</span><ExchangeFeatures exchange={exchange} policed={policy?.definition['alternate-exchange']} /></>}
        actions={<>
          {publish && <a class="btn" href="#publish" onClick={jump('publish')}><Icon name="publish" />Publish</a>}
          {own && may.configure(vhost, name) && <button class="btn btn-dead" onClick={() => deleteExchange(exchange, outgoing.data?.length ?? 0)}>Delete…</button>}
        </>}
        meta={<><span>Policy {exchange.policy ? <PolicyBadge vhost={vhost} name={exchange.policy} /> : <span class="faint">none</span>}</span></>} />
      <div class="stack">
        {feeders.length > 0 && outgoing.data?.length === 0 && <Callout tone="dead" title="Dead letters are dropped here:">{plural(fed, 'queue sends', 'queues send')} dead letters to this exchange, and nothing is bound to it.</Callout>}
        {feeders.length > 0 && (outgoing.data?.length ?? 0) > 0 && <Callout tone="info" icon="letter" title={`The dead-letter exchange of ${plural(fed, 'queue')}:`}>{feeders.slice(0, 5).map((one, index) => <>{index > 0 && ', '}<a href={queueLink(vhost, one.name)}>{visible(one.name)}</a></>)}{fed > 5 && ` and ${fed - 5} more`}.</Callout>}
        <div class="tiles">
          <Tile label="Published in" value={rate(statRate(stats, 'publish_in')).replace('/s', '')} unit="/s" note={`${Number(stats?.publish_in ?? 0).toLocaleString('en-US')} in all`} spark={rates.series[0]!.values.map(Number)} tone="accent" />
          <Tile label="Routed out" value={rate(statRate(stats, 'publish_out')).replace('/s', '')} unit="/s" note={`${Number(stats?.publish_out ?? 0).toLocaleString('en-US')} in all`} spark={rates.series[1]!.values.map(Number)} tone="accent" />
          <Tile label="Bindings" value={name === '' ? 'all queues' : String(outgoing.data?.length ?? 0)} note={name === '' ? 'by their names' : undefined} />
          <Tile label="Queues that dead-letter here" value={count(fed)} />
        </div>
        <div class="cols">
          <div class="stack">
            <ChartCard title="Message rates" data={rates} kind="rate" empty={stats ? undefined : 'No client has published to it yet.'} range={<RangeChoice longest={3600} />} />
            <Settings exchange={exchange} policy={policy} />
            {name === '' && fed > 0 && <Sources vhost={vhost} feeders={feeders} all={fed} />}
          </div>
          {name === '' ? <div class="stack"><Callout tone="info" title="Every queue is bound to the default exchange by its name.">This cannot be changed.</Callout>{publish}</div>
            : <div class="stack">
              {outgoing.data && incoming.data && <ExchangeMap exchange={exchange} outgoing={outgoing.data} incoming={incoming.data} feeders={feeders} />}
              {fed > 0 && <Sources vhost={vhost} feeders={feeders} all={fed} />}
            </div>}
        </div>
        {name !== '' && <div class="cols"><div class="stack"><ExchangeBindings vhost={vhost} name={name} /></div>{publish}</div>}
      </div>
    </>
  );
}
