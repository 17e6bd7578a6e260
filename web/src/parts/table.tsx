// Tables: sorting, filters, selectable columns, pages, CSV and JSON. The state is part of the address, so
// that every view has a link. Long lists are requested by page; short lists are sorted in the browser.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Icon } from '../icons';
import { api, ApiError } from '../api';
import { count, plural } from '../format';
import { useResource, type Resource } from '../resource';
import { changeQuery, place } from '../router';
import { remember, remembered } from '../store';
import { Failed, Loading } from './states';
import { Pop } from './pop';
import { sayFailure } from './toast';
import { TableKeys } from '../keys';

export interface Column<T> {
  id: string;
  title: string;
  cell: (row: T) => ComponentChildren;
  value: (row: T) => unknown; // for sorting in the browser and for exports
  sort?: string; // the field in the API; without it, long lists cannot be sorted by the column
  num?: boolean;
  w?: 1 | 2 | 3; // hidden in narrow windows, 3 first
  group?: string;
  off?: boolean; // hidden by default
  calls?: (row: T) => boolean; // shown by default if this is true for a row
  action?: boolean; // not exported and not selectable
}

interface Page<T> {
  filtered_count: number;
  total_count: number;
  page: number;
  page_count: number;
  page_size: number;
  items: T[];
}

interface CommonProps<T> {
  label: string;
  noun: [string, string];
  columns: Column<T>[];
  rowKey: (row: T) => string;
  rowLink?: (row: T) => string | undefined;
  store: string; // storage key of the user's settings
  empty: ComponentChildren;
  tools?: ComponentChildren;
  segments?: ComponentChildren;
  firstSort?: string;
  firstDescending?: boolean;
  bulk?: (rows: T[], clear: () => void) => ComponentChildren;
  filterHint?: string;
  prefix?: string; // prefix of the names in the address, if a page has several tables
  plain?: boolean; // without toolbar and pager
}

const sizes = [25, 50, 100, 250, 500];

function useTableState(props: { store: string; firstSort?: string; firstDescending?: boolean; prefix?: string }) {
  const query = place.use().query;
  const p = props.prefix ?? '';
  const size = Number(query.get(p + 'size') ?? remembered(props.store + '.size') ?? 50);
  return {
    name: query.get(p + 'name') ?? '',
    regex: query.get(p + 'regex') === 'true',
    sort: query.get(p + 'sort') ?? props.firstSort ?? '',
    descending: query.has(p + 'sort') ? query.get(p + 'desc') === 'true' : props.firstDescending ?? false,
    page: Math.max(1, Number(query.get(p + 'page') ?? 1) || 1),
    size: sizes.includes(size) ? size : 50,
    change: (changes: Record<string, string | number | null>) =>
      changeQuery(Object.fromEntries(Object.entries(changes).map(([key, value]) => [p + key, value]))),
  };
}
type TableState = ReturnType<typeof useTableState>;

function useColumns<T>(columns: Column<T>[], store: string, rows: T[]) {
  const first = useMemo(() => new Set(remembered(store + '.columns')?.split(',') ?? columns.filter((one) => !one.off).map((one) => one.id)), [store]);
  const [chosen, setChosen] = useState(first);
  const toggle = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
    remember(store + '.columns', [...next].join(','));
  };
  return { shown: columns.filter((one) => one.action || chosen.has(one.id) || (one.calls && rows.some(one.calls))), chosen, toggle };
}

// ---- Exports ----------------------------------------------------------------------------------------------------------

function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const anchor = document.createElement('a');
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
export const saveFile = save;

