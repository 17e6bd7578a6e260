// The virtual host as a graph: bindings, dead-letter paths, cycles, broken paths. Pure functions without requests.
import type { Table } from '../types';

export interface RawQueue {
  name: string;
  type: string;
  messages: number;
  consumers: number;
  arguments: Table;
  effective_policy_definition: Table | unknown[];
}
export interface RawExchange {
  name: string;
  type: string;
  arguments: Table;
  effective_policy_definition?: Table | unknown[];
}
export interface RawBinding {
  source: string;
  destination: string;
  destination_type: 'queue' | 'exchange';
  routing_key: string;
}

export interface Vertex {
  id: string; // "q orders", "x shop"
  kind: 'queue' | 'exchange';
  name: string;
  sub: string;
  messages: number;
  full: number; // 0 … 1
  rests: boolean; // a target of dead letters
  deadExchange: boolean; // a queue sends its dead letters here
  missing: boolean;
  findings: string[];
  members?: string[]; // of a group of similar queues
}
export interface Edge {
  from: string;
  to: string;
  keys: string[];
  dead: boolean;
  cycle: boolean;
}
export interface Finding {
  severity: 'error' | 'warning';
  kind: string;
  text: string;
  queue: string;
}
export interface Graph {
  vertices: Map<string, Vertex>;
  edges: Edge[];
  findings: Finding[];
}

export function topicMatches(pattern: string, key: string): boolean {
  const words = pattern.split('.');
  const parts = key.split('.');
  const seen = new Map<string, boolean>();
  const match = (p: number, k: number): boolean => {
    const at = `${p} ${k}`;
    const known = seen.get(at);
    if (known !== undefined) return known;
    let result: boolean;
    if (p === words.length) result = k === parts.length;
    else if (words[p] === '#') result = match(p + 1, k) || (k < parts.length && match(p, k + 1));
    else result = k < parts.length && (words[p] === '*' || words[p] === parts[k]) && match(p + 1, k + 1);
    seen.set(at, result);
    return result;
  };
  return match(0, 0);
}

const setting = (table: Table | unknown[] | undefined, key: string): unknown => (table && !Array.isArray(table) ? table[key] : undefined);

