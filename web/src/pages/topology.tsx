// Topology: the virtual host as a graph, and the same as a table.
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { graphlib, layout } from '@dagrejs/dagre';
import { at } from '../api';
import { Icon } from '../icons';
import { plural, visible } from '../format';
import { useResource } from '../resource';
import { changeQuery, exchangeLink, go, link, place, queueLink } from '../router';
import { chosenVhost } from '../session';
import { Card, PageHead } from '../parts/card';
import { exchangeTitle, Num } from '../parts/marks';
import { Failed, Loading, State } from '../parts/states';
import { ListTable, type Column } from '../parts/table';
import { build, focusOn, overview, type Drawn, type Edge, type Finding, type Graph, type RawBinding, type RawExchange, type RawQueue, type Vertex } from './topology_model';
import { Arrows } from './minimap';

const width = 158, height = 44;

interface Placed {
  vertices: (Vertex & { x: number; y: number })[];
  edges: (Edge & { points: { x: number; y: number }[] })[];
  width: number;
  height: number;
}

const readableScale = 0.75;

function arrange(drawn: Drawn): Placed {
  const graph = new graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'LR', nodesep: 14, ranksep: 100, marginx: 24, marginy: 24, ranker: drawn.vertices.length > 120 ? 'longest-path' : 'network-simplex' });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const vertex of drawn.vertices) graph.setNode(vertex.id, { width, height });
  drawn.edges.forEach((edge, number) => graph.setEdge(edge.from, edge.to, { weight: edge.dead ? 1 : 2 }, String(number)));
  layout(graph);
  const size = graph.graph();
  return {
    vertices: drawn.vertices.map((vertex) => ({ ...vertex, x: graph.node(vertex.id).x - width / 2, y: graph.node(vertex.id).y - height / 2 })),
    edges: drawn.edges.map((edge, number) => ({ ...edge, points: graph.edge({ v: edge.from, w: edge.to, name: String(number) }).points })),
    width: size.width ?? 100, height: size.height ?? 100,
  };
}

function curve(points: { x: number; y: number }[]): string {
  if (points.length < 3) return points.map((point, index) => `${index ? 'L' : 'M'}${point.x} ${point.y}`).join('');
  let d = `M${points[0]!.x} ${points[0]!.y}`;
  for (let index = 1; index < points.length - 1; index++) {
    const end = index === points.length - 2 ? points[index + 1]! : { x: (points[index]!.x + points[index + 1]!.x) / 2, y: (points[index]!.y + points[index + 1]!.y) / 2 };
    d += `Q${points[index]!.x} ${points[index]!.y} ${end.x} ${end.y}`;
  }
  return d;
}

const clip = (text: string, length: number) => (text.length > length ? text.slice(0, length - 1) + '…' : text);