// Prefixes a cell with an apostrophe if a spreadsheet would treat it as a formula.
function csvCell(value: unknown): string {
  let text = value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
  if (typeof value === 'string' && /^[=+\-@\t\r]/.test(text)) text = "'" + text;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function toCsv<T>(columns: Column<T>[], rows: T[]): string {
  const used = columns.filter((one) => !one.action);
  return [used.map((one) => csvCell(one.title)), ...rows.map((row) => used.map((one) => csvCell(one.value(row))))]
    .map((cells) => cells.join(',')).join('\r\n') + '\r\n';
}

function Download<T>({ columns, store, all }: {
  columns: Column<T>[]; store: string; all: (progress: (text: string) => void, signal: AbortSignal) => Promise<T[]>;
}): JSX.Element {
  const [progress, setProgress] = useState('');
  const abort = useRef<AbortController>();
  const run = async (kind: 'csv' | 'json') => {
    abort.current = new AbortController();
    setProgress('Reading…');
    try {
      const rows = await all(setProgress, abort.current.signal);
      const day = new Date().toISOString().slice(0, 19).replaceAll(':', '');
      if (kind === 'csv') save(`${store}-${day}.csv`, 'text/csv', toCsv(columns, rows));
      else save(`${store}-${day}.json`, 'application/json', JSON.stringify(rows, null, 2));
    } catch (error) {
      if (error instanceof ApiError) sayFailure('Not downloaded', error);
    }
    setProgress('');
  };
  if (progress) {
    return (
      <span class="row" role="status" aria-live="polite"><span class="muted">{progress}</span>
        <button class="btn btn-sm" onClick={() => abort.current?.abort()}>Cancel</button></span>
    );
  }
  return (
    <Pop label="Download" icon="download" iconOnly>
      {(close) => (
        <>
          <h3>Download all rows</h3>
          <button class="menu-item" onClick={() => { close(); void run('csv'); }}>CSV</button>
          <button class="menu-item" onClick={() => { close(); void run('json'); }}>JSON</button>
        </>
      )}
    </Pop>
  );
}

// ---- Parts ------------------------------------------------------------------------------------------------------------

function Toolbar<T>({ props, state, columns, all, withRegex }: {
  props: CommonProps<T>; state: TableState; columns: ReturnType<typeof useColumns<T>>; withRegex: boolean;
  all: (progress: (text: string) => void, signal: AbortSignal) => Promise<T[]>;
}): JSX.Element {
  const [text, setText] = useState(state.name);
  const timer = useRef(0);
  const typed = useRef(false);
  useEffect(() => { if (!typed.current) setText(state.name); typed.current = false; }, [state.name]);
  const type = (value: string) => {
    setText(value);
    typed.current = true;
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => state.change({ name: value, page: null }), 250);
  };
  const groups = props.columns.filter((one) => !one.action);
  return (
    <div class="toolbar">
      <div class="search">
        <Icon name="search" />
        <input class="input" type="search" data-filter aria-label={props.filterHint ?? `Filter ${props.noun[1]} by name`} value={text}
          placeholder={props.filterHint ?? 'Filter by name'} onInput={(event) => type(event.currentTarget.value)} spellcheck={false} />
        {text === '' && <kbd aria-hidden="true">/</kbd>}
      </div>
      {withRegex && (
        <label class="check" title="The filter is a regular expression"><input type="checkbox" checked={state.regex}
          onChange={(event) => state.change({ regex: event.currentTarget.checked ? 'true' : null, page: null })} /><span>Regex</span></label>
      )}
      {props.segments}
      <div class="row push">
        {props.tools}
        <Pop label="Columns" icon="columns">
          {() => <><h3>Columns</h3>{groups.map((one) => (
            <label class="check" key={one.id}><input type="checkbox" checked={columns.chosen.has(one.id)} onChange={() => columns.toggle(one.id)} />
              <span>{one.group ? `${one.group}: ${one.title.toLowerCase()}` : one.title}</span></label>
          ))}</>}
        </Pop>
        <Download columns={columns.shown} store={props.store} all={all} />
      </div>
    </div>
  );
}