export function build(queues: RawQueue[], exchanges: RawExchange[], bindings: RawBinding[]): Graph {
  const vertices = new Map<string, Vertex>();
  const edges = new Map<string, Edge>();
  const findings: Finding[] = [];
  const types = new Map(exchanges.map((one) => [one.name, one.type]));
  const alternates = new Map<string, string>();
  const outgoing = new Map<string, RawBinding[]>();
  const named = new Map(queues.map((one) => [one.name, one]));
  for (const one of exchanges) {
    vertices.set('x ' + one.name, { id: 'x ' + one.name, kind: 'exchange', name: one.name, sub: one.type, messages: 0, full: 0, rests: false, deadExchange: false, missing: false, findings: [] });
    const alternate = one.arguments['alternate-exchange'] ?? setting(one.effective_policy_definition, 'alternate-exchange');
    if (typeof alternate === 'string') alternates.set(one.name, alternate);
  }
  for (const one of queues) {
    const limit = Number(one.arguments['x-max-length'] ?? setting(one.effective_policy_definition, 'max-length') ?? 0);
    const full = one.messages === 0 ? 0 : limit > 0 ? Math.min(1, one.messages / limit) : Math.min(0.9, Math.log10(one.messages + 1) / 7);
    vertices.set('q ' + one.name, { id: 'q ' + one.name, kind: 'queue', name: one.name, sub: `${one.messages.toLocaleString('en-US')}${limit > 0 && one.messages >= limit ? ', full' : ''}${one.messages > 0 && one.consumers === 0 ? ', no consumer' : ''}`, messages: one.messages, full, rests: false, deadExchange: false, missing: false, findings: [] });
  }
  const add = (from: string, to: string, key: string | null, dead: boolean) => {
    const id = `${from}>${to}>${dead}`;
    const known = edges.get(id);
    if (known) {
      if (key !== null) known.keys.push(key);
    } else edges.set(id, { from, to, keys: key === null ? [] : [key], dead, cycle: false });
  };
  for (const one of bindings) {
    if (one.source === '') continue;
    outgoing.set(one.source, [...(outgoing.get(one.source) ?? []), one]);
    add('x ' + one.source, (one.destination_type === 'queue' ? 'q ' : 'x ') + one.destination, one.routing_key, false);
  }
  for (const [from, to] of alternates) if (types.has(to)) add('x ' + from, 'x ' + to, 'alternate', false);

  const reach = (first: string, key: string | undefined): string[] => {
    const seen = new Set<string>([first]);
    const waiting = [first];
    const found = new Set<string>();
    while (waiting.length > 0) {
      const exchange = waiting.pop()!;
      const type = types.get(exchange);
      let any = false;
      for (const binding of outgoing.get(exchange) ?? []) {
        const passes = key === undefined || type === 'fanout' || type === 'headers' || type?.startsWith('x-')
          || (type === 'direct' ? binding.routing_key === key : topicMatches(binding.routing_key, key));
        if (!passes) continue;
        any = true;
        if (binding.destination_type === 'queue') found.add(binding.destination);
        else if (!seen.has(binding.destination)) {
          seen.add(binding.destination);
          waiting.push(binding.destination);
        }
      }
      const alternate = alternates.get(exchange);
      if ((!any || key === undefined) && alternate !== undefined && types.has(alternate) && !seen.has(alternate)) {
        seen.add(alternate);
        waiting.push(alternate);
      }
    }
    return [...found];
  };
  const cache = new Map<string, string[]>();
  const targets = new Map<string, string[]>(); // queue → targets of its dead letters
  const via = new Map<string, string>(); // queue → vertex of its dead-letter edge
  const note = (queue: string, finding: Finding) => {
    findings.push(finding);
    const vertex = vertices.get('q ' + queue)!;
    vertex.findings.push(finding.text);
    if (finding.kind !== 'exchange-missing') vertex.sub += `, ${finding.kind.replace('-', ' ')}`; // the vertex of a missing exchange already says so
  };
  for (const one of queues) {
    const exchange = one.arguments['x-dead-letter-exchange'] ?? setting(one.effective_policy_definition, 'dead-letter-exchange');
    if (typeof exchange !== 'string') continue;
    const asked = one.arguments['x-dead-letter-routing-key'] ?? setting(one.effective_policy_definition, 'dead-letter-routing-key');
    const key = typeof asked === 'string' ? asked : undefined;
    if (exchange === '') {
      if (key === undefined) continue; // depends on the key of each message
      if (!named.has(key)) {
        note(one.name, { severity: 'error', kind: 'no-route', text: `The default exchange leads to no queue named ${key}; messages that die in ${one.name} are dropped.`, queue: one.name });
        continue;
      }
      targets.set(one.name, [key]);
      via.set(one.name, 'q ' + key);
      add('q ' + one.name, 'q ' + key, null, true);
      vertices.get('q ' + key)!.rests = true;
      continue;
    }
    const id = 'x ' + exchange;
    via.set(one.name, id);
    add('q ' + one.name, id, key ?? null, true);
    if (!types.has(exchange)) {
      if (!vertices.has(id)) vertices.set(id, { id, kind: 'exchange', name: exchange, sub: 'does not exist', messages: 0, full: 0, rests: false, deadExchange: true, missing: true, findings: [] });
      note(one.name, { severity: 'error', kind: 'exchange-missing', text: `Its dead-letter exchange ${exchange} does not exist; messages that die in ${one.name} are dropped.`, queue: one.name });
      continue;
    }
    vertices.get(id)!.deadExchange = true;
    const cached = `${exchange}\n${key ?? '\n'}`;
    const reached = cache.get(cached) ?? reach(exchange, key);
    cache.set(cached, reached);
    targets.set(one.name, reached);
    for (const target of reached) vertices.get('q ' + target)!.rests = true;
    if (reached.length === 0) note(one.name, { severity: 'error', kind: 'no-route', text: `Exchange ${exchange} leads to no queue${key === undefined ? '' : ` for key ${key}`}; messages that die in ${one.name} are dropped.`, queue: one.name });
  }
  // A queue with its own dead-letter exchange is not a final target.
  for (const queue of via.keys()) vertices.get('q ' + queue)!.rests = false;
  markCycles(targets, via, edges, note);
  return { vertices, edges: [...edges.values()], findings };
}

