// Addresses in the form of RabbitMQ's pages: #/queues/%2F/orders?sort=messages.
import { createStore } from './store';

export interface Place {
  path: string[]; // decoded
  query: URLSearchParams;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function read(): Place {
  const hash = location.hash.replace(/^#\/?/, '');
  const mark = hash.indexOf('?');
  const path = mark < 0 ? hash : hash.slice(0, mark);
  return {
    path: path === '' ? [] : path.split('/').map(decode),
    query: new URLSearchParams(mark < 0 ? '' : hash.slice(mark + 1)),
  };
}

export const place = createStore<Place>(read());
window.addEventListener('hashchange', () => place.set(read()));

export type Query = Record<string, string | number | null | undefined>;

function queryText(query: URLSearchParams): string {
  const text = query.toString();
  return text === '' ? '' : '?' + text;
}

/** The link to a page, without empty query values. */
export function link(path: string[], query: Query = {}): string {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== '') asked.set(name, String(value));
  }
  return '#/' + path.map(encodeURIComponent).join('/') + queryText(asked);
}

export function go(path: string[], query: Query = {}): void {
  location.hash = link(path, query);
}

/** Changes the query of the current page without a new history entry. */
export function changeQuery(changes: Query): void {
  const query = new URLSearchParams(place.get().query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === '') query.delete(name);
    else query.set(name, String(value));
  }
  const hash = '#/' + place.get().path.map(encodeURIComponent).join('/') + queryText(query);
  history.replaceState(null, '', hash);
  place.set(read());
}

export const queueLink = (vhost: string, name: string) => link(['queues', vhost, name]);
export const exchangeLink = (vhost: string, name: string) => link(['exchanges', vhost, name === '' ? 'amq.default' : name]);
export const policyLink = (vhost: string, name: string) => link(['policies', vhost, name]);
export const connectionLink = (name: string) => link(['connections', name]);
export const channelLink = (name: string) => link(['channels', name]);

/** Scrolls to a section of the page without changing the address. */
export const jump = (id: string) => (event: Event) => {
  event.preventDefault();
  const target = document.getElementById(id);
  target?.scrollIntoView();
  target?.focus({ preventScroll: true });
};
