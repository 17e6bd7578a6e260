// The broker: cluster name, nodes, feature flags, deprecated features, definitions.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, at } from '../api';
import { bytes, count, duration, percent, plural, visible } from '../format';
import { retryAll, useResource } from '../resource';
import { link } from '../router';
import { may } from '../session';
import { Bar, Card, KeyValues, Tile } from '../parts/card';
import { ChartCard, plotted, RangeChoice, useRange, type Details } from '../parts/chart';
import { TextField } from '../parts/form';
import { Name, StateDot } from '../parts/marks';
import { Callout, Failed, Loading, Shown, State } from '../parts/states';
import { ListTable, type Column } from '../parts/table';
import { say, sayFailure } from '../parts/toast';
import type { Node } from '../types';
import { AdminHead } from './admin_head';
import { DefinitionsCard } from './definitions';

export function ClusterPage(): JSX.Element {
  const current = useResource<{ name: string }>('/cluster-name', 30);
  const [name, setName] = useState<string>();
  const save = async (event: Event) => {
    event.preventDefault();
    try {
      await api.put('/cluster-name', { name: name ?? current.data?.name });
      say('The cluster has a new name');
      retryAll();
    } catch (error) {
      sayFailure('Not renamed', error);
    }
  };
  return (
    <>
      <AdminHead title="Cluster name" at="cluster-name" />
      <section class="card narrow"><Shown of={current} rows={1}>{(data) => may.administrate() ? (
        <form class="card-body form" onSubmit={save}>
          <TextField label="Cluster name" value={name ?? data.name} set={setName} required hint="Shown on every page and sent to clients; federation and shovels tell brokers apart by it." />
          <div class="form-actions"><button class="btn btn-primary" type="submit">Rename</button></div>
        </form>
      ) : <div class="card-body"><p>{visible(data.name)}</p></div>}</Shown></section>
    </>
  );
}

const nodeColumns: Column<Node>[] = [
  { id: 'name', title: 'Name', value: (one) => one.name, cell: (one) => <Name text={one.name} href={link(['nodes', one.name])} sub={`${bytes(one.mem_used)} of ${bytes(one.mem_limit)}, disk free ${bytes(one.disk_free)}, up ${duration(one.uptime)}`} /> },
  { id: 'state', title: 'State', value: (one) => one.running, cell: (one) => <StateDot state={one.running ? 'running' : 'down'} /> },
  { id: 'memory', title: 'Memory', w: 1, value: (one) => one.mem_used, cell: (one) => <><span class="nowrap">{bytes(one.mem_used)} of {bytes(one.mem_limit)}</span><Bar part={one.mem_used} whole={one.mem_limit} tone={one.mem_alarm ? 'dead' : 'ok'} /></> },
  { id: 'disk', title: 'Disk free', w: 1, num: true, value: (one) => one.disk_free, cell: (one) => bytes(one.disk_free) },
  { id: 'sockets', title: 'Sockets', w: 2, num: true, value: (one) => one.sockets_used, cell: (one) => count(one.sockets_used) },
  { id: 'uptime', title: 'Uptime', w: 2, num: true, value: (one) => one.uptime, cell: (one) => duration(one.uptime) },
];

export function NodesPage(): JSX.Element {
  const nodes = useResource<Node[]>('/nodes');
  return (
    <>
      <AdminHead title="Nodes" at="nodes" marks={nodes.data && <span class="count">{count(nodes.data.length)}</span>} />
      <ListTable<Node> label="Nodes" noun={['node', 'nodes']} store="nodes" columns={nodeColumns} of={nodes} rowKey={(one) => one.name} rowLink={(one) => link(['nodes', one.name])} empty={<State icon="graph" title="No nodes" />} />
    </>
  );
}

interface Journal {
  files: number;
  waiting_bytes: number;
  batches: number;
  written_bytes: number;
  snapshots: number;
  snapshot_bytes: number;
  compactions: number;
  compacted_bytes: number;
  syncs: number;
  sync_seconds: number;
}

