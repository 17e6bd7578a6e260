// One queue: deaths and their reasons, effective settings and their sources, and dead-letter paths.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { at } from '../api';
import { Icon } from '../icons';
import { bytes, count, duration, plural, rate, visible } from '../format';
import { useResource } from '../resource';
import { channelLink, connectionLink, exchangeLink, go, jump, link, queueLink } from '../router';
import { may } from '../session';
import { Card, PageHead, Tile } from '../parts/card';
import { ChartCard, plotted, RangeChoice, useRange } from '../parts/chart';
import { Badge, Num, PolicyBadge, ReasonMark, reasons, SourceMark, StateDot, Time, type Source } from '../parts/marks';
import { Callout, Failed, Loading, Shown } from '../parts/states';
import { statDetails, statRate, type Binding, type Deaths, type Policy, type Queue, type QueueDeaths, type Table } from '../types';
import { QueueBindings } from './bindings';
import { GetCard, PublishCard } from './messages';
import { cut, MiniMap, type MapEdge, type MapNode } from './minimap';
import { deathsOf, isDropped, outcomeText, whyLost } from './overview';
import { ParkedCallout, ParkedCard } from './parked';
import { deleteQueues, Features, purgeQueue, shownState } from './queues';

// ---- Effective settings -------------------------------------------------------------------------------------------------

interface Setting {
  title: string;
  argument?: string;
  policy?: string;
  otherwise: string;
  lower?: boolean; // the lower of argument and policy is effective
  show?: (value: unknown) => string;
  only?: 'quorum';
}

const ms = (value: unknown) => (typeof value === 'number' ? `${value} ms (${duration(value)})` : visible(String(value)));
const number = (value: unknown) => (typeof value === 'number' ? count(value) : visible(String(value)));
const settings: Setting[] = [
  { title: 'Dead-letter exchange', argument: 'x-dead-letter-exchange', policy: 'dead-letter-exchange', otherwise: 'none', show: (value) => (value === '' ? '(default exchange)' : visible(String(value))) },
  { title: 'Dead-letter routing key', argument: 'x-dead-letter-routing-key', policy: 'dead-letter-routing-key', otherwise: 'keys of the message' },
  { title: 'Dead-letter strategy', argument: 'x-dead-letter-strategy', policy: 'dead-letter-strategy', otherwise: 'at-most-once', only: 'quorum' },
  { title: 'Message TTL', argument: 'x-message-ttl', policy: 'message-ttl', otherwise: 'none', lower: true, show: ms },
  { title: 'Max length', argument: 'x-max-length', policy: 'max-length', otherwise: 'none', lower: true, show: number },
  { title: 'Max length in bytes', argument: 'x-max-length-bytes', policy: 'max-length-bytes', otherwise: 'none', lower: true, show: (value) => (typeof value === 'number' ? `${value} (${bytes(value)})` : String(value)) },
  { title: 'Overflow', argument: 'x-overflow', policy: 'overflow', otherwise: 'drop-head' },
  { title: 'Delivery limit', argument: 'x-delivery-limit', policy: 'delivery-limit', otherwise: '20', lower: true, show: number, only: 'quorum' },
  { title: 'Queue expires', argument: 'x-expires', policy: 'expires', otherwise: 'never', lower: true, show: ms },
  { title: 'Priorities', argument: 'x-max-priority', otherwise: 'none', show: number },
  { title: 'Single active consumer', argument: 'x-single-active-consumer', otherwise: 'no' },
  { title: 'Consumer timeout', argument: 'x-consumer-timeout', policy: 'consumer-timeout', otherwise: 'of the broker', show: ms, lower: true },
];

interface Held {
  setting: Setting;
  value: string;
  source: Source;
  from?: string; // the policy's name
  lost: Lost[];
}
/** A setting that is not effective. */
interface Lost {
  who: string;
  value: string;
  rule: string;
}