function Shape({ vertex, focused, vhost, dim }: { vertex: Placed['vertices'][number]; focused: boolean; vhost: string; dim: boolean }): JSX.Element {
  const title = vertex.kind === 'exchange' ? exchangeTitle(vertex.name) : visible(vertex.name);
  const classes = ['g-node', vertex.kind === 'exchange' ? 'g-exchange' : '', vertex.rests ? 'g-dead' : '', vertex.missing ? 'g-missing' : '', focused ? 'g-focus' : '', dim ? 'g-dim' : ''].join(' ');
  const inset = vertex.kind === 'exchange' ? 18 : 11;
  const sub = vertex.rests && vertex.kind === 'queue' && !vertex.members ? `${vertex.messages.toLocaleString('en-US')} dead letter${vertex.messages === 1 ? '' : 's'}` : vertex.sub;
  const inside = (
    <g transform={`translate(${vertex.x} ${vertex.y})`}>
      <rect class="g-box" width={width} height={height} rx={vertex.kind === 'exchange' ? height / 2 : 5} />
      {vertex.members && <rect class="g-box g-behind" x="4" y="-4" width={width} height={height} rx="5" />}
      {vertex.full > 0 && <rect class="g-depth" x="1" y="1" width={Math.max(3, (width - 2) * vertex.full)} height={height - 2} rx="4" />}
      <text class="g-name" x={inset} y="18">{clip(title, vertex.kind === 'exchange' ? 18 : 21)}</text>
      <text class={vertex.missing || vertex.findings.length > 0 ? 'g-err' : 'g-sub'} x={inset} y="34">{clip(visible(sub), 25)}</text>
      {(vertex.findings.length > 0 || vertex.missing) && <g transform={`translate(${width - 4} 2)`}><circle class="g-badge" r="8" /><text class="g-badge-text" text-anchor="middle" y="3.5">!</text></g>}
    </g>
  );
  const label = `${vertex.members ? 'group' : vertex.kind} ${title}, ${visible(sub)}${vertex.findings.length > 0 ? `. ${visible(vertex.findings[0]!)}` : ''}`;
  if (vertex.missing) return <g class={classes} role="img" aria-label={label}><title>{label}</title>{inside}</g>;
  const target = vertex.members ? link(['topology', vhost], { focus: vertex.members[0], kind: 'queue' })
    : focused ? (vertex.kind === 'queue' ? queueLink(vhost, vertex.name) : exchangeLink(vhost, vertex.name))
      : link(['topology', vhost], { focus: vertex.name === '' ? '(default)' : vertex.name, kind: vertex.kind });
  return <a class={classes} href={target} aria-label={label}><title>{label}</title>{inside}</a>;
}