export function NodePage({ path }: { path: string[] }): JSX.Element {
  const name = path[1]!;
  const range = useRange();
  const node = useResource<Node>(`${at('nodes', name)}?node_stats_age=${range.age}&node_stats_incr=${range.step}`);
  const memory = useResource<{ memory: Record<string, number | Record<string, number> | string> }>(at('nodes', name, 'memory'), 10);
  const journal = useResource<Journal>(at('nodes', name, 'journal'), 10);
  const one = node.data;
  if (!one) return <><AdminHead title={name} at="nodes" crumb={{ title: 'Nodes', href: '#/nodes' }} /><section class="card">{node.error ? <Failed error={node.error} retry={node.reload} /> : <Loading />}</section></>;
  const usage = plotted([['Memory', 1, one.mem_used_details as Details], ['Disk free', 3, one.disk_free_details as Details]], 'level');
  const handles = plotted([['Sockets', 1, one.sockets_used_details as Details], ['Descriptors', 2, one.fd_used_details as Details], ['Threads', 6, one.proc_used_details as Details]], 'level');
  const scale = (index: number) => usage.series[index]!.values.map((value) => Math.round(Number(value) / 1048576));
  const parts = memory.data ? Object.entries(memory.data.memory).filter((entry): entry is [string, number] => typeof entry[1] === 'number' && entry[1] > 0) : [];
  const total = parts.reduce((sum, [, value]) => sum + value, 0);
  const words: Record<string, string> = { queue_procs: 'Messages in memory', other_proc: 'Everything else' };
  return (
    <>
      <AdminHead title={name} at="nodes" crumb={{ title: 'Nodes', href: '#/nodes' }} marks={<StateDot state={one.running ? 'running' : 'down'} />} actions={<RangeChoice />} />
      <div class="stack">
        {one.mem_alarm && <Callout tone="dead" title="Memory alarm:">publishers are blocked until memory use is below {bytes(one.mem_limit)}.</Callout>}
        {one.disk_free_alarm && <Callout tone="dead" title="Disk alarm:">publishers are blocked until {bytes(one.disk_free_limit)} are free.</Callout>}
        <div class="tiles">
          <Tile label="Memory" value={bytes(one.mem_used)} note={`limit ${bytes(one.mem_limit)}, ${percent(one.mem_used, one.mem_limit)}`} spark={scale(0)} tone={one.mem_alarm ? 'dead' : 'accent'} />
          <Tile label="Disk free" value={bytes(one.disk_free)} note={`alarm below ${bytes(one.disk_free_limit)}`} spark={scale(1)} tone={one.disk_free_alarm ? 'dead' : 'ok'} />
          <Tile label="Sockets" value={count(one.sockets_used)} note={`of ${count(one.sockets_total)}`} /><Tile label="Descriptors" value={count(one.fd_used)} note={`of ${count(one.fd_total)}`} />
          <Tile label="Threads" value={count(one.proc_used)} note={`${one.processors} processors`} /><Tile label="Uptime" value={duration(one.uptime)} />
        </div>
        <div class="cols">
          <ChartCard title="Memory" note="MiB" data={{ times: usage.times, series: [{ ...usage.series[0]!, values: scale(0), last: scale(0).at(-1) }] }} kind="level" />
          <ChartCard title="Sockets, descriptors, threads" data={handles} kind="level" />
        </div>
        <div class="cols">
          <div class="stack">
          <Card title="Memory"><Shown of={memory} rows={2}>{() => <div class="card-body stack">{parts.map(([part, value]) => <div key={part}><div class="row"><span>{words[part] ?? part.replaceAll('_', ' ')}</span><span class="push muted">{bytes(value)}, {percent(value, total)}</span></div><Bar part={value} whole={total} tone={part === 'queue_procs' ? 'accent' : 'quiet'} /></div>)}</div>}</Shown></Card>
          <Card title="Details"><div class="card-body"><KeyValues tight rows={[['Process', one.os_pid], ['Data and journal', <code>{visible(one.db_dir)}</code>], ['Configuration', one.config_files.length ? one.config_files.map(visible).join(', ') : <span class="faint">none</span>], ['Log', one.log_files.map(visible).join(', ')], ['Rates', one.rates_mode]]} /></div></Card>
          </div>
          <Card title="Journal" note="of all virtual hosts"><Shown of={journal} rows={3}>{(data) => <div class="card-body"><KeyValues tight rows={[
            ['Files', count(data.files)], ['Waiting for the disk', bytes(data.waiting_bytes)], ['Written since the start', `${bytes(data.written_bytes)} in ${plural(data.batches, 'batch', 'batches')}`],
            ['Syncs', `${count(data.syncs)}, ${data.syncs > 0 ? `${(data.sync_seconds / data.syncs * 1000).toFixed(1)} ms each` : 'none yet'}`],
            ['Snapshots', `${count(data.snapshots)}, ${bytes(data.snapshot_bytes)}`], ['Compactions', `${count(data.compactions)}, ${bytes(data.compacted_bytes)} rewritten`],
          ]} /></div>}</Shown></Card>
        </div>
      </div>
    </>
  );
}