function hold(setting: Setting, queue: Queue, policy: Table, operator: Table): Held {
  const show = setting.show ?? ((value: unknown) => visible(String(value)));
  const asked = setting.argument ? queue.arguments[setting.argument] : undefined;
  const merged = setting.policy ? queue.effective_policy_definition?.[setting.policy] : undefined;
  const lost: Lost[] = [];
  if (asked === undefined && merged === undefined) return { setting, value: setting.otherwise, source: 'default', lost };
  const argumentHolds = asked !== undefined && (merged === undefined
    || (setting.lower ? Number(asked) <= Number(merged) : setting.policy === 'overflow' ? queue.type !== 'quorum' : true));
  const byOperator = merged !== undefined && setting.policy! in operator && operator[setting.policy!] === merged;
  if (argumentHolds) {
    if (merged !== undefined && merged !== asked) lost.push({ who: byOperator ? 'operator policy' : 'policy', value: show(merged), rule: setting.lower ? 'the lower holds' : 'the argument holds' });
    return { setting, value: show(asked), source: 'argument', from: setting.argument, lost };
  }
  if (asked !== undefined && asked !== merged) lost.push({ who: 'argument', value: show(asked), rule: setting.lower ? 'the lower holds' : 'the policy holds' });
  const own = policy[setting.policy!];
  if (byOperator && own !== undefined && own !== merged) lost.push({ who: 'policy', value: show(own), rule: 'the operator policy holds' });
  return { setting, value: show(merged), source: byOperator ? 'operator' : 'policy', from: (byOperator ? queue.operator_policy : queue.policy) ?? undefined, lost };
}

function WhyCard({ queue, policies, operators }: { queue: Queue; policies: Policy[]; operators: Policy[] }): JSX.Element {
  const policy = policies.find((one) => one.name === queue.policy);
  const operator = operators.find((one) => one.name === queue.operator_policy);
  const all = settings.filter((one) => !one.only || one.only === queue.type).map((one) => hold(one, queue, policy?.definition ?? {}, operator?.definition ?? {}));
  const ordered = [...all.filter((one) => one.source !== 'default'), ...all.filter((one) => one.source === 'default')];
  const known = new Set(settings.map((one) => one.argument));
  const others = Object.entries(queue.arguments).filter(([name]) => !known.has(name) && name !== 'x-queue-type');
  return (
    <Card title="Settings and why they hold" note="argument beats policy; of limits the lower one holds" id="settings">
      <div class="table-wrap" role="region" tabIndex={0} aria-label="Settings and why they hold">
        <table class="why table-top">
          <thead><tr><th scope="col">Setting</th><th scope="col">Effective</th><th scope="col">Why</th></tr></thead>
          <tbody>
            {ordered.map((one) => (
              <tr key={one.setting.title} class={one.source === 'default' ? 'is-default' : undefined}>
                <th scope="row">{one.setting.title}</th>
                <td>{one.setting.policy === 'dead-letter-exchange' && one.source !== 'default' ? <a href={exchangeLink(queue.vhost, one.value === '(default exchange)' ? '' : String(queue.arguments['x-dead-letter-exchange'] ?? queue.effective_policy_definition['dead-letter-exchange']))}>{one.value}</a> : one.value}
                  {one.lost.map(({ who, value, rule }) => <span class="lost" key={who}>{who} says <s>{value}</s>, {rule}</span>)}</td>
                <td>{one.source === 'argument' ? <SourceMark of="argument">argument <code>{one.from}</code></SourceMark>
                  : one.source === 'default' ? <SourceMark of="default" />
                    : <SourceMark of={one.source}>{one.source === 'operator' ? 'operator policy' : 'policy'} <a href={link(['policies', queue.vhost, one.from ?? ''])}>{visible(one.from ?? '')}</a>{one.source === 'policy' && policy && <>, priority {policy.priority}</>}</SourceMark>}</td>
              </tr>
            ))}
            {others.map(([name, value]) => <tr key={name}><th scope="row">{visible(name)}</th><td>{visible(typeof value === 'string' ? value : JSON.stringify(value))}</td><td><SourceMark of="argument">argument</SourceMark></td></tr>)}
          </tbody>
        </table>
      </div>
      <div class="card-foot">
        <span>Ready <b>{count(queue.messages_ready)}</b>, {bytes(queue.message_bytes_ready)}</span>
        <span>unacked <b>{count(queue.messages_unacknowledged)}</b>, {bytes(queue.message_bytes_unacknowledged)}</span>
        <span>persistent <b>{count(queue.messages_persistent)}</b>, {bytes(queue.message_bytes_persistent)}</span>
        <span>in memory <b>{count(queue.messages_ram)}</b></span>
        {queue.messages_delayed !== undefined && <span>delayed <b>{count(queue.messages_delayed)}</b></span>}
        {queue.messages_parked > 0 && <span>parked <b class="is-dead">{count(queue.messages_parked)}</b>, {bytes(queue.message_bytes_parked)}</span>}
        {queue.messages_dlx !== undefined && <span>waiting for targets <b>{count(queue.messages_dlx)}</b></span>}
        <span>memory <b>{bytes(queue.memory)}</b></span>
      </div>
    </Card>
  );
}