function Picture({ placed, focus, vhost, bindings, deadPaths, found }: { placed: Placed; focus: string; vhost: string; bindings: boolean; deadPaths: boolean; found: (vertex: Vertex) => boolean }): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ x: 0, y: 0, scale: 1 });
  const fit = () => {
    const box = host.current!;
    const scale = Math.min(1.15, box.clientWidth / placed.width, box.clientHeight / placed.height);
    const usable = Math.max(scale, 0.05);
    setView({ scale: usable, x: placed.width / 2 - box.clientWidth / usable / 2, y: placed.height / 2 - box.clientHeight / usable / 2 });
  };
  // If the complete graph would be too small to read, start at the focus or at the left and let the user drag.
  const begin = () => {
    const box = host.current!;
    if (box.clientWidth >= 640 || box.clientWidth / placed.width > readableScale) return fit();
    const at = placed.vertices.find((vertex) => vertex.id === focus) ?? placed.vertices[0];
    const x = at && focus ? at.x + width / 2 - box.clientWidth / readableScale / 2 : 0;
    const y = (at ? at.y + height / 2 : placed.height / 2) - box.clientHeight / readableScale / 2;
    const last = (whole: number, part: number) => Math.max(0, whole - part / readableScale);
    setView({ scale: readableScale, x: Math.min(Math.max(0, x), last(placed.width, box.clientWidth)),
      y: placed.height * readableScale < box.clientHeight ? placed.height / 2 - box.clientHeight / readableScale / 2 : Math.min(Math.max(0, y), last(placed.height, box.clientHeight)) });
  };
  useEffect(begin, [placed]);
  const zoom = (factor: number, centre?: { x: number; y: number }) => setView((now) => {
    const box = host.current!;
    const scale = Math.min(3, Math.max(0.05, now.scale * factor));
    const middle = centre ?? { x: box.clientWidth / 2, y: box.clientHeight / 2 };
    return { scale, x: now.x + middle.x / now.scale - middle.x / scale, y: now.y + middle.y / now.scale - middle.y / scale };
  });
  const drag = useRef<{ x: number; y: number; moved: boolean }>();
  const size = host.current ? { w: host.current.clientWidth, h: host.current.clientHeight } : { w: 1000, h: 600 };
  const labelled = placed.edges.length <= 150;
  useEffect(() => {
    const box = host.current!;
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const area = box.getBoundingClientRect();
      zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, { x: event.clientX - area.left, y: event.clientY - area.top });
    };
    box.addEventListener('wheel', wheel, { passive: false });
    return () => box.removeEventListener('wheel', wheel);
  }, []);
  return (
    <div class="graph graph-full" ref={host}
      onPointerDown={(event) => { drag.current = { x: event.clientX, y: event.clientY, moved: false }; }}
      onPointerMove={(event) => {
        const from = drag.current;
        if (!from || event.buttons === 0) return;
        const dx = event.clientX - from.x, dy = event.clientY - from.y;
        if (!from.moved && Math.abs(dx) + Math.abs(dy) < 4) return;
        if (!from.moved) host.current!.setPointerCapture(event.pointerId);
        drag.current = { x: event.clientX, y: event.clientY, moved: true };
        setView((now) => ({ ...now, x: now.x - dx / now.scale, y: now.y - dy / now.scale }));
      }}
      onPointerUp={() => void setTimeout(() => { drag.current = undefined; }, 0)}
      onClickCapture={(event) => { if (drag.current?.moved) { event.preventDefault(); event.stopPropagation(); } }}>
      <svg viewBox={`${view.x} ${view.y} ${size.w / view.scale} ${size.h / view.scale}`} role="group" aria-label="Graph of exchanges and queues; the list has the same as a table">
        <Arrows />
        <g>
          {placed.edges.map((edge, number) => {
            if (edge.dead ? !deadPaths : !bindings) return null;
            const red = edge.dead || edge.cycle;
            const middle = edge.points[Math.floor((edge.points.length - 1) / 2)]!;
            return (
              <g key={number}>
                <path class={`g-edge ${edge.dead ? (edge.cycle ? 'g-edge-circle' : 'g-edge-dead') : edge.cycle ? 'g-edge-back' : ''}`} d={curve(edge.points)} marker-end={red ? 'url(#arrow-dead)' : 'url(#arrow)'} />
                {labelled && edge.keys.length > 0 && edge.keys[0] !== '' && <text class="g-label" x={middle.x} y={middle.y - 4} text-anchor="middle">{edge.keys.length > 1 ? `${edge.keys.length} keys` : clip(visible(edge.keys[0]!), 16)}</text>}
              </g>
            );
          })}
        </g>
        {placed.vertices.map((vertex) => <Shape key={vertex.id} vertex={vertex} vhost={vhost} focused={vertex.id === focus} dim={!found(vertex)} />)}
      </svg>
      <div class="graph-tools">
        <button class="btn btn-icon" aria-label="Zoom in" onClick={() => zoom(1.3)}><Icon name="plus" /></button>
        <button class="btn btn-icon" aria-label="Zoom out" onClick={() => zoom(1 / 1.3)}><Icon name="minus" /></button>
        <button class="btn btn-icon" aria-label="Show everything" onClick={fit}><Icon name="fit" /></button>
      </div>
    </div>
  );
}

interface Way {
  from: Vertex;
  to: Vertex;
  how: string;
  keys: string;
  dead: boolean;
  cycle: boolean;
}
const end = (vertex: Vertex, vhost: string) => vertex.missing ? <span class="chip chip-dead"><Icon name="warning" />{visible(vertex.name)} does not exist</span>
  : <><a class="cell-main" href={vertex.kind === 'queue' ? queueLink(vhost, vertex.name) : exchangeLink(vhost, vertex.name)}>{vertex.kind === 'exchange' ? exchangeTitle(vertex.name) : visible(vertex.name)}</a> <span class="faint">{vertex.kind}</span></>;
