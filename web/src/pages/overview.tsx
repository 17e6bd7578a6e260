// The front page: dead letters, then the broker.
import type { JSX } from 'preact';
import { Icon } from '../icons';
import { bytes, count, duration, plural, rate, time, visible } from '../format';
import { useResource } from '../resource';
import { link, queueLink } from '../router';
import { chosenVhost, may } from '../session';
import { Bar, Card, PageHead, Tile } from '../parts/card';
import { Bars, ChartCard, Legend, plotted, RangeChoice, useRange, type Plotted } from '../parts/chart';
import { QueueName, ReasonMark, reasonColour, reasons, StateDot } from '../parts/marks';
import { Shown } from '../parts/states';
import { statDetails, statRate, type DeadLetterSummary, type Deaths, type Node, type Overview, type DeadLetterSource } from '../types';
import { DefinitionsCard } from './definitions';

export const outcomeText: Record<string, string> = {
  dead_lettered: 'Dead-lettered', waiting: 'Waiting', no_dlx: 'No DLX', dlx_missing: 'DLX missing', unroutable: 'No route',
  cycle: 'Cycle', target_refused: 'Refused',
};

export function deathsOf(deaths: Deaths, reason?: string, outcomes?: (outcome: string) => boolean): number {
  let sum = 0;
  for (const [why, parts] of Object.entries(deaths)) {
    if (reason !== undefined && why !== reason) continue;
    for (const [outcome, value] of Object.entries(parts)) if (!outcomes || outcomes(outcome)) sum += value;
  }
  return sum;
}
export const isDropped = (outcome: string) => outcome !== 'dead_lettered' && outcome !== 'waiting';

/** Deaths in each step of the range, by reason. */
export function deathBars(details: DeadLetterSummary['deaths_details'], totals: Deaths): Plotted {
  const data = plotted(reasons.map((reason) => [reason, reasonColour[reason], details[reason]]), 'rate');
  const step = data.times.length > 1 ? (data.times[1]! - data.times[0]!) / 1000 : 1;
  return {
    times: data.times,
    series: data.series.map((one) => ({ ...one, values: one.values.map((value) => Math.round((value ?? 0) * step)), last: deathsOf(totals, one.title) })),
  };
}

export function whyLost(source: { problem: string | null; dead_letter_exchange: string | null; dead_letter_routing_key?: string | null; outcomes?: Record<string, number> }): string {
  if (source.problem === 'exchange_missing') return `dead-letter exchange ${visible(source.dead_letter_exchange ?? '')} does not exist`;
  if (source.problem === 'no_route' && source.dead_letter_routing_key) return `exchange ${visible(source.dead_letter_exchange ?? '')} has no queue for key ${visible(source.dead_letter_routing_key)}`;
  if (source.problem === 'no_route') return `exchange ${visible(source.dead_letter_exchange ?? '')} leads to no queue`;
  if (source.dead_letter_exchange === null) return 'the queue has no dead-letter exchange';
  const main = Object.entries(source.outcomes ?? {}).filter(([outcome]) => isDropped(outcome)).sort((a, b) => b[1] - a[1])[0]?.[0];
  if (main === 'cycle') return 'they would go in a cycle without a rejection';
  if (main === 'target_refused') return 'every target was full and refused them';
  if (main === 'unroutable') return 'their keys led to no queue';
  return 'there was no way to go at that moment';
}

function Resting({ source }: { source: DeadLetterSource }): JSX.Element {
  if (source.dropped === source.deaths) {
    return <span class="chip chip-dead" title={whyLost(source)}><Icon name="warning" />dropped: {whyLost(source)}</span>;
  }
  return (
    <span>
      {source.targets.slice(0, 2).map((name, index) => <>{index > 0 && ', '}<QueueName vhost={source.vhost} name={name} /> <span class="faint" title={`${count(source.target_messages[index])} messages are in ${visible(name)} now`}>{count(source.target_messages[index])}</span></>)}
      {source.targets.length > 2 && <span class="muted"> and {source.targets.length - 2} more</span>}
      {source.targets.length === 0 && <span class="muted">by their own keys</span>}
      {source.dropped > 0 && <> <span class="is-dead">{count(source.dropped)} dropped</span></>}
    </span>
  );
}