// ---- Deaths ---------------------------------------------------------------------------------------------------------------

function DeathTable({ data }: { data: QueueDeaths }): JSX.Element {
  const columns = ['dead_lettered', 'waiting', 'no_dlx', 'dlx_missing', 'unroutable', 'cycle', 'target_refused'];
  const shown = columns.filter((outcome) => ['dead_lettered', 'no_dlx', 'unroutable', 'cycle'].includes(outcome) || deathsOf(data.deaths, undefined, (one) => one === outcome) > 0);
  const cell = (reason: string | undefined, outcome: string) => {
    const value = deathsOf(data.deaths, reason, (one) => one === outcome);
    return <td key={outcome} class="num"><Num value={value} dead={isDropped(outcome)} /></td>;
  };
  return (
    <Card title="Deaths by reason and outcome" note="since the broker started" id="deaths">
      <div class="table-wrap" role="region" tabIndex={0} aria-label="Deaths by reason and outcome"><table class="tight">
        <thead>
          <tr class="groups"><td /><td colSpan={shown.filter((one) => !isDropped(one)).length} /><th scope="colgroup" colSpan={shown.filter(isDropped).length}>Dropped</th><td /></tr>
          <tr><th scope="col">Reason</th>{shown.map((outcome) => <th key={outcome} scope="col" class="num">{outcomeText[outcome]}</th>)}<th scope="col" class="num">Total</th></tr>
        </thead>
        <tbody>
          {reasons.map((reason) => <tr key={reason}><th scope="row"><ReasonMark reason={reason} /></th>{shown.map((outcome) => cell(reason, outcome))}<td class="num"><Num value={deathsOf(data.deaths, reason)} strong /></td></tr>)}
          <tr class="total"><th scope="row">All</th>{shown.map((outcome) => cell(undefined, outcome))}<td class="num"><Num value={deathsOf(data.deaths)} strong /></td></tr>
        </tbody>
      </table></div>
    </Card>
  );
}

/** The queue contains dead letters: it has sources and no dead-letter exchange. */
const holdsDead = (queue: Queue, deaths: QueueDeaths) => deaths.fed_by.length > 0 && queue.messages > 0 && deaths.dead_letter_exchange === null;

/** The fill level of a box without a length limit. */
const filling = (messages: number) => Math.min(0.9, Math.log10(messages + 1) / 6);

/** The number of messages in the first targets of dead letters. */
function useHeld(vhost: string, names: string[]): Record<string, number> {
  const held: Record<string, number> = {};
  for (const index of [0, 1, 2, 3]) {
    const name = names[index];
    const one = useResource<{ messages: number }>(name === undefined ? null : `${at('queues', vhost, name)}?columns=messages&disable_stats=true`, 10).data;
    if (name !== undefined && typeof one?.messages === 'number') held[name] = one.messages;
  }
  return held;
}