const wayColumns = (vhost: string): Column<Way>[] => [
  { id: 'from', title: 'From', value: (way) => way.from.name, cell: (way) => <>{end(way.from, vhost)}<span class={way.dead ? 'only-phone cell-sub is-dead' : 'only-phone cell-sub'}>{way.how}{way.keys && <>, <code>{visible(way.keys)}</code></>}</span></> },
  { id: 'how', title: 'How', w: 1, value: (way) => way.how, cell: (way) => (way.dead ? <span class="badge badge-dl">{way.how}</span> : way.how) },
  { id: 'keys', title: 'Key', w: 1, value: (way) => way.keys, cell: (way) => (way.keys ? <code class="cell-text">{visible(way.keys)}</code> : <span class="zero">–</span>) },
  { id: 'to', title: 'To', value: (way) => way.to.name, cell: (way) => <>{end(way.to, vhost)}{way.to.kind === 'queue' && <span class="only-phone cell-sub">{plural(way.to.messages, 'message')}</span>}</> },
  { id: 'messages', title: 'Messages there', num: true, w: 2, value: (way) => way.to.messages, cell: (way) => (way.to.kind === 'queue' ? <Num value={way.to.messages} /> : <span class="zero">–</span>) },
];

function Findings({ list, vhost }: { list: Finding[]; vhost: string }): JSX.Element {
  const errors = list.filter((one) => one.severity === 'error').length;
  return (
    <Card title="Findings" note={list.length === 0 ? 'none' : `${plural(errors, 'error')}, ${plural(list.length - errors, 'warning')}`}>
      {list.length === 0 ? <div class="card-body"><p class="muted">Every dead-letter exchange that a queue names exists and leads to a queue, and there is no cycle.</p></div> : (
        <div class="table-wrap" role="region" tabIndex={0} aria-label="Findings"><table>
          <tbody>{list.slice(0, 50).map((one, index) => (
            <tr key={index}><td><span class={one.severity === 'error' ? 'badge badge-err' : 'badge badge-warn'}><Icon name="warning" />{one.severity}</span></td><td>{visible(one.text)}<span class="cell-sub mono">{one.kind}</span></td>
              <td class="w-1"><a href={queueLink(vhost, one.queue)}>{visible(one.queue)}</a></td><td class="num"><a class="btn btn-sm" href={link(['topology', vhost], { focus: one.queue, kind: 'queue' })}>Focus<span class="sr"> on {visible(one.queue)}</span></a></td></tr>
          ))}</tbody>
        </table></div>
      )}
      {list.length > 50 && <div class="card-foot"><a href="#/dead-letters/sources?only=problems">All {plural(list.length, 'finding')}</a></div>}
    </Card>
  );
}