interface Flag {
  name: string;
  state: string;
  stability: string;
  desc: string;
}
const flagColumns: Column<Flag>[] = [
  { id: 'name', title: 'Name', value: (one) => one.name, cell: (one) => <code class="wraps">{one.name}</code> },
  { id: 'state', title: 'State', value: (one) => one.state, cell: (one) => <StateDot state={one.state} /> },
  { id: 'stability', title: 'Stability', w: 1, value: (one) => one.stability, cell: (one) => one.stability },
  { id: 'desc', title: 'Description', w: 1, off: true, calls: (one) => one.desc !== '', value: (one) => one.desc, cell: (one) => visible(one.desc) },
];

export function FeatureFlagsPage(): JSX.Element {
  const flags = useResource<Flag[]>('/feature-flags', 30);
  return (
    <>
      <AdminHead title="Feature flags" at="feature-flags" marks={flags.data && <span class="count">{count(flags.data.length)}</span>} sub="The names that RabbitMQ 4.3 has, for clients and tools that ask for them. All of them are always enabled." />
      <ListTable<Flag> label="Feature flags" noun={['feature flag', 'feature flags']} store="feature-flags" columns={flagColumns} of={flags} rowKey={(one) => one.name} firstSort="name" empty={<State icon="check" title="No feature flags" />} />
    </>
  );
}

interface Deprecated {
  name: string;
  deprecation_phase: string;
  state: string;
  desc: string;
}
const deprecatedColumns: Column<Deprecated & { used: boolean }>[] = [
  { id: 'name', title: 'Name', value: (one) => one.name, cell: (one) => <code>{one.name}</code> },
  { id: 'state', title: 'State', value: (one) => one.state, cell: (one) => one.state },
  { id: 'used', title: 'In use', value: (one) => one.used, cell: (one) => (one.used ? <span class="chip chip-warn">in use</span> : <span class="zero">no</span>) },
  { id: 'phase', title: 'Phase', w: 2, value: (one) => one.deprecation_phase, cell: (one) => one.deprecation_phase.replaceAll('_', ' ') },
  { id: 'desc', title: 'Description', w: 1, value: (one) => one.desc, cell: (one) => visible(one.desc) },
];

export function DeprecatedPage(): JSX.Element {
  const all = useResource<Deprecated[]>('/deprecated-features', 30);
  const used = useResource<Deprecated[]>('/deprecated-features/used', 30);
  const names = new Set((used.data ?? []).map((one) => one.name));
  return (
    <>
      <AdminHead title="Deprecated features" at="deprecated-features" marks={all.data && <span class="count">{count(all.data.length)}</span>} sub="Features that a later version of RabbitMQ will refuse. The configuration can refuse them today." />
      <ListTable<Deprecated & { used: boolean }> label="Deprecated features" noun={['feature', 'features']} store="deprecated" columns={deprecatedColumns} of={{ ...all, data: all.data?.map((one) => ({ ...one, used: names.has(one.name) })) }} rowKey={(one) => one.name} firstSort="name" empty={<State icon="check" title="None" />} />
    </>
  );
}

export function DefinitionsPage(): JSX.Element {
  return (
    <>
      <AdminHead title="Definitions" at="definitions" />
      <div class="narrow">{may.administrate() ? <DefinitionsCard /> : <section class="card"><State icon="lock" title="Not permitted"><p>Definitions need the tag administrator.</p></State></section>}</div>
    </>
  );
}