function DeathMap({ queue, deaths, bindings }: { queue: Queue; deaths: QueueDeaths; bindings: Binding[] }): JSX.Element {
  const targets = useHeld(queue.vhost, deaths.targets);
  const nodes: MapNode[] = [];
  const edges: MapEdge[] = [];
  const limit = Number(queue.effective_policy_definition?.['max-length'] ?? queue.arguments['x-max-length'] ?? 0);
  nodes.push({ id: 'this', kind: 'queue', name: queue.name, sub: plural(queue.messages, 'message'), column: 1, focus: true, dead: holdsDead(queue, deaths), fill: limit ? queue.messages / limit : filling(queue.messages) });
  const bySource = new Map<string, string[]>();
  for (const binding of bindings) if (binding.source !== '') bySource.set(binding.source, [...(bySource.get(binding.source) ?? []), binding.routing_key]);
  const exchanges = cut([...bySource], 4, 0, 'exchanges');
  for (const [name, keys] of exchanges.shown) {
    nodes.push({ id: 'x ' + name, kind: 'exchange', name, sub: 'exchange', column: 0 });
    edges.push({ from: 'x ' + name, to: 'this', label: keys.length > 1 ? `${keys.length} keys` : keys[0] });
  }
  if (exchanges.more) nodes.push(exchanges.more);
  const feeders = cut(deaths.fed_by, 4, 0, 'queues');
  for (const feeder of feeders.shown) {
    const main = Object.entries(feeder.deaths).sort((a, b) => b[1] - a[1])[0];
    nodes.push({ id: 'q ' + feeder.name, kind: 'queue', name: feeder.name, sub: main && main[1] > 0 ? `${count(main[1])} ${main[0]}` : 'nothing died', column: 0 });
    edges.push({ from: 'q ' + feeder.name, to: 'this', label: main && main[1] > 0 ? main[0] : 'if it dies', dead: true });
  }
  if (feeders.more) nodes.push({ ...feeders.more, id: 'more feeders' });
  if (deaths.dead_letter_exchange !== null) {
    const missing = deaths.problem === 'exchange_missing';
    nodes.push({ id: 'dlx', kind: 'exchange', name: deaths.dead_letter_exchange, sub: missing ? 'does not exist' : deaths.exchange_type ?? '', column: 2, missing });
    const main = reasons.filter((reason) => deathsOf(deaths.deaths, reason) > 0).sort((a, b) => deathsOf(deaths.deaths, b) - deathsOf(deaths.deaths, a));
    edges.push({ from: 'this', to: 'dlx', label: main[0] ?? 'if it dies', dead: true });
    const ends = cut(deaths.targets, 4, 3, 'queues');
    for (const name of ends.shown) {
      const self = name === queue.name;
      const held = targets[name];
      if (!self) nodes.push({ id: 't ' + name, kind: 'queue', name, sub: held === undefined ? 'dead letters' : plural(held, 'dead letter'), column: 3, dead: true, fill: held ? filling(held) : 0 });
      edges.push({ from: 'dlx', to: self ? 'this' : 't ' + name, label: deaths.dead_letter_routing_key ?? undefined, dead: self });
    }
    if (ends.more) nodes.push(ends.more);
    if (deaths.problem === 'no_route') {
      nodes.push({ id: 'nowhere', kind: 'more', name: 'no queue', sub: 'dead letters are dropped', column: 3, missing: true });
      edges.push({ from: 'dlx', to: 'nowhere', dead: true });
    }
  }
  return (
    <Card title="Where its dead go" tools={<a class="btn btn-quiet btn-sm" href={link(['topology', queue.vhost], { focus: queue.name })}><Icon name="graph" />Topology</a>}>
      <MiniMap vhost={queue.vhost} nodes={nodes} edges={edges} label={`Where dead letters of ${queue.name} go and what feeds it`} />
      <div class="card-foot"><span>{deaths.dead_letter_exchange === null ? 'No dead-letter exchange: messages that die here are dropped.'
        : deaths.problem ? `Messages that die here are dropped: ${whyLost(deaths)}.`
          : deaths.targets.length > 0 ? `Dead letters go to ${deaths.targets.slice(0, 3).map(visible).join(', ')}${deaths.targets.length > 3 ? ` and ${deaths.targets.length - 3} more` : ''}.` : 'Dead letters go where their own keys lead.'}</span></div>
    </Card>
  );
}

function sumOutcomes(deaths: Deaths): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const outcomes of Object.values(deaths)) for (const [outcome, value] of Object.entries(outcomes)) sums[outcome] = (sums[outcome] ?? 0) + value;
  return sums;
}