// Dead-letter cycles: strongly connected queues, by Tarjan's algorithm without recursion.
function markCycles(targets: Map<string, string[]>, via: Map<string, string>, edges: Map<string, Edge>, note: (queue: string, finding: Finding) => void): void {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const on = new Set<string>();
  let next = 0;
  const group = new Map<string, number>();
  let groups = 0;
  for (const root of targets.keys()) {
    if (index.has(root)) continue;
    const work: [string, number][] = [[root, 0]];
    while (work.length > 0) {
      const top = work[work.length - 1]!;
      const [queue, at] = top;
      if (at === 0) {
        index.set(queue, next);
        low.set(queue, next++);
        stack.push(queue);
        on.add(queue);
      }
      const list = targets.get(queue) ?? [];
      if (at < list.length) {
        top[1]++;
        const to = list[at]!;
        if (!index.has(to)) work.push([to, 0]);
        else if (on.has(to)) low.set(queue, Math.min(low.get(queue)!, index.get(to)!));
        continue;
      }
      work.pop();
      const parent = work[work.length - 1]?.[0];
      if (parent !== undefined) low.set(parent, Math.min(low.get(parent)!, low.get(queue)!));
      if (low.get(queue) !== index.get(queue)) continue;
      const members: string[] = [];
      for (;;) {
        const one = stack.pop()!;
        on.delete(one);
        members.push(one);
        if (one === queue) break;
      }
      if (members.length > 1 || (targets.get(queue) ?? []).includes(queue)) {
        groups++;
        for (const one of members) group.set(one, groups);
        note(members[members.length - 1]!, { severity: 'warning', kind: 'cycle', text: `Dead letters of ${[...members].reverse().slice(0, 5).join(' → ')}${members.length > 5 ? ' → …' : ''} go in a cycle; those that were never rejected are dropped the second time.`, queue: members[members.length - 1]! });
      }
    }
  }
  for (const [queue, number] of group) {
    const through = via.get(queue);
    const back = (targets.get(queue) ?? []).filter((one) => group.get(one) === number);
    const dead = edges.get(`q ${queue}>${through}>true`);
    if (dead && back.length > 0) dead.cycle = true;
    if (through?.startsWith('x ')) {
      for (const one of back) {
        const bound = edges.get(`${through}>q ${one}>false`);
        if (bound) bound.cycle = true;
      }
    }
  }
}

// ---- Visible part of the graph ------------------------------------------------------------------------------------------------

export const drawnMost = 500;

export interface Drawn {
  vertices: Vertex[];
  edges: Edge[];
  note: string;
}

function neighbours(graph: Graph): Map<string, string[]> {
  const map = new Map<string, string[]>();
  for (const edge of graph.edges) {
    for (const [a, b] of [[edge.from, edge.to], [edge.to, edge.from]] as const) {
      const list = map.get(a);
      if (list) list.push(b);
      else map.set(a, [b]);
    }
  }
  return map;
}

function subgraph(graph: Graph, ids: ReadonlySet<string>, note: string): Drawn {
  return { vertices: [...ids].map((id) => graph.vertices.get(id)!).filter(Boolean), edges: graph.edges.filter((edge) => ids.has(edge.from) && ids.has(edge.to)), note };
}

/** One vertex and everything within a number of steps; the nearest if there are too many. */
export function focusOn(graph: Graph, focus: string, hops: number): Drawn {
  const near = neighbours(graph);
  const ids = new Set<string>([focus]);
  let ring = [focus];
  let cut = false;
  for (let hop = 0; hop < hops && !cut; hop++) {
    const next: string[] = [];
    for (const id of ring) {
      for (const other of near.get(id) ?? []) {
        if (ids.has(other)) continue;
        if (ids.size >= drawnMost) {
          cut = true;
          break;
        }
        ids.add(other);
        next.push(other);
      }
    }
    ring = next;
  }
  const whole = graph.vertices.size.toLocaleString('en-US');
  return subgraph(graph, ids, `${ids.size} of ${whole} shown: ${cut ? 'the nearest' : `within ${hops} step${hops === 1 ? '' : 's'}`}`);
}

