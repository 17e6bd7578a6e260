// Charts of samples: lines by uPlot, which is loaded with the first chart; stacked bars and tables in this file.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { Icon } from '../icons';
import { clock, count, exact, rate } from '../format';
import { changeQuery, place } from '../router';
import { theme } from '../session';
import { Card } from './card';
import { steps, topOf } from './scale';

export interface Sample {
  sample: number;
  timestamp: number;
}
export interface Details {
  rate?: number;
  samples?: Sample[];
}

export interface Series {
  title: string;
  colour: number; // c1 … c7 of the stylesheet
  values: (number | null)[];
  last?: number;
}
export interface Plotted {
  times: number[]; // ms
  series: Series[];
}

export const ranges = [
  { id: '60', title: '1 min', age: 60, step: 5 },
  { id: '600', title: '10 min', age: 600, step: 5 },
  { id: '3600', title: '1 h', age: 3600, step: 60 },
  { id: '28800', title: '8 h', age: 28800, step: 600 },
  { id: '86400', title: '24 h', age: 86400, step: 1800 },
] as const;
export type Range = (typeof ranges)[number];

export function useRange(longest = 86400): Range {
  const asked = place.use().query.get('range');
  const allowed = ranges.filter((one) => one.age <= longest);
  return allowed.find((one) => one.id === asked) ?? allowed[1]!;
}

export function RangeChoice({ longest = 86400 }: { longest?: number }): JSX.Element {
  const range = useRange(longest);
  return (
    <div class="seg" role="group" aria-label="Time range">
      {ranges.filter((one) => one.age <= longest).map((one) => (
        <button key={one.id} aria-pressed={one.id === range.id} onClick={() => changeQuery({ range: one.id })}>{one.title}</button>
      ))}
    </div>
  );
}

/** The values in order of time, or their rates per second. */
export function plotted(parts: [title: string, colour: number, details: Details | undefined][], kind: 'level' | 'rate'): Plotted {
  const any = parts.find(([, , details]) => details?.samples?.length)?.[2]?.samples ?? [];
  const moments = any.map((one) => one.timestamp).reverse();
  const times = kind === 'rate' ? moments.slice(1) : moments;
  const series = parts.map(([title, colour, details]): Series => {
    const samples = [...(details?.samples ?? [])].reverse();
    const values = kind === 'level' ? samples.map((one) => one.sample)
      : samples.slice(1).map((one, index) => Math.max(0, (one.sample - samples[index]!.sample) / ((one.timestamp - samples[index]!.timestamp) / 1000)));
    return { title, colour, values: values.length === times.length ? values : times.map(() => 0), last: kind === 'rate' ? details?.rate ?? 0 : values[values.length - 1] ?? 0 };
  });
  return { times, series };
}

const dashes = [[], [6, 4], [2, 3], [8, 3, 2, 3], [], [4, 2], [1, 2]];
const swatch = (colour: number) => dashes[colour - 1]!.join(' ') || undefined;