function Loaded({ graph, vhost, failed }: { graph: Graph; vhost: string; failed?: string }): JSX.Element {
  const query = place.use().query;
  const asked = query.get('focus');
  const kind = query.get('kind');
  const hops = Math.min(6, Math.max(1, Number(query.get('hops') ?? 2) || 2));
  const name = asked === '(default)' ? '' : asked;
  const focus = name === null ? '' : kind === 'exchange' ? 'x ' + name : graph.vertices.has('q ' + name) || kind === 'queue' ? 'q ' + name : 'x ' + name;
  const known = focus !== '' && graph.vertices.has(focus);
  const asList = query.get('view') === 'list';
  const [bindings, setBindings] = useState(true);
  const [deadPaths, setDeadPaths] = useState(true);
  const [search, setSearch] = useState('');
  const drawn = useMemo(() => (known ? focusOn(graph, focus, hops) : overview(graph)), [graph, focus, known, hops]);
  const shape = drawn.vertices.map((one) => one.id).join() + drawn.edges.map((edge) => edge.from + edge.to).join();
  const [placed, setPlaced] = useState<{ shape: string; of: Placed }>();
  useEffect(() => {
    if (asList) return;
    const timer = setTimeout(() => setPlaced({ shape, of: arrange(drawn) }), 0);
    return () => clearTimeout(timer);
  }, [shape, asList]);
  // Numbers are updated; the layout stays.
  const current = useMemo(() => placed && placed.shape === shape ? { ...placed.of, vertices: placed.of.vertices.map((one) => ({ ...one, ...drawn.vertices.find((other) => other.id === one.id) })) } : undefined, [placed, drawn, shape]);
  const needle = search.toLowerCase();
  const found = (vertex: Vertex) => needle === '' || vertex.name.toLowerCase().includes(needle) || (vertex.members ?? []).some((member) => member.toLowerCase().includes(needle));
  const matches = useMemo(() => needle === '' ? [] : [...graph.vertices.values()].filter((vertex) => vertex.name.toLowerCase().includes(needle)).slice(0, 8), [needle, graph]);
  const ways = useMemo(() => graph.edges.map((edge): Way => ({ from: graph.vertices.get(edge.from)!, to: graph.vertices.get(edge.to)!, how: edge.dead ? (edge.cycle ? 'dead letters, cycle' : 'dead letters') : edge.cycle ? 'binding, in a cycle' : 'binding', keys: edge.keys.join(', '), dead: edge.dead, cycle: edge.cycle })), [graph]);
  const open = (vertex: Vertex) => {
    setSearch('');
    changeQuery({ focus: vertex.name === '' ? '(default)' : vertex.name, kind: vertex.kind });
  };
  return (
    <>
      <PageHead title="Topology" marks={<span class="muted">vhost {visible(vhost)}</span>} actions={<>
        <div class="seg" role="group" aria-label="Graph or list"><button aria-pressed={!asList} onClick={() => changeQuery({ view: null })}>Graph</button><button aria-pressed={asList} onClick={() => changeQuery({ view: 'list' })}>List</button></div>
        {known && <a class="btn" href={focus.startsWith('q ') ? queueLink(vhost, name!) : exchangeLink(vhost, name!)}>Open {focus.startsWith('q ') ? 'queue' : 'exchange'}</a>}
        {known && <button class="btn" onClick={() => changeQuery({ focus: null, kind: null, hops: null })}>Show all</button>}
      </>} />
      <div class="stack">
        {asList ? (
          <ListTable<Way> label="Topology as a list" noun={['path', 'paths']} store="topology" columns={wayColumns(vhost)} of={{ data: ways, at: 0, answers: '', loading: false, reload: () => undefined }} rowKey={(way) => `${way.from.id}>${way.to.id}>${way.dead}`} filterHint="Filter by name or key"
            matches={(way, filter) => `${way.from.name} ${way.to.name} ${way.keys} ${way.how}`.toLowerCase().includes(filter)} firstSort="from" empty={<State icon="graph" title="Nothing is connected"><p>There are no bindings and no dead-letter exchanges.</p></State>} />
        ) : (
          <section class="card" aria-label="Graph">
            <div class="toolbar">
              <div class="search"><Icon name="search" /><input class="input" type="search" data-filter aria-label="Find a queue or exchange" placeholder="Find a queue or exchange" value={search} spellcheck={false} onInput={(event) => setSearch(event.currentTarget.value)} onKeyDown={(event) => { if (event.key === 'Enter' && matches[0]) open(matches[0]); }} />
                {search === '' && <kbd aria-hidden="true">/</kbd>}
                {matches.length > 0 && <ul class="complete">{matches.map((vertex) => <li key={vertex.id}><button class="menu-item" onClick={() => open(vertex)}>{vertex.kind === 'exchange' ? exchangeTitle(vertex.name) : visible(vertex.name)} <span class="faint">{vertex.kind}</span></button></li>)}</ul>}</div>
              <label class="check"><input type="checkbox" checked={bindings} onChange={(event) => setBindings(event.currentTarget.checked)} /><span>Bindings</span></label>
              <label class="check"><input type="checkbox" checked={deadPaths} onChange={(event) => setDeadPaths(event.currentTarget.checked)} /><span>Dead-letter paths</span></label>
              {known && <label class="row">Steps <select class="select auto" value={String(hops)} onChange={(event) => changeQuery({ hops: event.currentTarget.value })}>{[1, 2, 3, 4, 6].map((one) => <option key={one}>{one}</option>)}</select></label>}
              <span class="push muted" role="status">{drawn.note}</span>
            </div>
            {asked !== null && !known && <p class="card-body is-dead">There is no queue or exchange {visible(asked)} here.</p>}
            {drawn.vertices.length === 0 ? <State icon="graph" title="Nothing is connected"><p>There are no bindings and no dead-letter exchanges in this virtual host.</p></State>
              : current ? <Picture placed={current} focus={focus} vhost={vhost} bindings={bindings} deadPaths={deadPaths} found={found} /> : <Loading rows={8} />}
            <div class="card-foot graph-legend">
              <span class="row"><svg class="swatch" viewBox="0 0 18 8" aria-hidden="true"><line class="c7" x1="0" x2="18" y1="4" y2="4" /></svg>binding</span>
              <span class="row"><svg class="swatch" viewBox="0 0 18 8" aria-hidden="true"><line class="c5" x1="0" x2="18" y1="4" y2="4" stroke-dasharray="4 3" /></svg>dead-letter path</span>
              <span class="row"><svg class="swatch" viewBox="0 0 18 8" aria-hidden="true"><line class="c5 thick" x1="0" x2="18" y1="4" y2="4" stroke-dasharray="4 3" /></svg>cycle</span>
              <span>round: exchange, square: queue, fill: depth</span><span class="row"><svg class="swatch" viewBox="0 0 18 8" aria-hidden="true"><circle class="g-badge" cx="9" cy="4" r="4" /></svg>finding</span><span class="push w-1 faint">Drag to move, Ctrl and wheel to zoom</span>
            </div>
          </section>
        )}
        {failed && <p class="is-dead">{failed}</p>}
        <Findings list={graph.findings} vhost={vhost} />
      </div>
    </>
  );
}