// Queues with the same source exchanges and the same dead-letter target share one box.
function grouped(graph: Graph): Graph {
  const ways = new Map<string, string[]>();
  for (const edge of graph.edges) {
    if (edge.from.startsWith('q ')) ways.set(edge.from, [...(ways.get(edge.from) ?? []), `>${edge.dead}${edge.to}`]);
    if (edge.to.startsWith('q ')) ways.set(edge.to, [...(ways.get(edge.to) ?? []), `<${edge.dead}${edge.from}`]);
  }
  const alike = new Map<string, string[]>();
  for (const [id, list] of ways) {
    const signature = [...new Set(list)].sort().join('\n');
    const known = alike.get(signature);
    if (known) known.push(id);
    else alike.set(signature, [id]);
  }
  const into = new Map<string, string>();
  const vertices = new Map(graph.vertices);
  for (const members of alike.values()) {
    // A final target of dead letters has its own box.
    if (members.length <= (graph.vertices.get(members[0]!)!.rests ? 50 : 5)) continue;
    const first = graph.vertices.get(members[0]!)!;
    const id = 'g ' + first.name;
    const messages = members.reduce((sum, one) => sum + graph.vertices.get(one)!.messages, 0);
    vertices.set(id, { ...first, id, name: `${members.length.toLocaleString('en-US')} queues`, sub: `${first.name} …`, messages, members: members.map((one) => one.slice(2)), findings: members.flatMap((one) => graph.vertices.get(one)!.findings).slice(0, 1) });
    for (const one of members) {
      into.set(one, id);
      vertices.delete(one);
    }
  }
  const edges = new Map<string, Edge>();
  for (const edge of graph.edges) {
    const from = into.get(edge.from) ?? edge.from;
    const to = into.get(edge.to) ?? edge.to;
    const id = `${from}>${to}>${edge.dead}`;
    const known = edges.get(id);
    if (known) known.keys = [...known.keys, ...edge.keys].slice(0, 3);
    else edges.set(id, { ...edge, from, to });
  }
  return { vertices, edges: [...edges.values()], findings: graph.findings };
}

/** All connected vertices; components with findings and dead letters first. */
export function overview(graph: Graph): Drawn {
  const whole = graph.vertices.size;
  let source = graph;
  const connected = (one: Graph) => new Set(one.edges.flatMap((edge) => [edge.from, edge.to]));
  let grouping = false;
  if (connected(graph).size > drawnMost) {
    source = grouped(graph);
    grouping = true;
  }
  const near = neighbours(source);
  const seen = new Set<string>();
  const components: { ids: string[]; weight: number }[] = [];
  for (const id of near.keys()) {
    if (seen.has(id)) continue;
    const ids = [id];
    seen.add(id);
    for (let at = 0; at < ids.length; at++) {
      for (const other of near.get(ids[at]!) ?? []) {
        if (seen.has(other)) continue;
        seen.add(other);
        ids.push(other);
      }
    }
    const weight = ids.reduce((sum, one) => {
      const vertex = source.vertices.get(one)!;
      return sum + (vertex.findings.length > 0 || vertex.missing ? 1e6 : 0) + (vertex.rests ? 1000 : 0) + 1;
    }, 0);
    components.push({ ids, weight });
  }
  components.sort((a, b) => b.weight - a.weight);
  const chosen = new Set<string>();
  for (const component of components) {
    if (chosen.size + component.ids.length > drawnMost) {
      if (chosen.size === 0) for (const id of component.ids.slice(0, drawnMost)) chosen.add(id);
      continue;
    }
    for (const id of component.ids) chosen.add(id);
  }
  const hidden = seen.size - chosen.size;
  const note = `${chosen.size.toLocaleString('en-US')} of ${whole.toLocaleString('en-US')} shown: ${hidden > 0 ? 'components with findings and dead letters first' : 'those that are connected'}${grouping ? ', alike queues as one' : ''}`;
  return subgraph(source, chosen, note);
}
