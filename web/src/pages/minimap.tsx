// The minimap of a queue or exchange: its sources and the targets of its dead letters, in columns from left to right.
import type { JSX } from 'preact';
import { count, visible } from '../format';
import { exchangeLink, queueLink } from '../router';
import { exchangeTitle } from '../parts/marks';

export interface MapNode {
  id: string;
  kind: 'queue' | 'exchange' | 'more';
  name: string;
  sub: string;
  column: number;
  focus?: boolean;
  dead?: boolean; // a final target of dead letters
  missing?: boolean;
  fill?: number; // 0 … 1
}
export interface MapEdge {
  from: string;
  to: string;
  label?: string;
  dead?: boolean;
}

const boxWidth = 124, boxHeight = 44, gapX = 80, gapY = 14;

const clip = (text: string, length: number) => (text.length > length ? text.slice(0, length - 1) + '…' : text);

export function NodeShape({ node, x, y, vhost, width = boxWidth, height = boxHeight }: { node: MapNode; x: number; y: number; vhost: string; width?: number; height?: number }): JSX.Element {
  const title = node.kind === 'exchange' ? exchangeTitle(node.name) : visible(node.name);
  const shape = (
    <g transform={`translate(${x} ${y})`}>
      {node.kind === 'exchange'
        ? <rect class="g-box" width={width} height={height} rx={height / 2} />
        : <><rect class="g-box" width={width} height={height} rx="5" />
          {!!node.fill && <rect class="g-depth" x="1" y="1" width={Math.max(3, (width - 2) * Math.min(1, node.fill))} height={height - 2} rx="4" />}</>}
      <text class="g-name" x={node.kind === 'exchange' ? 18 : 8} y={height / 2 - 4}>{clip(title, node.kind === 'exchange' ? 13 : 15)}</text>
      <text class={node.missing ? 'g-err' : 'g-sub'} x={node.kind === 'exchange' ? 18 : 8} y={height / 2 + 12}>{clip(node.sub, 19)}</text>
    </g>
  );
  const classes = ['g-node', node.kind === 'exchange' ? 'g-exchange' : '', node.focus ? 'g-focus' : '', node.dead ? 'g-dead' : '', node.missing ? 'g-missing' : ''].join(' ');
  if (node.kind === 'more' || node.missing) return <g class={classes}><title>{title}: {node.sub}</title>{shape}</g>;
  return (
    <a class={classes} href={node.kind === 'queue' ? queueLink(vhost, node.name) : exchangeLink(vhost, node.name)} aria-label={`${node.kind} ${title}, ${node.sub}`}>
      <title>{title}</title>{shape}
    </a>
  );
}

export const Arrows = () => (
  <defs>
    <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="g-arrow" d="M0 0 8 4 0 8Z" /></marker>
    <marker id="arrow-dead" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="g-arrow-dead" d="M0 0 8 4 0 8Z" /></marker>
  </defs>
);

/** Places the label at the end of the edge that no other edge shares, so that labels do not overlap. */
function labelAt(edges: MapEdge[], edge: MapEdge, back: boolean, x1: number, y1: number, x2: number, y2: number) {
  if (back) return { x: (x1 + x2) / 2, y: Math.min(y1, y2) - 16, 'text-anchor': 'middle' as const };
  if (y1 === y2) return { x: (x1 + x2) / 2 - 4, y: y1 - 5, 'text-anchor': 'middle' as const };
  const shared = edges.filter((one) => one.to === edge.to).length > 1;
  return shared ? { x: x1 + 6, y: y1 + (y1 < y2 ? -6 : 14), 'text-anchor': 'start' as const } : { x: x2 - 12, y: y2 + (y1 < y2 ? 14 : -6), 'text-anchor': 'end' as const };
}

export function MiniMap({ vhost, nodes, edges, label }: { vhost: string; nodes: MapNode[]; edges: MapEdge[]; label: string }): JSX.Element {
  const columns = [...new Set(nodes.map((node) => node.column))].sort((a, b) => a - b);
  const places = new Map<string, { x: number; y: number }>();
  const tallest = Math.max(...columns.map((column) => nodes.filter((node) => node.column === column).length));
  const height = tallest * (boxHeight + gapY) - gapY + 24;
  columns.forEach((column, at) => {
    const own = nodes.filter((node) => node.column === column);
    const top = (height - (own.length * (boxHeight + gapY) - gapY)) / 2;
    own.forEach((node, row) => places.set(node.id, { x: 2 + at * (boxWidth + gapX), y: top + row * (boxHeight + gapY) }));
  });
  const width = columns.length * (boxWidth + gapX) - gapX + 4;
  return (
    <div class="minimap">
      <svg viewBox={`0 0 ${width} ${height}`} role="group" aria-label={label} style={{ maxWidth: `${width}px`, minWidth: `${Math.min(width, 620)}px` }}>
        <Arrows />
        {edges.map((edge) => {
          const a = places.get(edge.from), b = places.get(edge.to);
          if (!a || !b) return null;
          const back = b.x <= a.x;
          const x1 = back ? a.x + boxWidth / 2 : a.x + boxWidth, y1 = back ? a.y : a.y + boxHeight / 2;
          const x2 = back ? b.x + boxWidth / 2 : b.x, y2 = back ? b.y : b.y + boxHeight / 2;
          const d = back ? `M${x1} ${y1}C${x1} ${y1 - 26} ${x2} ${y2 - 26} ${x2} ${y2}` : `M${x1} ${y1}C${x1 + gapX / 2} ${y1} ${x2 - gapX / 2} ${y2} ${x2} ${y2}`;
          return (
            <g key={`${edge.from}>${edge.to}>${edge.label}`}>
              <path class={edge.dead ? 'g-edge g-edge-dead' : 'g-edge'} d={d} marker-end={edge.dead ? 'url(#arrow-dead)' : 'url(#arrow)'} />
              {edge.label && <text class="g-label" {...labelAt(edges, edge, back, x1, y1, x2, y2)}>{clip(visible(edge.label), 10)}</text>}
            </g>
          );
        })}
        {nodes.map((node) => { const at = places.get(node.id)!; return <NodeShape key={node.id} node={node} x={at.x} y={at.y} vhost={vhost} />; })}
      </svg>
    </div>
  );
}

/** At most `most` items of a list, then one node with the number of the others. */
export function cut<T>(list: T[], most: number, column: number, noun: string): { shown: T[]; more?: MapNode } {
  if (list.length <= most) return { shown: list };
  return { shown: list.slice(0, most - 1), more: { id: `more ${column}`, kind: 'more', name: `${count(list.length - most + 1)} more`, sub: noun, column } };
}