function DeathCallout({ queue, deaths }: { queue: Queue; deaths: QueueDeaths }): JSX.Element | null {
  const total = deathsOf(deaths.deaths);
  const lost = deathsOf(deaths.deaths, undefined, isDropped);
  const now = Object.values(deaths.deaths_details).reduce((sum, one) => sum + (one.rate ?? 0), 0);
  if (total === 0 && holdsDead(queue, deaths)) {
    return (
      <Callout tone={queue.consumers === 0 ? 'warn' : 'info'} icon="letter" title={`${plural(queue.messages, 'dead letter')} ${queue.messages === 1 ? 'is' : 'are'} here`}
        actions={may.read(queue.vhost, queue.name) && <a class="btn btn-sm" href="#get" onClick={jump('get')}>Get messages</a>}>
        from {deaths.fed_by.slice(0, 3).map((feeder, index) => <>{index > 0 && ', '}<a href={queueLink(queue.vhost, feeder.name)}>{visible(feeder.name)}</a></>)}{deaths.fed_by.length > 3 && ' and others'}.
        {queue.consumers === 0 ? ' No consumer takes them.' : ''}{deaths.oldest ? <> The oldest died at <Time ms={deaths.oldest} />.</> : ''}
      </Callout>
    );
  }
  if (total === 0) {
    return deaths.problem ? <Callout tone="warn" title="Messages that die here will be dropped:">{whyLost(deaths)}.</Callout> : null;
  }
  const main = reasons.map((reason) => [reason, deathsOf(deaths.deaths, reason)] as const).sort((a, b) => b[1] - a[1])[0]!;
  return (
    <Callout tone="dead" icon="letter" title={`${plural(total, 'message')} died here`} actions={<a class="btn btn-sm" href="#deaths" onClick={jump('deaths')}>See why</a>}>
      since the broker started, {main[1] === total ? (total === 1 ? 'it was' : 'all') : `${count(main[1])} of them`} {main[0]}.{' '}
      {lost === total ? <>{total === 1 ? 'It was' : 'All were'} dropped: {whyLost({ ...deaths, outcomes: sumOutcomes(deaths.deaths) })}.</> : <>{deaths.targets[0] ? <>They go to <a href={queueLink(queue.vhost, deaths.targets[0])}>{visible(deaths.targets[0])}</a>.</> : null}{lost > 0 && <> <span class="is-dead">{count(lost)} were dropped.</span></>}</>}{' '}
      {now > 0 ? `Now ${rate(now)}.` : 'None just now.'}
    </Callout>
  );
}

// ---- Page -------------------------------------------------------------------------------------------------------------------

/** Links to the sections; the current section is marked. */
function Sections({ list }: { list: [id: string, title: string][] }): JSX.Element {
  const [here, setHere] = useState('top');
  const ids = list.map(([id]) => id).join();
  useEffect(() => {
    const look = () => {
      const passed = ids.split(',').map((id) => [id, document.getElementById(id)?.getBoundingClientRect().top] as const).filter(([, top]) => top !== undefined && top < 160);
      const lowest = passed.sort(([, a], [, b]) => b! - a!)[0];
      setHere(window.scrollY < 40 || !lowest ? 'top' : lowest[0]);
    };
    addEventListener('scroll', look, { passive: true });
    return () => removeEventListener('scroll', look);
  }, [ids]);
  return (
    <nav class="subnav sticky" aria-label="Sections">
      {list.map(([id, title]) => (
        <a key={id} href={`#${id}`} aria-current={id === here ? 'true' : undefined} onClick={id === 'top' ? (event) => { event.preventDefault(); window.scrollTo(0, 0); } : jump(id)}>{title}</a>
      ))}
    </nav>
  );
}