function Pager({ noun, state, total, filtered, pages, store }: {
  noun: [string, string]; state: TableState; total: number; filtered: number; pages: number; store: string;
}): JSX.Element {
  const page = Math.min(state.page, Math.max(1, pages));
  const turn = (to: number) => state.change({ page: to === 1 ? null : to });
  return (
    <div class="pager">
      <span role="status">{state.name ? `${count(filtered)} of ${count(total)} match` : plural(total, noun[0], noun[1])}</span>
      <div class="push">
        <label>Rows <select class="select auto" value={String(state.size)} onChange={(event) => {
          remember(store + '.size', event.currentTarget.value);
          state.change({ size: event.currentTarget.value, page: null });
        }}>{sizes.map((size) => <option key={size}>{size}</option>)}</select></label>
        <span>Page {count(page)} of {count(Math.max(1, pages))}</span>
        <span class="btn-group">
          <button class="btn btn-icon btn-sm" aria-label="Page before" disabled={page <= 1} onClick={() => turn(page - 1)}><Icon name="left" /></button>
          <button class="btn btn-icon btn-sm" aria-label="Page after" disabled={page >= pages} onClick={() => turn(page + 1)}><Icon name="right" /></button>
        </span>
      </div>
    </div>
  );
}

const widthClass = (column: { num?: boolean; w?: number }) => [column.num ? 'num' : '', column.w ? `w-${column.w}` : ''].join(' ').trim() || undefined;

/** Columns with this `w` or higher are hidden. The span of a group header depends on it, as in the stylesheet. */
function useGone(): number {
  const narrow = useMemo(() => [640, 860, 1180].map((width) => matchMedia(`(max-width: ${width}px)`)), []);
  const now = () => narrow.findIndex((one) => one.matches) + 1 || 4;
  const [gone, setGone] = useState(now);
  useEffect(() => {
    const look = () => setGone(now());
    for (const one of narrow) one.addEventListener('change', look);
    return () => { for (const one of narrow) one.removeEventListener('change', look); };
  }, []);
  return gone;
}