export function TopologyPage({ path }: { path: string[] }): JSX.Element {
  const chosen = chosenVhost.use();
  const names = useResource<{ name: string }[]>(path[1] === undefined && chosen === '' ? '/vhosts?columns=name&disable_stats=true' : null, 0);
  const vhost = path[1] ?? (chosen !== '' ? chosen : names.data ? names.data.find((one) => one.name === '/')?.name ?? names.data[0]?.name : undefined);
  // Selecting a virtual host in the top bar opens its graph.
  const first = useRef(chosen);
  useEffect(() => {
    if (chosen !== first.current && chosen !== '' && path[1] !== undefined && chosen !== path[1]) go(['topology', chosen]);
    first.current = chosen;
  }, [chosen]);
  const pace = 15;
  const queues = useResource<RawQueue[]>(vhost === undefined ? null : `${at('queues', vhost)}?disable_stats=true&columns=name,type,messages,consumers,arguments,effective_policy_definition`, pace);
  const exchanges = useResource<RawExchange[]>(vhost === undefined ? null : `${at('exchanges', vhost)}?disable_stats=true&columns=name,type,arguments,effective_policy_definition`, pace);
  const bindings = useResource<RawBinding[]>(vhost === undefined ? null : `${at('bindings', vhost)}?columns=source,destination,destination_type,routing_key`, pace);
  const graph = useMemo(() => (queues.data && exchanges.data && bindings.data ? build(queues.data, exchanges.data, bindings.data) : undefined), [queues.data, exchanges.data, bindings.data]);
  const error = queues.error ?? exchanges.error ?? bindings.error ?? names.error;
  if (vhost !== undefined && graph) return <Loaded graph={graph} vhost={vhost} />;
  return <><PageHead title="Topology" /><section class="card">{error ? <Failed error={error} retry={queues.reload} /> : <Loading rows={8} />}</section></>;
}
