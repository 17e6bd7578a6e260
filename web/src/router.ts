// Addresses: #/queues/%2F/orders?sort=messages, as RabbitMQ's pages have them.
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

/** The link to a page; empty values of the query are left out. */
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

/** Changes the query of the page that is shown, without a new entry in the history. */
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

/** To a section of the same page; the address stays. */
export const jump = (id: string) => (event: Event) => {
  event.preventDefault();
  const target = document.getElementById(id);
  target?.scrollIntoView();
  target?.focus({ preventScroll: true });
};