function Consumers({ queue }: { queue: Queue }): JSX.Element {
  const list = queue.consumer_details ?? [];
  return (
    <Card title="Consumers" note={list.length} id="consumers">
      {list.length === 0 ? <div class="card-body"><p class="muted">No consumer. Messages wait until one comes{queue.arguments['x-message-ttl'] || queue.effective_policy_definition?.['message-ttl'] ? ', or until they expire' : ''}.</p></div> : (
        <div class="table-wrap" role="region" tabIndex={0} aria-label="Consumers"><table>
          <thead><tr><th scope="col">Consumer tag</th><th scope="col">Channel</th><th scope="col" class="w-2">Ack mode</th><th scope="col" class="num w-1">Prefetch</th><th scope="col" class="w-3">Timeout</th><th scope="col" class="w-1">State</th></tr></thead>
          <tbody>{list.map((consumer) => (
            <tr key={consumer.consumer_tag + consumer.channel_details.name}><th scope="row"><code class="cut">{visible(consumer.consumer_tag)}</code>{consumer.exclusive && <> <Badge title="exclusive consumer">Excl</Badge></>}</th>
              <td>{consumer.channel_details.name ? <a class="mono" href={channelLink(consumer.channel_details.name)}>{visible(consumer.channel_details.name.replace(/ -> .* \(/, ' ('))}</a> : '–'}</td>
              <td class="w-2">{consumer.ack_required ? 'manual' : 'automatic'}</td><td class="num w-1">{consumer.prefetch_count === 0 ? <span class="zero">none</span> : count(consumer.prefetch_count)}</td>
              <td class="w-3">{consumer.consumer_timeout ? duration(consumer.consumer_timeout) : <span class="zero">none</span>}</td><td class="w-1"><StateDot state={consumer.activity_status === 'waiting' ? 'waiting' : consumer.activity_status} /></td></tr>
          ))}</tbody>
        </table></div>
      )}
    </Card>
  );
}

export function QueuePage({ path }: { path: string[] }): JSX.Element {
  const vhost = path[1]!, name = path[2]!;
  const range = useRange(3600);
  const stretch = `msg_rates_age=${range.age}&msg_rates_incr=${range.step}`;
  const resource = useResource<Queue>(`${at('queues', vhost, name)}?${stretch}&lengths_age=${range.age}&lengths_incr=${range.step}`);
  const deaths = useResource<QueueDeaths>(`${at('queues', vhost, name, 'deaths')}?${stretch}`);
  const policies = useResource<Policy[]>(at('policies', vhost), 30);
  const operators = useResource<Policy[]>(at('operator-policies', vhost), 30);
  const bindings = useResource<Binding[]>(at('queues', vhost, name, 'bindings'), 30);
  const crumbs = [{ title: 'Queues', href: '#/queues' }, { title: `vhost ${vhost}`, href: link(['queues'], { vhost }) }, { title: name }];
  const queue = resource.data;
  if (!queue) {
    return <><PageHead title={name} crumbs={crumbs} /><section class="card">{resource.error ? <Failed error={resource.error} retry={resource.reload} /> : <Loading rows={8} />}</section></>;
  }
  const stats = queue.message_stats;
  const lengths = plotted([['Total', 1, queue.messages_details], ['Ready', 4, queue.messages_ready_details], ['Unacked', 2, queue.messages_unacknowledged_details]], 'level');
  const rates = plotted([['Publish', 1, statDetails(stats, 'publish')], ['Deliver', 2, statDetails(stats, 'deliver_get')], ['Ack', 3, statDetails(stats, 'ack')], ['Redeliver', 6, statDetails(stats, 'redeliver')]], 'rate');
  const perReason = deaths.data ? plotted(reasons.map((reason) => [reason, 5, deaths.data!.deaths_details[reason]]), 'rate') : undefined;
  const died = perReason ? perReason.times.map((_, index) => perReason.series.reduce((sum, one) => sum + (one.values[index] ?? 0), 0)) : [];
  const diedNow = deaths.data ? Object.values(deaths.data.deaths_details).reduce((sum, one) => sum + (one.rate ?? 0), 0) : 0;
  if (!stats && perReason && rates.times.length === 0) rates.times = perReason.times;
  for (const one of rates.series) if (one.values.length !== rates.times.length) one.values = rates.times.map(() => 0);
  if (died.length === rates.times.length) rates.series.push({ title: 'Died', colour: 5, values: died, last: diedNow });
  const mayRead = may.read(vhost, name), mayConfigure = may.configure(vhost, name), mayPublish = may.write(vhost, '');
  const operatorKeys = operators.data?.find((one) => one.name === queue.operator_policy)?.definition;
  return (
    <>
      <PageHead title={name} crumbs={crumbs}
        marks={<><span class="chip">{queue.type}</span><StateDot state={shownState(queue)} /><Features queue={{ ...queue, policy: null, operator_policy: null }} operatorKeys={operatorKeys} /></>}
        actions={<>
          {mayPublish && <a class="btn" href="#publish" onClick={jump('publish')}><Icon name="publish" />Publish</a>}
          {mayRead && <a class="btn" href="#get" onClick={jump('get')}><Icon name="eye" />Get messages</a>}
          {mayRead && <button class="btn btn-dead" onClick={() => purgeQueue(vhost, name, queue.messages_ready, queue.messages_parked)}>Purge…</button>}
          {mayConfigure && <button class="btn btn-dead" onClick={() => deleteQueues([queue], undefined, () => go(['queues']))}>Delete…</button>}
        </>}
        meta={<>
          <span>Policy {queue.policy ? <PolicyBadge vhost={vhost} name={queue.policy} /> : <span class="faint">none</span>}</span>
          <span>Operator policy {queue.operator_policy ? <PolicyBadge vhost={vhost} name={queue.operator_policy} operator /> : <span class="faint">none</span>}</span>
          <span>{queue.leader ? 'Leader' : 'Node'} {visible(queue.leader ?? queue.node ?? '')}</span>
          {queue.exclusive && queue.owner_pid_details && <span>Exclusive to <a href={connectionLink(queue.owner_pid_details.name)}>{visible(queue.owner_pid_details.name)}</a></span>}
          {queue.idle_since && <span>No consumer; last used <Time ms={Date.parse(queue.idle_since)} /></span>}
        </>} />
      <Sections list={[['top', 'Overview'], ['settings', 'Settings'], ['deaths', 'Deaths'], ...(queue.messages_parked > 0 ? [['parked', 'Parked']] : []), ['consumers', 'Consumers'], ['bindings', 'Bindings'], ...(mayPublish ? [['publish', 'Publish']] : []), ...(mayRead ? [['get', 'Get messages']] : [])] as [string, string][]} />
      <div class="stack">
        {queue.messages_parked > 0 && <ParkedCallout queue={queue} jump={jump('parked')} />}
        {deaths.data && <DeathCallout queue={queue} deaths={deaths.data} />}
        <div class="tiles">
          <Tile label="Ready" value={count(queue.messages_ready)} note={bytes(queue.message_bytes_ready)} spark={lengths.series[1]!.values.map(Number)} tone="warn" />
          <Tile label="Unacked" value={count(queue.messages_unacknowledged)} note={bytes(queue.message_bytes_unacknowledged)} spark={lengths.series[2]!.values.map(Number)} />
          <Tile label="Publish" value={rate(statRate(stats, 'publish')).replace('/s', '')} unit="/s" spark={rates.series[0]!.values.map(Number)} tone="accent" />
          <Tile label="Deliver" value={rate(statRate(stats, 'deliver_get')).replace('/s', '')} unit="/s" note={`redelivered ${rate(statRate(stats, 'redeliver'))}`} spark={rates.series[1]!.values.map(Number)} tone="accent" />
          <Tile label="Ack" value={rate(statRate(stats, 'ack')).replace('/s', '')} unit="/s" spark={rates.series[2]!.values.map(Number)} tone="ok" />
          <Tile label="Died" value={rate(diedNow).replace('/s', '')} unit="/s" note={deaths.data && deathsOf(deaths.data.deaths) > 0 ? `${count(deathsOf(deaths.data.deaths))} in all` : undefined} spark={died} tone="dead" />
          {queue.messages_parked > 0 && <Tile label="Parked" value={<span class="is-dead">{count(queue.messages_parked)}</span>} note={bytes(queue.message_bytes_parked)} />}
          <Tile label="Consumers" value={count(queue.consumers)} note={queue.consumers > 0 && queue.consumer_capacity !== undefined ? (queue.consumer_capacity >= 1 ? 'could take more' : 'busy') : undefined} />
        </div>
        <div class="cols">
          <ChartCard title="Queued messages" data={lengths} kind="level" range={<RangeChoice longest={3600} />} />
          <ChartCard title="Message rates" data={rates} kind="rate" />
        </div>
        <div class="cols">
          <WhyCard queue={queue} policies={policies.data ?? []} operators={operators.data ?? []} />
          <div class="stack">
            <Shown of={deaths} rows={4}>{(data) => <><DeathMap queue={queue} deaths={data} bindings={bindings.data ?? []} /><DeathTable data={data} /></>}</Shown>
          </div>
        </div>
        {queue.messages_parked > 0 && <ParkedCard queue={queue} />}
        <div class="cols cols-wide">
          <Consumers queue={queue} />
          <QueueBindings vhost={vhost} name={name} id="bindings" />
        </div>
        {(mayPublish || mayRead) && (
          <div class="cols">
            {mayPublish && <PublishCard vhost={vhost} exchange="" queue={name} id="publish" />}
            {mayRead && <GetCard vhost={vhost} queue={name} id="get" dead={deaths.data?.dead_letter_exchange !== null} />}
          </div>
        )}
      </div>
    </>
  );
}
