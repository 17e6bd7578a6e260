// Cards, tiles, page headers, key-value lists.
import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { visible } from '../format';

export function Card({ title, note, tools, id, children }: {
  title: ComponentChildren; note?: ComponentChildren; tools?: ComponentChildren; id?: string; children: ComponentChildren;
}): JSX.Element {
  const label = useId();
  return (
    <section class="card" id={id} aria-labelledby={label} tabIndex={id ? -1 : undefined}>
      <div class="card-head">
        <h2 id={label}>{title}</h2>
        {note !== undefined && <span class="note">{note}</span>}
        {tools && <div class="push">{tools}</div>}
      </div>
      {children}
    </section>
  );
}

export interface Crumb {
  title: string;
  href?: string;
}

export function PageHead({ title, mono, marks, actions, meta, sub, crumbs }: {
  title: string; mono?: boolean; marks?: ComponentChildren; actions?: ComponentChildren; meta?: ComponentChildren;
  sub?: ComponentChildren; crumbs?: Crumb[];
}): JSX.Element {
  return (
    <header class="page-head">
      {crumbs && (
        <nav class="crumbs" aria-label="Breadcrumb"><ol>
          {crumbs.map((crumb) => <li key={crumb.title}>{crumb.href ? <a href={crumb.href}>{visible(crumb.title)}</a> : visible(crumb.title)}</li>)}
        </ol></nav>
      )}
      <div class="page-title">
        <h1 class={mono ? 'mono' : undefined} tabIndex={-1}>{visible(title)}</h1>
        {marks}
        {actions && <div class="page-actions">{actions}</div>}
      </div>
      {sub && <p class="page-sub">{sub}</p>}
      {meta && <div class="page-meta">{meta}</div>}
    </header>
  );
}

export function Tile({ label, value, unit, note, href, spark, tone }: {
  label: string; value: ComponentChildren; unit?: string; note?: ComponentChildren; href?: string; spark?: number[]; tone?: string;
}): JSX.Element {
  const inside = (
    <>
      <span class="tile-label">{label}</span>
      <span class="tile-value">{value}{unit && <small>{unit}</small>}</span>
      {spark && spark.length > 1 && <Spark values={spark} tone={tone} area />}
      {note && <span class="tile-note">{note}</span>}
    </>
  );
  return href ? <a class="tile" href={href}>{inside}</a> : <div class="tile">{inside}</div>;
}

export function Spark({ values, tone, area }: { values: number[]; tone?: string; area?: boolean }): JSX.Element {
  const most = Math.max(...values, 1e-9);
  const x = (index: number) => ((index / (values.length - 1)) * 64).toFixed(1);
  const y = (value: number) => (20 - (value / most) * 18).toFixed(1);
  const line = values.map((value, index) => `${index ? 'L' : 'M'}${x(index)} ${y(value)}`).join('');
  return (
    <svg class={`spark ${tone ? 'spark-' + tone : ''}`} viewBox="0 0 64 22" aria-hidden="true">
      {area && <path class="area" d={`${line}V22H0Z`} />}
      <path d={line} />
    </svg>
  );
}

export function KeyValues({ rows, tight }: { rows: [string, ComponentChildren][]; tight?: boolean }): JSX.Element {
  return (
    <dl class={tight ? 'kv kv-tight' : 'kv'}>
      {rows.map(([name, value]) => <><dt key={name}>{name}</dt><dd>{value}</dd></>)}
    </dl>
  );
}

export function Bar({ part, whole, tone = 'accent' }: { part: number; whole: number; tone?: string }): JSX.Element {
  const share = whole > 0 ? Math.min(100, Math.max(part > 0 ? 1 : 0, (part / whole) * 100)) : 0;
  return (
    <svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect class={`fill-${tone}`} width={share.toFixed(1)} height="6" />
    </svg>
  );
}

const fieldText = (value: unknown): string => visible(typeof value === 'string' ? value : JSON.stringify(value));

/** An AMQP table in two columns; the fields of a nested table are below its name. */
export function FieldColumns({ of }: { of: Record<string, unknown> | undefined }): JSX.Element {
  const names = Object.keys(of ?? {});
  if (names.length === 0) return <span class="faint">none</span>;
  const isTable = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
  return <KeyValues rows={names.map((name) => [visible(name), isTable(of![name]) ? <Fields of={of![name] as Record<string, unknown>} /> : <code>{fieldText(of![name])}</code>])} />;
}

/** An AMQP table as text, one field per line. */
export function Fields({ of }: { of: Record<string, unknown> | undefined }): JSX.Element {
  const names = Object.keys(of ?? {});
  if (names.length === 0) return <span class="faint">none</span>;
  return (
    <ul class="fields">
      {names.map((name) => <li key={name}><span class="muted">{visible(name)}</span> <code>{fieldText(of![name])}</code></li>)}
    </ul>
  );
}
