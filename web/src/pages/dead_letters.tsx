// Dead letters: the dead-letter queues, and the queues in which messages die.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { bytes, count, plural, visible } from '../format';
import { useResource } from '../resource';
import { changeQuery, link, place, queueLink } from '../router';
import { chosenVhost } from '../session';
import { PageHead } from '../parts/card';
import { ExchangeName, Name, Num, QueueName, ReasonMark, reasons, Time } from '../parts/marks';
import { Icon } from '../icons';
import { State } from '../parts/states';
import { PagedTable, type Column } from '../parts/table';
import type { DeadLetterQueue, DeadLetterSummary, Deaths, DeathPath } from '../types';
import { deathsOf, isDropped, whyLost } from './overview';

const scoped = (path: string, vhost: string, more = '') => {
  const query = [vhost ? `vhost=${encodeURIComponent(vhost)}` : '', more].filter(Boolean).join('&');
  return query ? `${path}?${query}` : path;
};

function Reasons({ of }: { of: Record<string, number> }): JSX.Element {
  const any = reasons.filter((reason) => (of[reason] ?? 0) > 0);
  if (any.length === 0) return <span class="zero">–</span>;
  return <span class="row">{any.map((reason) => <span key={reason} class="nowrap"><ReasonMark reason={reason} /> <span class="faint">{count(of[reason])}</span></span>)}</span>;
}

const queueColumns: Column<DeadLetterQueue>[] = [
  { id: 'name', title: 'Dead-letter queue', sort: 'name', value: (one) => one.name, cell: (one) => <><Name text={one.name} href={queueLink(one.vhost, one.name)} sub={`from ${one.source_count === 1 ? visible(one.sources[0]!) : plural(one.source_count, 'queue')}${reasons.filter((reason) => (one.deaths[reason] ?? 0) > 0).map((reason) => `, ${reason}`).join('')}`} />{!one.rests && <span class="cell-sub">intermediate: sent on from here</span>}</> },
  { id: 'vhost', title: 'Virtual host', sort: 'vhost', w: 3, off: true, value: (one) => one.vhost, cell: (one) => visible(one.vhost) },
  { id: 'messages', title: 'Dead letters', sort: 'messages', num: true, value: (one) => one.messages, cell: (one) => <Num value={one.messages} dead={one.rests} /> },
  { id: 'bytes', title: 'Size', sort: 'message_bytes', num: true, w: 2, value: (one) => one.message_bytes, cell: (one) => bytes(one.message_bytes) },
  { id: 'oldest', title: 'Oldest died', sort: 'oldest', w: 1, value: (one) => (one.oldest ? new Date(one.oldest).toISOString() : ''), cell: (one) => <Time ms={one.oldest} /> },
  { id: 'sources', title: 'From', w: 1, value: (one) => one.sources.join(' '), cell: (one) => <span>{one.sources.slice(0, 3).map((name, index) => <>{index > 0 && ', '}<QueueName vhost={one.vhost} name={name} /></>)}{one.source_count > 3 && <span class="muted"> and {one.source_count - 3} more</span>}</span> },
  { id: 'reasons', title: 'Reasons, since the start', w: 2, value: (one) => reasons.map((reason) => `${reason} ${one.deaths[reason] ?? 0}`).join(' '), cell: (one) => <Reasons of={one.deaths} /> },
  { id: 'consumers', title: 'Consumers', sort: 'consumers', num: true, value: (one) => one.consumers, cell: (one) => (one.consumers === 0 && one.messages > 0 && one.rests ? <span class="chip chip-warn">none</span> : <Num value={one.consumers} />) },
  { id: 'type', title: 'Type', sort: 'type', w: 3, off: true, value: (one) => one.type, cell: (one) => one.type },
];

function Head({ at }: { at: 'queues' | 'sources' }): JSX.Element {
  const vhost = chosenVhost.use();
  const summary = useResource<DeadLetterSummary>(scoped('/dead-letters', vhost));
  const data = summary.data;
  const lost = data ? deathsOf(data.deaths, undefined, isDropped) : 0;
  return (
    <>
      <PageHead title="Dead letters" meta={data && <>
        <span><b>{count(data.targets.messages)}</b> dead letter{data.targets.messages === 1 ? '' : 's'} in {plural(data.targets.queues, 'queue')}</span>
        {data.targets.oldest && <span>oldest from <Time ms={data.targets.oldest} /></span>}
        <span>{count(deathsOf(data.deaths))} deaths since <Time ms={data.since} /></span>
        {lost > 0 && <span class="is-dead">{count(lost)} dropped</span>}
        <span class="proof"><Icon name="check" /><code>entered {count(data.accounts.entered)} − ended {count(data.accounts.ended)} − present {count(data.accounts.present)} = {count(data.accounts.entered - data.accounts.ended - data.accounts.present)}</code></span>
      </>} actions={<a class="btn" href="#/topology"><Icon name="graph" />Topology</a>} />
      <nav class="subnav" aria-label="Dead letters">
        <a href="#/dead-letters" aria-current={at === 'queues' ? 'page' : undefined}>Where they are</a>
        <a href="#/dead-letters/sources" aria-current={at === 'sources' ? 'page' : undefined}>Where messages die</a>
      </nav>
    </>
  );
}

