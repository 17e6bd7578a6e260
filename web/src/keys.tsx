// Keyboard shortcuts: / filters, g and a letter opens a page, j k Enter x work in tables, ? shows the list.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { go } from './router';
import { createStore } from './store';
import { Dialog } from './parts/dialog';

const places: [string, string, string[]][] = [
  ['o', 'Overview', []], ['c', 'Connections', ['connections']], ['h', 'Channels', ['channels']], ['e', 'Exchanges', ['exchanges']],
  ['q', 'Queues', ['queues']], ['d', 'Dead letters', ['dead-letters']], ['t', 'Topology', ['topology']], ['p', 'Policies', ['policies']],
];

const help = createStore(false);
export const showHelp = () => help.set(true);

interface Rows {
  move: (by: number) => void;
  open: () => void;
  select: () => void;
}
// j and k move in the first table of the page.
const tables: Rows[] = [];

function isTyping(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  return !!element?.closest('input, textarea, select, [contenteditable], dialog[open]');
}

export function Keys(): JSX.Element | null {
  const shown = help.use();
  useEffect(() => {
    let waiting = 0;
    const key = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const element = event.target as HTMLElement;
      if (event.key === 'Escape' && element.matches('[data-filter]')) return element.blur();
      if (isTyping(event.target)) return;
      if (waiting && Date.now() - waiting < 1500) {
        const found = places.find(([letter]) => letter === event.key);
        waiting = 0;
        if (found) {
          event.preventDefault();
          go(found[2]);
        }
        return;
      }
      const table = tables[0];
      switch (event.key) {
        case '/': {
          const filter = document.querySelector<HTMLInputElement>('[data-filter]');
          if (filter) {
            event.preventDefault();
            filter.focus();
            filter.select();
          }
          break;
        }
        case 'g': waiting = Date.now(); break;
        case '?': help.set(true); break;
        case 'j': table?.move(1); break;
        case 'k': table?.move(-1); break;
        case 'x': table?.select(); break;
        case 'Enter': if (element === document.body || element.matches('main, h1, .table-wrap')) table?.open(); break;
      }
    };
    document.addEventListener('keydown', key);
    return () => document.removeEventListener('keydown', key);
  }, []);
  if (!shown) return null;
  return (
    <Dialog title="Keys" close={() => help.set(false)}>
      <table class="table-plain">
        <tbody>
          <tr><th scope="row"><kbd>/</kbd></th><td>Filter the list</td></tr>
          {places.map(([letter, title]) => <tr key={letter}><th scope="row"><kbd>g</kbd> <kbd>{letter}</kbd></th><td>{title}</td></tr>)}
          <tr><th scope="row"><kbd>j</kbd> <kbd>k</kbd></th><td>Next and previous row</td></tr>
          <tr><th scope="row"><kbd>Enter</kbd></th><td>Open the row</td></tr>
          <tr><th scope="row"><kbd>x</kbd></th><td>Select the row</td></tr>
          <tr><th scope="row"><kbd>?</kbd></th><td>This list</td></tr>
          <tr><th scope="row"><kbd>Esc</kbd></th><td>Close, leave the filter</td></tr>
        </tbody>
      </table>
    </Dialog>
  );
}

export function TableKeys({ rows, at, setAt, open, select }: {
  rows: number; at: number; setAt: (row: number) => void; open: (row: number) => void; select?: (row: number) => void;
}): null {
  const [mine] = useState<Rows>({ move: () => undefined, open: () => undefined, select: () => undefined });
  mine.move = (by) => {
    const to = Math.min(rows - 1, Math.max(0, at + by));
    setAt(to);
    requestAnimationFrame(() => document.querySelector('tr.at')?.scrollIntoView({ block: 'nearest' }));
  };
  mine.open = () => { if (at >= 0 && at < rows) open(at); };
  mine.select = () => { if (select && at >= 0 && at < rows) select(at); };
  useEffect(() => {
    tables.push(mine);
    return () => void tables.splice(tables.indexOf(mine), 1);
  }, []);
  return null;
}