function Head<T>({ columns, state, sortable, lead }: {
  columns: Column<T>[]; state: TableState; sortable: (column: Column<T>) => string | undefined; lead?: ComponentChildren;
}): JSX.Element {
  const gone = useGone();
  const seen = (column: Column<T>) => (column.w ?? 0) < gone;
  const grouped = columns.some((one) => one.group && seen(one));
  const runs: { group?: string; span: Column<T>[] }[] = [];
  for (const column of columns) {
    const last = runs[runs.length - 1];
    if (last && last.group === column.group) last.span.push(column);
    else runs.push({ group: column.group, span: [column] });
  }
  return (
    <thead>
      {grouped && (
        <tr class="groups">
          {lead && <td class="w-1" />}
          {runs.map((run, index) => run.group
            ? run.span.some(seen) && <th key={index} scope="colgroup" colSpan={run.span.filter(seen).length}>{run.group}</th>
            : run.span.map((one) => <td key={one.id} class={widthClass(one)} />))}
        </tr>
      )}
      <tr>
        {lead}
        {columns.map((column) => {
          const key = sortable(column);
          const sorted = key !== undefined && state.sort === key;
          if (column.action) return <th key={column.id} scope="col" class={widthClass(column)}><span class="sr">{column.title}</span></th>;
          return (
            <th key={column.id} scope="col" class={widthClass(column)} aria-sort={sorted ? (state.descending ? 'descending' : 'ascending') : undefined}>
              {key === undefined ? column.title : (
                <button class="sort" onClick={() => state.change({
                  sort: key, desc: (sorted ? !state.descending : !!column.num) ? 'true' : 'false', page: null,
                })}>{column.title}</button>
              )}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

function Body<T>({ props, columns, rows, state, sortable, version }: {
  props: CommonProps<T>; columns: Column<T>[]; rows: T[]; version: string; // the request that the rows belong to
  state: TableState; sortable: (column: Column<T>) => string | undefined;
}): JSX.Element {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [at, setAt] = useState(-1);
  const body = useRef<HTMLTableSectionElement>(null);
  const order = useRef<{ of: string; keys: string[] }>({ of: '', keys: [] });
  // Rows do not move under the pointer unless the user changes the order.
  let shown = rows;
  if (order.current.of === version && body.current?.matches(':hover')) {
    const before = new Map(order.current.keys.map((key, index) => [key, index]));
    shown = [...rows].sort((a, b) => (before.get(props.rowKey(a)) ?? 1e9) - (before.get(props.rowKey(b)) ?? 1e9));
  } else {
    order.current = { of: version, keys: rows.map(props.rowKey) };
  }
  const keys = shown.map(props.rowKey);
  const picked = shown.filter((row) => chosen.has(props.rowKey(row)));
  const toggle = (key: string) => {
    const next = new Set(chosen);
    if (!next.delete(key)) next.add(key);
    setChosen(next);
  };
  const everything = picked.length === shown.length && shown.length > 0;
  const lead = props.bulk && (
    <th class="check-cell w-1" scope="col"><input type="checkbox" aria-label="Select all rows" checked={everything}
      onChange={() => setChosen(everything ? new Set() : new Set(keys))} /></th>
  );
  return (
    <>
      {picked.length > 0 && props.bulk && <div class="bulk"><strong>{count(picked.length)} selected</strong>{props.bulk(picked, () => setChosen(new Set()))}</div>}
      <div class="table-wrap" role="region" tabIndex={0} aria-label={props.label}>
        <table>
          <Head columns={columns} state={state} sortable={sortable} lead={lead} />
          <tbody ref={body}>
            {shown.map((row, index) => (
              <tr key={keys[index]} class={index === at ? 'at' : undefined} aria-selected={props.bulk ? chosen.has(keys[index]!) : undefined}>
                {props.bulk && <td class="check-cell w-1"><input type="checkbox" aria-label={`Select ${keys[index]}`} checked={chosen.has(keys[index]!)} onChange={() => toggle(keys[index]!)} /></td>}
                {columns.map((column, number) => number === 0
                  ? <th key={column.id} scope="row" class={widthClass(column)}>{column.cell(row)}</th>
                  : <td key={column.id} class={widthClass(column)}>{column.cell(row)}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <TableKeys rows={shown.length} at={at} setAt={setAt}
        open={(index) => { const target = props.rowLink?.(shown[index]!); if (target) location.hash = target; }}
        select={props.bulk ? (index) => toggle(keys[index]!) : undefined} />
    </>
  );
}

// ---- Long lists, requested by page --------------------------------------------------------------------------------------

export interface PagedProps<T> extends CommonProps<T> {
  path: string; // of the API, optionally with a query
  fields?: string; // the requested columns
  every?: number;
  onPage?: (page: Page<T> | undefined, resource: Resource<Page<T>>) => void;
}

export function PagedTable<T>(props: PagedProps<T>): JSX.Element {
  const state = useTableState(props);
  const asked = (page: number, size: number) => {
    const query = new URLSearchParams({ page: String(page), page_size: String(size) });
    if (state.name) query.set('name', state.name);
    if (state.name && state.regex) query.set('use_regex', 'true');
    if (state.sort) query.set('sort', state.sort);
    if (state.sort && state.descending) query.set('sort_reverse', 'true');
    if (props.fields) query.set('columns', props.fields);
    return props.path + (props.path.includes('?') ? '&' : '?') + query.toString();
  };
  const resource = useResource<Page<T>>(asked(state.page, state.size), props.every);
  const page = resource.data;
  const columns = useColumns(props.columns, props.store, page?.items ?? []);
  useEffect(() => props.onPage?.(page, resource), [page]);
  // The list has become too short for the page in the address.
  const tooFar = resource.error?.kind === 'page_out_of_range' || /page_out_of_range|out of range/.test(resource.error?.reason ?? '');
  useEffect(() => { if (tooFar && state.page > 1) state.change({ page: null }); }, [tooFar, state.page]);

  const all = async (progress: (text: string) => void, signal: AbortSignal) => {
    const rows: T[] = [];
    for (let number = 1; ; number++) {
      const part = await api.get<Page<T>>(asked(number, 500), { signal });
      rows.push(...part.items);
      progress(`${count(rows.length)} of ${count(part.filtered_count)} read`);
      if (number >= part.page_count) return rows;
    }
  };
  const sortable = (column: Column<T>) => column.sort;
  return (
    <section class="card" aria-label={props.label}>
      <Toolbar props={props} state={state} columns={columns} all={all} withRegex />
      {page && page.items.length > 0 ? (
        <Body props={props} columns={columns.shown} rows={page.items} version={resource.answers} state={state} sortable={sortable} />
      ) : resource.error && !(tooFar && state.page > 1) ? (
        <Failed error={resource.error} retry={resource.reload} />
      ) : page ? (
        state.name ? <NoMatch name={state.name} noun={props.noun[1]} clear={() => state.change({ name: null, page: null })} /> : props.empty
      ) : <Loading rows={8} />}
      {page && <Pager noun={props.noun} state={state} total={page.total_count} filtered={page.filtered_count} pages={page.page_count} store={props.store} />}
    </section>
  );
}

function NoMatch({ name, noun, clear }: { name: string; noun: string; clear: () => void }): JSX.Element {
  return (
    <div class="state"><Icon name="search" /><h3>No {noun} match “{name}”</h3>
      <button class="btn" onClick={clear}>Clear the filter</button></div>
  );
}

// ---- Short lists, sorted and filtered in the browser ----------------------------------------------------------------------

export interface ListProps<T> extends CommonProps<T> {
  of: Resource<T[]>;
  matches?: (row: T, filter: string) => boolean;
  bare?: boolean; // inside another card
}

function compare(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a ?? '').localeCompare(String(b ?? ''), 'en', { numeric: true });
}

export function ListTable<T>(props: ListProps<T>): JSX.Element {
  const state = useTableState(props);
  const columns = useColumns(props.columns, props.store, props.of.data ?? []);
  const sorted = useMemo(() => {
    const rows = props.of.data ?? [];
    const filter = state.name.toLowerCase();
    const kept = filter === '' ? rows : rows.filter((row) => (props.matches ? props.matches(row, filter) : props.rowKey(row).toLowerCase().includes(filter)));
    const by = props.columns.find((one) => one.id === state.sort);
    if (!by) return kept;
    const direction = state.descending ? -1 : 1;
    return [...kept].sort((a, b) => direction * compare(by.value(a), by.value(b)));
  }, [props.of.data, state.name, state.sort, state.descending, props.columns]);
  const pages = Math.max(1, Math.ceil(sorted.length / state.size));
  const page = Math.min(state.page, pages);
  const rows = props.plain ? sorted : sorted.slice((page - 1) * state.size, page * state.size);
  const total = props.of.data?.length ?? 0;
  const content = (
    <>
      {!props.plain && <Toolbar props={props} state={state} columns={columns} all={async () => sorted} withRegex={false} />}
      {rows.length > 0 ? (
        <Body props={props} columns={columns.shown} rows={rows} version={`${state.sort} ${state.descending} ${state.name} ${page}`} state={state} sortable={(column) => column.id} />
      ) : props.of.data ? (
        state.name ? <NoMatch name={state.name} noun={props.noun[1]} clear={() => state.change({ name: null, page: null })} /> : props.empty
      ) : props.of.error ? <Failed error={props.of.error} retry={props.of.reload} /> : <Loading />}
      {!props.plain && props.of.data && <Pager noun={props.noun} state={state} total={total} filtered={sorted.length} pages={pages} store={props.store} />}
    </>
  );
  return props.bare ? content : <section class="card" aria-label={props.label}>{content}</section>;
}