function colourOf(element: HTMLElement, colour: number): string {
  const probe = document.createElement('span');
  probe.className = 'c' + colour;
  element.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

function themed(element: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.className = name;
  element.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

const faded = (colour: string) => colour.replace(/^rgb\((.*)\)$/, (_, parts: string) => `rgba(${parts.replaceAll(' ', ',').replaceAll(',,', ',')},0.13)`);

/** Short ranges show seconds, because hours and minutes would be the same for all labels. */
const withSeconds = (times: number[]) => times.length > 1 && times[times.length - 1]! - times[0]! < 120_000;

function optionsFor(element: HTMLElement, data: Plotted, hidden: ReadonlySet<string>, show: (value: number) => string, width: number, height: number): uPlot.Options {
  const axis = themed(element, 'faint');
  const line = themed(element, 'plot-line');
  const font = '11px system-ui, sans-serif';
  return {
    width, height, padding: [8, 24, 0, 0], // space for half a label at the end
    legend: { show: false },
    cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
    scales: { y: { range: (_, low, high) => [Math.min(0, low), topOf(high)] } },
    axes: [
      { stroke: axis, font, size: 30, gap: 9, grid: { show: false }, ticks: { show: false }, space: withSeconds(data.times) ? 72 : 56, values: (_, ticks) => ticks.map((tick) => clock(tick * 1000, withSeconds(data.times))) },
      { stroke: axis, font, size: 52, grid: { stroke: line, width: 1 }, ticks: { show: false }, splits: (_, __, low, high) => steps(low, high), values: (_, ticks) => ticks.map(short) },
    ],
    series: [{}, ...data.series.map((one, index) => {
      const stroke = colourOf(element, one.colour);
      return {
        label: one.title, stroke, width: 1.75, dash: dashes[one.colour - 1], points: { show: false }, show: !hidden.has(one.title),
        fill: index === 0 ? faded(stroke) : undefined, value: (_: uPlot, value: number) => show(value),
      };
    })],
  };
}

function short(value: number): string {
  if (Math.abs(value) >= 1e9) return `${value / 1e9} G`;
  if (Math.abs(value) >= 1e6) return `${value / 1e6} M`;
  if (Math.abs(value) >= 10_000) return `${value / 1e3} k`;
  return exact(Math.round(value * 1000) / 1000);
}

function Lines({ data, label, hidden, show }: { data: Plotted; label: string; hidden: ReadonlySet<string>; show: (value: number) => string }): JSX.Element {
  const element = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>();
  const [tip, setTip] = useState<number | null>(null);
  const look = theme.use();
  const shape = data.series.map((one) => one.title).join() + [...hidden].join() + look;
  const numbers = (): uPlot.AlignedData => [data.times.map((at) => at / 1000), ...data.series.map((one) => one.values)];
  useEffect(() => {
    let ended = false;
    let watcher: ResizeObserver | undefined;
    let retheme: MediaQueryList | undefined;
    const build = async () => {
      const { default: Plot } = await import('uplot');
      const host = element.current;
      if (ended || !host) return;
      chart.current?.destroy();
      const options = optionsFor(host, data, hidden, show, host.clientWidth, host.clientHeight);
      options.hooks = { setCursor: [(self) => setTip(self.cursor.idx ?? null)] };
      chart.current = new Plot(options, numbers(), host);
      watcher?.disconnect();
      watcher = new ResizeObserver(() => chart.current?.setSize({ width: host.clientWidth, height: host.clientHeight }));
      watcher.observe(host);
    };
    void build();
    retheme = matchMedia('(prefers-color-scheme: dark)');
    const again = () => void build();
    retheme.addEventListener('change', again);
    return () => {
      ended = true;
      watcher?.disconnect();
      retheme?.removeEventListener('change', again);
      chart.current?.destroy();
      chart.current = undefined;
    };
  }, [shape]);
  useEffect(() => chart.current?.setData(numbers()), [data]);
  const at = tip !== null ? data.times[tip] : undefined;
  return (
    <div class="plot" role="img" aria-label={label}>
      <div class="plot-host" ref={element} />
      {tip !== null && at !== undefined && (
        <div class={tip > data.times.length / 2 ? 'plot-tip plot-tip-left' : 'plot-tip plot-tip-right'}>
          <b>{clock(at, true)}</b>
          {data.series.filter((one) => !hidden.has(one.title)).map((one) => <div key={one.title}><span>{one.title}</span><span>{show(one.values[tip] ?? 0)}</span></div>)}
        </div>
      )}
    </div>
  );
}

/** Stacked bars with the count in each step. */
export function Bars({ data, label }: { data: Plotted; label: string }): JSX.Element {
  const narrow = matchMedia('(max-width: 640px)').matches; // the drawing is scaled together with its text
  const width = narrow ? 340 : 560, height = 148, left = 40, bottom = 20, top = 10;
  const sums = data.times.map((_, index) => data.series.reduce((sum, one) => sum + (one.values[index] ?? 0), 0));
  const most = niceCeil(Math.max(...sums, 0));
  const step = (width - left) / Math.max(1, data.times.length);
  const y = (value: number) => height - bottom - (value / most) * (height - bottom - top);
  const marks = [0, most / 2, most];
  const every = Math.max(1, Math.ceil(data.times.length / (narrow ? 3 : 5)));
  const labelled = data.times.map((_, index) => index).filter((index) => index % every === 0);
  return (
    <div class="plot" role="img" aria-label={label}>
      <svg viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
        {marks.map((mark) => <g key={mark}><line class="grid" x1={left} x2={width} y1={y(mark)} y2={y(mark)} /><text class="axis" x={left - 8} y={y(mark) + 4} text-anchor="end">{short(mark)}</text></g>)}
        {data.times.map((_, index) => {
          let base = 0;
          return data.series.map((one) => {
            const value = one.values[index] ?? 0;
            if (value <= 0) return null;
            base += value;
            return <rect key={`${index}${one.title}`} class={`stackbar c${one.colour}`} x={left + index * step + 0.5} width={Math.max(1, step - 1)} y={y(base)} height={Math.max(0.6, y(base - value) - y(base))} />;
          });
        })}
        {data.times.length > 1 && labelled.map((index) => (
          <text key={index} class="axis" x={left + (index + 0.5) * step} y={height - 4} text-anchor={index === data.times.length - 1 ? 'end' : 'middle'}>{clock(data.times[index]!, withSeconds(data.times))}</text>
        ))}
      </svg>
    </div>
  );
}

function niceCeil(value: number): number {
  if (value <= 2) return 2;
  const power = 10 ** Math.floor(Math.log10(value));
  for (const factor of [1, 2, 4, 5, 10]) if (value <= factor * power) return factor * power;
  return value;
}

export function Legend({ data, hidden, toggle, show, block }: {
  data: Plotted; hidden?: ReadonlySet<string>; toggle?: (title: string) => void; show: (value: number) => string; block?: boolean;
}): JSX.Element {
  const inside = (one: Series) => (
    <><svg class="swatch" viewBox="0 0 18 8" aria-hidden="true"><line class={`c${one.colour} ${block ? 'block' : ''}`} x1="0" x2="18" y1="4" y2="4" stroke-dasharray={block ? undefined : swatch(one.colour)} /></svg>{one.title} <b>{show(one.last ?? 0)}</b></>
  );
  return (
    <div class="legend">
      {data.series.map((one) => toggle
        ? <button key={one.title} aria-pressed={!hidden?.has(one.title)} onClick={() => toggle(one.title)}>{inside(one)}</button>
        : <span class="key" key={one.title}>{inside(one)}</span>)}
    </div>
  );
}

export function ChartCard({ title, note, data, kind, range, show = kind === 'rate' ? rate : count, empty = 'The first samples come within ten seconds.' }: {
  title: string; note?: string; data: Plotted; kind: 'level' | 'rate'; range?: JSX.Element; show?: (value: number) => string; empty?: string;
}): JSX.Element {
  const [asTable, setAsTable] = useState(false);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const toggle = (name: string) => {
    const next = new Set(hidden);
    if (!next.delete(name)) next.add(name);
    setHidden(next);
  };
  return (
    <Card title={title} note={note} tools={<>
      {range}
      <button class="btn btn-quiet btn-sm" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}><Icon name={asTable ? 'graph' : 'table'} />{asTable ? 'Chart' : 'Table'}</button>
    </>}>
      <div class="chart">
        {asTable ? <SampleTable data={data} show={show} label={title} /> : data.times.length > 1
          ? <Lines data={data} label={`${title}: ${data.series.map((one) => `${one.title} ${show(one.last ?? 0)}`).join(', ')}`} hidden={hidden} show={show} />
          : <div class="plot plot-empty"><p class="faint">{empty}</p></div>}
        <Legend data={data} hidden={hidden} toggle={toggle} show={show} />
      </div>
    </Card>
  );
}

export function SampleTable({ data, show, label }: { data: Plotted; show: (value: number) => string; label: string }): JSX.Element {
  return (
    <div class="table-wrap plot-table" tabIndex={0} role="region" aria-label={`${label}, as a table`}>
      <table class="tight">
        <thead><tr><th scope="col">Time</th>{data.series.map((one) => <th key={one.title} scope="col" class="num">{one.title}</th>)}</tr></thead>
        <tbody>{data.times.map((at, index) => ({ at, index })).reverse().map(({ at, index }) => (
          <tr key={at}><th scope="row">{clock(at, true)}</th>{data.series.map((one) => <td key={one.title} class="num">{show(one.values[index] ?? 0)}</td>)}</tr>
        ))}</tbody>
      </table>
    </div>
  );
}