export function DeadLettersPage(): JSX.Element {
  const vhost = chosenVhost.use();
  return (
    <>
      <Head at="queues" />
      <div class="below-subnav">
        <PagedTable<DeadLetterQueue> label="Dead-letter queues" noun={['dead-letter queue', 'dead-letter queues']} store="dead-letters" columns={queueColumns} firstSort="messages" firstDescending
          path={scoped('/dead-letters/queues', vhost)} rowKey={(one) => `${one.vhost} ${one.name}`} rowLink={(one) => queueLink(one.vhost, one.name)}
          empty={<State icon="letter" tone="ok" title="No dead-letter queues"><p>No queue is the target of a dead-letter exchange. A policy with <code>dead-letter-exchange</code> gives queues one; bind a queue to that exchange to keep what dies.</p><a class="btn" href={link(['policies'])}>Policies</a></State>} />
      </div>
    </>
  );
}

interface SourceRow extends DeathPath {
  vhost: string;
  name: string;
  deaths: Deaths;
  died: number;
  dropped: number;
}

function outcomesOf(deaths: Deaths): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const parts of Object.values(deaths)) for (const [outcome, value] of Object.entries(parts)) sums[outcome] = (sums[outcome] ?? 0) + value;
  return sums;
}

const sum = (row: SourceRow, reason: string) => Object.values(row.deaths[reason] ?? {}).reduce((total, one) => total + one, 0);
/** Why messages were dropped, or why they died and where they go. Phones have no columns for this. */
const inShort = (row: SourceRow) => row.dropped || row.problem ? `${row.dropped ? `${count(row.dropped)} dropped: ` : ''}${whyLost({ ...row, outcomes: outcomesOf(row.deaths) })}`
  : [...reasons.filter((reason) => sum(row, reason) > 0), row.targets.length > 0 ? `to ${row.targets.slice(0, 2).map(visible).join(' and ')}${row.targets.length > 2 ? ' and more' : ''}` : ''].filter(Boolean).join(', ');
const sourceColumns: Column<SourceRow>[] = [
  { id: 'name', title: 'Died in', sort: 'name', value: (one) => one.name, cell: (one) => <Name text={one.name} href={queueLink(one.vhost, one.name)} sub={inShort(one)} /> },
  { id: 'vhost', title: 'Virtual host', sort: 'vhost', w: 3, off: true, value: (one) => one.vhost, cell: (one) => visible(one.vhost) },
  ...reasons.map((reason): Column<SourceRow> => ({ id: reason, title: reason, num: true, w: 2, group: 'Deaths', value: (one) => sum(one, reason), cell: (one) => <Num value={sum(one, reason)} /> })),
  { id: 'died', title: 'Total', sort: 'died', num: true, group: 'Deaths', value: (one) => one.died, cell: (one) => <Num value={one.died} strong /> },
  { id: 'dropped', title: 'Dropped', sort: 'dropped', num: true, w: 1, value: (one) => one.dropped, cell: (one) => <Num value={one.dropped} dead /> },
  { id: 'dlx', title: 'Dead-letter exchange', sort: 'dead_letter_exchange', w: 2, value: (one) => one.dead_letter_exchange ?? '', cell: (one) => (one.dead_letter_exchange === null ? <span class="faint">none</span> : one.problem === 'exchange_missing' ? <span class="chip chip-dead"><Icon name="warning" />{visible(one.dead_letter_exchange)} does not exist</span> : <ExchangeName vhost={one.vhost} name={one.dead_letter_exchange} />) },
  { id: 'targets', title: 'Goes to', w: 1, value: (one) => one.targets.join(' '), cell: (one) => (one.problem ? <span class="is-dead">{one.problem === 'exchange_missing' ? 'no queue: dropped' : whyLost(one)}</span> : one.targets.length > 0 ? <span>{one.targets.slice(0, 2).map((name, index) => <>{index > 0 && ', '}<QueueName vhost={one.vhost} name={name} /></>)}{one.targets.length > 2 && <span class="muted"> and more</span>}{one.dropped > 0 && <span class="cell-sub is-dead">{inShort(one)}</span>}</span> : <span class="faint">{one.dead_letter_exchange === null ? 'nowhere' : 'by their keys'}</span>) },
];

export function DeathsPage(): JSX.Element {
  const vhost = chosenVhost.use();
  const asked = place.use().query.get('only') ?? 'died';
  const only = ['died', 'problems', 'all'].includes(asked) ? asked : 'died';
  const [, setTotal] = useState<number>();
  return (
    <>
      <Head at="sources" />
      <div class="below-subnav">
        <PagedTable<SourceRow> label="Queues where messages die" noun={['queue', 'queues']} store="deaths" columns={sourceColumns} firstSort="died" firstDescending onPage={(page) => setTotal(page?.total_count)}
          path={scoped('/dead-letters/sources', vhost, only === 'all' ? '' : `only=${only}`)} rowKey={(one) => `${one.vhost} ${one.name}`} rowLink={(one) => queueLink(one.vhost, one.name)}
          segments={<div class="seg" role="group" aria-label="Which queues">{[['died', 'With deaths'], ['problems', 'Broken paths'], ['all', 'All with an exchange']].map(([id, title]) => <button key={id} aria-pressed={only === id} onClick={() => changeQuery({ only: id === 'died' ? null : id, page: null })}>{title}</button>)}</div>}
          empty={only === 'problems' ? <State icon="check" tone="ok" title="No broken paths"><p>Every dead-letter exchange that a queue names exists and leads to a queue.</p></State>
            : <State icon="check" tone="ok" title={only === 'died' ? 'Nothing has died since the broker started' : 'No queue has a dead-letter exchange'}><p>Messages die when they are rejected, expire, exceed a length limit or a delivery limit.</p></State>} />
      </div>
    </>
  );
}