function Lead({ data }: { data: DeadLetterSummary }): JSX.Element {
  const total = deathsOf(data.deaths);
  const lost = deathsOf(data.deaths, undefined, isDropped);
  const first = data.top[0];
  if (!first || total === 0) {
    return (
      <p class="strip-lead">Nothing has died since the broker started. {data.targets.queues === 0
        ? <>No queue is a target of a dead-letter exchange yet. <a href="#/policies">Set a policy</a> to give queues one.</>
        : <>{plural(data.targets.queues, 'queue waits', 'queues wait')} for dead letters{data.targets.messages > 0 ? `, with ${plural(data.targets.messages, 'message')} in them` : ''}.</>}</p>
    );
  }
  const lostFirst = first.dropped === first.deaths;
  const saved = first.targets[0];
  return (
    <p class="strip-lead">
      <strong>{count(first.deaths)} of them {first.deaths === 1 ? 'was' : 'were'} {first.reason.replace('_', ' ')} in </strong>
      <a href={queueLink(first.vhost, first.name)}>{visible(first.name)}</a>{first.rate > 0 ? <>, now at {rate(first.rate)}</> : ', none just now'}.{' '}
      {lostFirst ? <>They were dropped: {whyLost(first)}.</> : saved ? <>They are in <a href={queueLink(first.vhost, saved)}>{visible(saved)}</a>{first.targets.length > 1 && ` and ${plural(first.targets.length - 1, 'other queue')}`}.</> : <>They were sent on by their own keys.</>}{' '}
      {lost > 0 && !lostFirst && <><span class="is-dead">{count(lost)} others were dropped</span>: <a href="#/dead-letters/sources?only=problems">see why</a>.</>}
    </p>
  );
}

export function Strip({ data }: { data: DeadLetterSummary }): JSX.Element {
  const total = deathsOf(data.deaths);
  const lost = deathsOf(data.deaths, undefined, isDropped);
  const bars = deathBars(data.deaths_details, data.deaths);
  const wrong = data.problems.exchange_missing + data.problems.no_route;
  const unaccounted = data.accounts.entered - data.accounts.ended - data.accounts.present;
  return (
    <section class={total === 0 ? 'strip strip-calm' : 'strip'} aria-labelledby="strip-title">
      <div class="strip-head">
        <div>
          <h2 id="strip-title"><small>Dead letters since {time(data.since)}</small>{total === 0 ? 'No message died' : `${count(total)} message${total === 1 ? '' : 's'} died`}</h2>
          <Lead data={data} />
          <div class="row">
            <a class="btn btn-primary" href="#/dead-letters">Open dead letters</a>
            <a class="btn" href="#/topology"><Icon name="graph" />See where they go</a>
          </div>
        </div>
        <div>
          {total > 0 && bars.times.length > 1 && <Bars data={bars} label={`Deaths by reason over time; in all ${reasons.map((reason) => `${reason} ${deathsOf(data.deaths, reason)}`).join(', ')}`} />}
          {total > 0 && <Legend data={bars} show={count} block />}
        </div>
      </div>
      <div class="facts">
        <a href="#/dead-letters"><b>{count(data.targets.messages)}</b><span>in {plural(data.targets.queues, 'dead-letter queue')}</span></a>
        <a href="#/dead-letters"><b>{data.targets.oldest ? time(data.targets.oldest) : '–'}</b><span>oldest died</span></a>
        <a href="#/dead-letters/sources?only=died"><b>{count(data.sources)}</b><span>queues where messages died</span></a>
        <a href="#/dead-letters/sources?only=died&sort=dropped&desc=true"><b class={lost ? 'is-dead' : undefined}>{count(lost)}</b><span>dropped, no way to go</span></a>
        <a href="#/dead-letters"><b class={data.targets.unattended ? 'is-warn' : undefined}>{count(data.targets.unattended)}</b><span>queues without a consumer</span></a>
        <a href="#/dead-letters/sources?only=problems"><b class={wrong ? 'is-dead' : undefined}>{count(wrong)}</b><span>broken paths</span></a>
      </div>
      {data.top.length > 0 && (
        <div class="table-wrap" role="region" tabIndex={0} aria-label="The most frequent deaths">
          <table>
            <thead><tr><th scope="col">Died in</th><th scope="col" class="w-1">Reason</th><th scope="col" class="num">Deaths</th><th scope="col" class="num w-1">Now</th><th scope="col" class="w-2">Dead-letter exchange</th><th scope="col" class="w-1">Where they are</th></tr></thead>
            <tbody>{data.top.slice(0, 5).map((source) => (
              <tr key={`${source.vhost} ${source.name} ${source.reason}`}>
                <th scope="row"><a class="cell-main" href={queueLink(source.vhost, source.name)} title={visible(source.name)}>{visible(source.name)}</a>
                  <span class="cell-sub only-phone">{source.reason}{source.dropped > 0 ? `, ${count(source.dropped)} dropped` : ''}{source.targets[0] !== undefined && source.dropped < source.deaths ? `, in ${visible(source.targets[0])} (${count(source.target_messages[0])})${source.targets.length > 1 ? ` and ${source.targets.length - 1} more` : ''}` : ''}</span></th>
                <td class="w-1"><ReasonMark reason={source.reason} /></td>
                <td class="num"><strong>{count(source.deaths)}</strong></td>
                <td class="num w-1">{source.rate > 0 ? rate(source.rate) : <span class="zero">0</span>}</td>
                <td class="w-2">{source.dead_letter_exchange === null ? <span class="faint">none</span> : visible(source.dead_letter_exchange || '(default exchange)')}</td>
                <td class="w-1"><Resting source={source} /></td>
              </tr>
            ))}</tbody>
          </table>
        </div>
      )}
      <div class="card-foot">
        <a href="#/dead-letters/sources?only=died">All queues where messages died</a>
        <span class="proof push"><Icon name={unaccounted === 0 ? 'check' : 'warning'} />{unaccounted === 0 ? 'The accounts agree:' : 'The accounts were read while messages moved:'} <code>entered {count(data.accounts.entered)} − ended {count(data.accounts.ended)} − present {count(data.accounts.present)} = {count(unaccounted)}</code></span>
      </div>
    </section>
  );
}

function Churn({ data }: { data: Overview }): JSX.Element {
  const churn = data.churn_rates;
  const pace = (name: string) => statRate(churn, name) > 0 && <span class="faint"> {rate(statRate(churn, name))}</span>;
  const row = (title: string, opened: string, closed: string) => (
    <tr key={title}><th scope="row">{title}</th>
      <td class="num">{count(Number(churn[opened] ?? 0))}{pace(opened)}</td>
      <td class="num">{count(Number(churn[closed] ?? 0))}{pace(closed)}</td></tr>
  );
  return (
    <Card title="Churn" note="since the start">
      <div class="card-body"><table class="table-plain">
        <thead><tr><th scope="col">What</th><th scope="col" class="num">Opened</th><th scope="col" class="num">Closed</th></tr></thead>
        <tbody>{row('Connections', 'connection_created', 'connection_closed')}{row('Channels', 'channel_created', 'channel_closed')}{row('Queues', 'queue_created', 'queue_deleted')}</tbody>
      </table></div>
    </Card>
  );
}

function Nodes(): JSX.Element {
  const nodes = useResource<Node[]>('/nodes', 10);
  return (
    <Card title="Nodes">
      <Shown of={nodes} rows={1}>{(list) => (
        <div class="table-wrap" role="region" tabIndex={0} aria-label="Nodes"><table>
          <thead><tr><th scope="col">Name</th><th scope="col">State</th><th scope="col">Memory</th><th scope="col" class="w-1">Disk free</th><th scope="col" class="num w-2">Sockets</th><th scope="col" class="num w-2">Descriptors</th><th scope="col" class="num w-1">Uptime</th></tr></thead>
          <tbody>{list.map((node) => (
            <tr key={node.name}>
              <th scope="row"><a href={link(['nodes', node.name])}>{visible(node.name)}</a></th>
              <td><StateDot state={node.running ? 'running' : 'down'} /></td>
              <td><span class="nowrap">{bytes(node.mem_used)} of {bytes(node.mem_limit)}</span><Bar part={node.mem_used} whole={node.mem_limit} tone={node.mem_alarm ? 'dead' : 'ok'} /></td>
              <td class="w-1"><span class="nowrap">{bytes(node.disk_free)}, limit {bytes(node.disk_free_limit)}</span><Bar part={node.disk_free} whole={node.disk_free + node.disk_free_limit * 4} tone={node.disk_free_alarm ? 'dead' : 'ok'} /></td>
              <td class="num w-2">{count(node.sockets_used)} of {count(node.sockets_total)}</td>
              <td class="num w-2">{count(node.fd_used)} of {count(node.fd_total)}</td>
              <td class="num w-1">{duration(node.uptime)}</td>
            </tr>
          ))}</tbody>
        </table></div>
      )}</Shown>
    </Card>
  );
}

export function OverviewPage(): JSX.Element {
  const range = useRange();
  const vhost = chosenVhost.use();
  const stretch = `msg_rates_age=${range.age}&msg_rates_incr=${range.step}`;
  const overview = useResource<Overview>(`/overview?${stretch}&lengths_age=${range.age}&lengths_incr=${range.step}`);
  const summary = useResource<DeadLetterSummary>(`/dead-letters?${stretch}${vhost ? `&vhost=${encodeURIComponent(vhost)}` : ''}`);
  const died = summary.data ? Object.values(summary.data.deaths_details).reduce((sum, one) => sum + (one.rate ?? 0), 0) : 0;
  return (
    <>
      <PageHead title="Overview" marks={<span class="muted">{visible(overview.data?.cluster_name ?? '')}</span>} actions={<RangeChoice />} />
      <div class="stack">
        <Shown of={summary}>{(data) => <Strip data={data} />}</Shown>
        <Shown of={overview}>{(data) => {
          const totals = data.queue_totals;
          const stats = data.message_stats;
          const lengths = plotted([['Total', 1, statDetails(totals, 'messages')], ['Ready', 4, statDetails(totals, 'messages_ready')], ['Unacked', 2, statDetails(totals, 'messages_unacknowledged')]], 'level');
          const rates = plotted([['Publish', 1, statDetails(stats, 'publish')], ['Deliver', 2, statDetails(stats, 'deliver_get')], ['Ack', 3, statDetails(stats, 'ack')], ['Redeliver', 6, statDetails(stats, 'redeliver')]], 'rate');
          const diedAll = summary.data && rates.times.length > 0 ? deathBars(summary.data.deaths_details, {}) : undefined;
          if (diedAll && diedAll.times.length === rates.times.length) {
            const step = (rates.times[1]! - rates.times[0]!) / 1000 || 1;
            rates.series.push({ title: 'Died', colour: 5, last: died, values: diedAll.times.map((_, index) => diedAll.series.reduce((sum, one) => sum + (one.values[index] ?? 0), 0) / step) });
          }
          const line = (index: number) => lengths.series[index]!.values.map((value) => value ?? 0);
          const pace = (index: number) => rates.series[index]!.values.map((value) => value ?? 0);
          const objects = data.object_totals;
          return (
            <>
              <div class="tiles">
                <Tile label="Ready" value={count(Number(totals.messages_ready ?? 0))} href="#/queues" spark={line(1)} tone="warn" note={summary.data && summary.data.targets.messages > 0 ? `of which dead letters ${count(summary.data.targets.messages)}` : undefined} />
                <Tile label="Unacked" value={count(Number(totals.messages_unacknowledged ?? 0))} href="#/queues" spark={line(2)} />
                <RateTile label="Publish" value={statRate(stats, 'publish')} spark={pace(0)} tone="accent" note={`confirmed ${rate(statRate(stats, 'confirm'))}`} />
                <RateTile label="Deliver" value={statRate(stats, 'deliver_get')} spark={pace(1)} tone="accent" note={`redelivered ${rate(statRate(stats, 'redeliver'))}`} />
                <RateTile label="Ack" value={statRate(stats, 'ack')} spark={pace(2)} tone="ok" />
                <RateTile label="Died" value={died} href="#/dead-letters" spark={rates.series[4] ? pace(4) : undefined} tone="dead" />
              </div>
              <div class="cols">
                <ChartCard title="Queued messages" note="all queues" data={lengths} kind="level" />
                <ChartCard title="Message rates" note="all queues" data={rates} kind="rate" />
              </div>
              <div class="tiles">
                <Tile label="Connections" value={count(objects.connections)} href="#/connections" />
                <Tile label="Channels" value={count(objects.channels)} href="#/channels" />
                <Tile label="Exchanges" value={count(objects.exchanges)} href="#/exchanges" />
                <Tile label="Queues" value={count(objects.queues)} href="#/queues" note={summary.data && summary.data.targets.queues > 0 ? `${count(summary.data.targets.queues)} for dead letters` : undefined} />
                <Tile label="Consumers" value={count(objects.consumers)} />
              </div>
              {may.monitor() && <Nodes />}
              <div class="cols cols-3">
                <Churn data={data} />
                {data.listeners && (
                  <Card title="Listeners"><div class="card-body"><table class="table-plain">
                    <thead><tr><th scope="col">Protocol</th><th scope="col">Bound to</th><th scope="col" class="num">Port</th></tr></thead>
                    <tbody>{data.listeners.map((one) => <tr key={one.protocol + one.port}><th scope="row">{one.protocol}</th><td><code>{one.ip_address}</code></td><td class="num">{one.port}</td></tr>)}</tbody>
                  </table></div></Card>
                )}
                {may.administrate() && <DefinitionsCard />}
              </div>
            </>
          );
        }}</Shown>
      </div>
    </>
  );
}

function RateTile({ label, value, ...rest }: { label: string; value: number; spark?: number[]; tone: string; note?: string; href?: string }): JSX.Element {
  const [figure, unit] = value === 0 ? ['0', '/s'] : [rate(value).replace('/s', ''), '/s'];
  return <Tile label={label} value={figure} unit={unit} {...rest} />;
}
